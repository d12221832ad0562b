package controllers_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// world is a namespace of a case's own, and what a case does in it.
type world struct{ namespace string }

// newWorld makes a namespace. When the case ends, every object in it is checked against the rules of kstatus.
func newWorld() *world {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "case-"}}
	Expect(k8s.Create(context.Background(), namespace)).To(Succeed())
	w := &world{namespace.Name}
	DeferCleanup(w.clear)
	DeferCleanup(w.checkStatuses)
	DeferCleanup(func() { Expect(recorded.in(w.namespace)).To(BeEmpty(), "every version follows kstatus") })
	return w
}

// newShop is a world with an endpoint that is Ready, and the one server that serves it.
func newShop() (*world, *endpointType, *fakeServer) {
	GinkgoHelper()
	w := newWorld()
	endpoint := w.endpoint("shop")
	w.create(endpoint)
	server := w.runServer("shop", "shop-0")
	expectReady(endpoint)
	return w, endpoint, server
}

// clear deletes the kinds' objects: envtest has no controller that empties a namespace.
func (w *world) clear() {
	for _, kind := range []client.Object{&v1alpha1.MCPApproval{}, &v1alpha1.MCPToken{}, &v1alpha1.MCPModelExposure{}, &v1alpha1.MCPEndpoint{}} {
		Expect(k8s.DeleteAllOf(context.Background(), kind, client.InNamespace(w.namespace))).To(Succeed())
	}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// unstructured is an empty object of a kind that the tests have no Go type of.
func (w *world) unstructured(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(w.namespace)
	u.SetName(name)
	return u
}

// endpoint is a small endpoint over SQLite with the group readers.
func (w *world) endpoint(name string) *v1alpha1.MCPEndpoint {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: w.meta(name)}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	e.Spec.Groups = []v1alpha1.Group{{Name: "readers", Permissions: []v1alpha1.PermissionRule{
		{Models: []string{"*"}, Verbs: []v1alpha1.Verb{v1alpha1.VerbView}},
	}}}
	return e
}

// overDuckDB are the files of a claim, or one of them, as a database.
func overDuckDB(path string) v1alpha1.DatabaseSpec {
	return v1alpha1.DatabaseSpec{DuckDB: &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: "files"}, Path: path}}
}

func (w *world) exposure(name, endpoint string) *v1alpha1.MCPModelExposure {
	e := &v1alpha1.MCPModelExposure{ObjectMeta: w.meta(name)}
	e.Spec.EndpointRef.Name, e.Spec.Table.Name = endpoint, name
	return e
}

func (w *world) token(name, endpoint string) *v1alpha1.MCPToken {
	t := &v1alpha1.MCPToken{ObjectMeta: w.meta(name)}
	t.Spec.EndpointRef.Name, t.Spec.Groups = endpoint, []string{"readers"}
	return t
}

// soon is a moment that a case can wait for, and that leaves it time before.
func soon() *metav1.Time { return &metav1.Time{Time: time.Now().Add(3 * time.Second)} }

func (w *world) create(objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		Expect(k8s.Create(context.Background(), o)).To(Succeed())
	}
}

func (w *world) delete(o client.Object) {
	GinkgoHelper()
	Expect(k8s.Delete(context.Background(), o)).To(Succeed())
}

// edit changes an object's present state.
func edit[O client.Object](o O, change func(O)) {
	GinkgoHelper()
	Eventually(func() error {
		if err := k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change(o)
		return k8s.Update(context.Background(), o)
	}).Should(Succeed())
}

func (w *world) secret(name string) *corev1.Secret {
	GinkgoHelper()
	s := &corev1.Secret{ObjectMeta: w.meta(name)}
	Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(s), s)).To(Succeed())
	return s
}

// text is the text that a Secret has for a token, once it has one.
func (w *world) text(secret string) string {
	GinkgoHelper()
	var s corev1.Secret
	Eventually(func() string {
		_ = k8s.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: secret}, &s)
		return string(s.Data["token"])
	}).ShouldNot(BeEmpty())
	return string(s.Data["token"])
}

// config is the Config that is written, with its tokens in it. Its revision is the highest of its parts.
func (w *world) config(endpoint string) *contract.Config {
	GinkgoHelper()
	base := endpoint + "-mcp-config"
	config, err := contract.DecodeMain(w.secret(contract.MainSecret(base)).Data)
	Expect(err).NotTo(HaveOccurred())
	for i := range config.Layout.Parts {
		part, err := contract.DecodeTokens(w.secret(contract.TokensSecret(base, i)).Data, i)
		Expect(err).NotTo(HaveOccurred())
		config.Tokens = append(config.Tokens, part.Tokens...)
		config.Revision = max(config.Revision, part.Revision)
	}
	slices.SortFunc(config.Tokens, contract.CompareTokens)
	return config
}

// deploymentAvailable does what the Deployment's controller would.
func (w *world) deploymentAvailable(endpoint string) {
	GinkgoHelper()
	d := &appsv1.Deployment{ObjectMeta: w.meta(endpoint + "-mcp")}
	Eventually(func() error {
		if err := k8s.Get(context.Background(), client.ObjectKeyFromObject(d), d); err != nil {
			return err
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		return k8s.Status().Update(context.Background(), d)
	}).Should(Succeed())
}

// conditions are an object's conditions, with the newest generation that they are about.
func conditions(o client.Object) ([]metav1.Condition, int64) {
	switch o := o.(type) {
	case *v1alpha1.MCPEndpoint:
		return o.Status.Conditions, o.Status.ObservedGeneration
	case *v1alpha1.MCPModelExposure:
		return o.Status.Conditions, o.Status.ObservedGeneration
	case *v1alpha1.MCPToken:
		return o.Status.Conditions, o.Status.ObservedGeneration
	}
	return nil, 0
}

// reads polls one condition of an object as "Status Reason", or "" while its newest generation was not evaluated.
func reads(o client.Object, conditionType string) func() string {
	return func() string {
		if err := k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
			return err.Error()
		}
		all, observed := conditions(o)
		c := meta.FindStatusCondition(all, conditionType)
		if c == nil || observed != o.GetGeneration() {
			return ""
		}
		return string(c.Status) + " " + c.Reason
	}
}

// message is the message of an object's condition, as it was read last.
func message(o client.Object, conditionType string) string {
	all, _ := conditions(o)
	if c := meta.FindStatusCondition(all, conditionType); c != nil {
		return c.Message
	}
	return ""
}

func expectReady(objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		Eventually(reads(o, "Ready")).Should(Equal("True Ready"), "%T %s", o, o.GetName())
	}
}

// checkStatuses checks every object of the namespace against the rules of kstatus, and that no status tells a secret.
func (w *world) checkStatuses() {
	var secrets corev1.SecretList
	Expect(k8s.List(context.Background(), &secrets, client.InNamespace(w.namespace))).To(Succeed())
	for kind, list := range map[string]client.ObjectList{
		"DatabaseReady WorkloadAvailable Programmed Routed": &v1alpha1.MCPEndpointList{},
		"Accepted Resolved Programmed":                      &v1alpha1.MCPModelExposureList{},
		"Accepted Issued Programmed":                        &v1alpha1.MCPTokenList{},
	} {
		Expect(k8s.List(context.Background(), list, client.InNamespace(w.namespace))).To(Succeed())
		Expect(meta.EachListItem(list, func(item runtimeObject) error {
			o := item.(client.Object)
			Eventually(func(g Gomega) {
				err := k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o)
				if apierrors.IsNotFound(err) {
					return
				}
				g.Expect(err).NotTo(HaveOccurred())
				checkStatus(g, o, strings.Fields(kind))
			}).Should(Succeed(), "%T %s", o, o.GetName())
			for _, s := range secrets.Items {
				if text := string(s.Data["token"]); text != "" {
					all, _ := conditions(o)
					for _, c := range all {
						Expect(c.Message).NotTo(ContainSubstring(text))
					}
				}
			}
			return nil
		})).To(Succeed())
	}
}

var reason = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)

func checkStatus(g Gomega, o client.Object, owned []string) {
	all, observed := conditions(o)
	g.Expect(observed).To(Equal(o.GetGeneration()), "observedGeneration moves whenever a generation was evaluated")
	ready := meta.FindStatusCondition(all, "Ready")
	g.Expect(ready).NotTo(BeNil())
	present := map[string]bool{}
	for _, c := range all {
		present[c.Type] = true
		g.Expect(c.ObservedGeneration).To(Equal(o.GetGeneration()), c.Type)
		g.Expect(c.Reason).To(MatchRegexp(reason.String()), c.Type)
	}
	for _, conditionType := range owned {
		g.Expect(present).To(HaveKey(conditionType))
	}
	stalled, reconciling := meta.FindStatusCondition(all, "Stalled"), meta.FindStatusCondition(all, "Reconciling")
	if ready.Status == metav1.ConditionTrue {
		g.Expect(stalled).To(BeNil(), "Ready and Stalled")
		g.Expect(reconciling).To(BeNil(), "Ready and Reconciling")
		return
	}
	g.Expect((stalled == nil) != (reconciling == nil)).To(BeTrue(), "what is not Ready is either Stalled or Reconciling: %v", all)
	for _, abnormal := range []*metav1.Condition{stalled, reconciling} {
		if abnormal != nil {
			g.Expect(abnormal.Status).To(Equal(metav1.ConditionTrue), "%s is there only while it is true", abnormal.Type)
			g.Expect(abnormal.Reason).To(Equal(ready.Reason))
		}
	}
	g.Expect(ready.Message).NotTo(BeEmpty(), "what is not Ready says why")
}
