package controllers_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// managerUser is the ServiceAccount that config/rbac binds the manager's role to.
const managerUser = "system:serviceaccount:mcp-admin-system:mcp-admin-manager"

// seldomUsed are the rights that the life of objects below does not use, each with what it is for.
var seldomUsed = map[string]string{
	"patch events.k8s.io/events":      "an event that repeats itself becomes a series",
	"watch namespaces":                "a manager of the whole cluster reads labels, by which endpoints allow tokens of other namespaces",
	"list namespaces":                 "as above",
	"list coordination.k8s.io/leases": "an installation for the whole cluster reads the Leases of those for a few namespaces",
}

// onRequest are kinds that the life of objects below does not ask for. network_rights_test.go and workload_world_test.go do.
var onRequest = []string{"poddisruptionbudgets", "horizontalpodautoscalers", "ingresses", "networkpolicies", "httproutes", "podmonitors"}

var _ = Describe("The manager's role", func() {
	It("is enough for the life of every object, as a Role of two namespaces, and has nothing that is not used", func() {
		running.stop()
		DeferCleanup(func() { running = startManager(apiServer.Config) })
		first, second := newWorld(), newWorld()
		rules := rulesOf("../config/rbac/role.yaml")
		first.grant(rules)
		second.grant(rules)
		seesPolicy := rulesOf("../config/approval-policy/reader_role.yaml")
		grantEverywhere(seesPolicy)
		rules = append(rules, seesPolicy...)
		user, err := apiServer.AddUser(envtest.User{Name: managerUser, Groups: []string{"system:serviceaccounts"}}, nil)
		Expect(err).NotTo(HaveOccurred())
		audit := &audit{used: map[string]bool{}}
		config := user.Config()
		config.QPS, config.Burst = -1, -1
		config.Wrap(audit.record)
		limited := startManagerWith(config, func(o *controllers.Options) { o.Installation = "mcp-admin-system" }, first.namespace, second.namespace)

		first.live()
		second.create(second.endpoint("shop"), second.token("agent", "shop"))
		Eventually(reads(second.token("agent", "shop"), "Issued")).Should(Equal("True Issued"))
		Eventually(reads(second.endpoint("shop"), "Ready")).ShouldNot(BeEmpty()) // its status is written before the manager ends

		limited.stop() // which gives its Leases up
		Expect(audit.refused()).To(BeEmpty())
		granted := map[string]bool{}
		for _, rule := range rules {
			for _, right := range rightsOf(rule) {
				granted[right] = true
			}
		}
		for _, right := range audit.rights() {
			if right == "create authentication.k8s.io/selfsubjectreviews" {
				continue // everybody may ask who they are
			}
			Expect(granted).To(HaveKey(right))
			Expect(seldomUsed).NotTo(HaveKey(right), "it is used")
			delete(granted, right)
			// A cache lists what it watches, if the API server does not stream the list.
			delete(granted, strings.Replace(right, "watch ", "list ", 1))
		}
		for right := range seldomUsed {
			Expect(granted).To(HaveKey(right), "it is not granted")
			delete(granted, right)
		}
		maps.DeleteFunc(granted, func(right string, _ bool) bool {
			return slices.ContainsFunc(onRequest, func(kind string) bool { return strings.HasSuffix(right, "/"+kind) })
		})
		Expect(granted).To(BeEmpty(), "a right that is never used needs a reason, or is too much")
	})
})

// live lets objects be made, served, changed, drifted and deleted.
func (w *world) live() {
	GinkgoHelper()
	ctx := context.Background()
	e := w.endpoint("shop")
	e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: "database"}}
	sqlite := w.endpoint("small")
	sqlite.Spec.Database.SQLite.InitConfigMapRef = &v1alpha1.ConfigMapReference{Name: "tables"}
	t, given, x := w.token("agent", "shop"), w.token("given", "shop"), w.exposure("book", "shop")
	given.Spec.TokenSecretRef = &v1alpha1.SecretKeyReference{Name: "theirs", Key: "token"}
	w.create(e, sqlite, t, given, x,
		&corev1.Secret{ObjectMeta: w.meta("database")},
		&corev1.Secret{ObjectMeta: w.meta("theirs"), Data: map[string][]byte{"token": []byte(strings.Repeat("x", 40))}},
		&corev1.ConfigMap{ObjectMeta: w.meta("tables")})
	server := w.runServer("shop", "shop-0")
	expectReady(e, t, given, x)

	// What the manager made is deleted once and changed once; it comes back as it was.
	name := metav1.ObjectMeta{Namespace: w.namespace, Name: "small-mcp"}
	for _, child := range []client.Object{
		&corev1.Service{ObjectMeta: name}, &corev1.ServiceAccount{ObjectMeta: name},
		&rbacv1.Role{ObjectMeta: name}, &rbacv1.RoleBinding{ObjectMeta: name}, &appsv1.Deployment{ObjectMeta: name},
		&corev1.Secret{ObjectMeta: w.meta(t.EffectiveSecretName())},
	} {
		key := client.ObjectKeyFromObject(child)
		Eventually(func() error { return k8s.Get(ctx, key, child) }).Should(Succeed(), "%T", child)
		Expect(k8s.Delete(ctx, child)).To(Succeed())
		Eventually(func() error { return k8s.Get(ctx, key, child) }).Should(Succeed(), "%T", child)
		Expect(k8s.Patch(ctx, child, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"app.kubernetes.io/name":"drift"}}}`)))).To(Succeed())
		Eventually(func() string {
			_ = k8s.Get(ctx, key, child)
			return child.GetLabels()["app.kubernetes.io/name"]
		}).Should(Equal("mcp-admin-server"), "%T", child)
	}

	w.holdBack(e, t, server)
	edit(t, func(t *v1alpha1.MCPToken) { t.Spec.Active = new(false) })
	Eventually(reads(t, "Ready")).Should(HavePrefix("True "))
	server.stop()
	for _, o := range []client.Object{t, given, x, e, sqlite} {
		w.delete(o)
	}
}

// holdBack lets a call wait, be withdrawn, and be made again.
func (w *world) holdBack(e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken, server *fakeServer) {
	GinkgoHelper()
	edit(e, func(e *v1alpha1.MCPEndpoint) {
		e.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "kept"}}
		e.Spec.Approvals = []v1alpha1.ApprovalPolicy{{Name: "all"}}
	})
	Eventually(reads(e, "ApprovalsReady")).Should(Equal("False AdmissionPolicyMissing"))
	call := w.call("live", t, "all")
	server.tells(call)
	a := w.approval(call)
	Eventually(state(a)).Should(Equal("Waiting"))
	server.tells(became(call, contract.ApprovalWithdrawn))
	Eventually(state(a)).Should(Equal("Withdrawn"))
	call.Asked = time.Now()
	server.tells(call)
	Eventually(state(a)).Should(Equal("Waiting"))
}

// grantEverywhere gives the manager's user a ClusterRole.
func grantEverywhere(rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	name := metav1.ObjectMeta{Name: "manager-of-a-case"}
	role, binding := &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: managerUser}},
	}
	for _, o := range []client.Object{role, binding} {
		Expect(k8s.Create(context.Background(), o)).To(Succeed())
		DeferCleanup(func() { Expect(k8s.Delete(context.Background(), o)).To(Succeed()) })
	}
}

// rulesOf are the rules of a role in a file.
func rulesOf(file string) []rbacv1.PolicyRule {
	GinkgoHelper()
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(text, role)).To(Succeed())
	return role.Rules
}

// grant gives the manager's user a Role in the namespace.
func (w *world) grant(rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	w.create(&rbacv1.Role{ObjectMeta: w.meta("manager"), Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: w.meta("manager"),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: managerUser}},
	})
}

// rightsOf returns the rights that a rule gives, each as "verb group/resource".
func rightsOf(rule rbacv1.PolicyRule) []string {
	var rights []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+strings.TrimPrefix(group+"/"+resource, "/"))
			}
		}
	}
	return rights
}

// audit records which rights requests need, and which requests were refused for want of one.
type audit struct {
	mu        sync.Mutex
	used      map[string]bool
	forbidden []string
}

func (a *audit) record(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		a.mu.Lock()
		defer a.mu.Unlock()
		if right := rightOf(r); right != "" {
			a.used[right] = true
			if err == nil && answer.StatusCode == http.StatusForbidden {
				a.forbidden = append(a.forbidden, right+": "+r.URL.Path)
			}
		}
		return answer, err
	})
}

func (a *audit) refused() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.forbidden)
}

func (a *audit) rights() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var rights []string
	for right := range a.used {
		rights = append(rights, right)
	}
	return rights
}

// rightOf is the right that a request about objects of a namespace needs; "" for any other request.
func rightOf(r *http.Request) string {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case len(path) > 2 && path[0] == "api":
		path = path[2:]
	case len(path) > 3 && path[0] == "apis":
		group, path = path[1]+"/", path[3:]
	default:
		return ""
	}
	if len(path) > 2 && path[0] == "namespaces" {
		path = path[2:]
	}
	resource, named := group+path[0], len(path) > 1
	if len(path) > 2 {
		resource += "/" + path[2]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	if r.Method == http.MethodGet && !named {
		if verb = "list"; r.URL.Query().Get("watch") != "" {
			verb = "watch"
		}
	}
	return verb + " " + resource
}
