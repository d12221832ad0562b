package page

import (
	"context"
	"errors"
	"fmt"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"net/http"
	"os"
	"path/filepath"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"strings"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

// cluster is a real API server. The statuses of its objects are written by the tests, in the place of controllers: what these write, the
// tests of cmd/mcp-admin have.
type cluster struct {
	k8s        client.WithWatch
	kubeconfig string
}

func (s *stage) startCluster() *cluster {
	s.t.Helper()
	log.SetLogger(logr.Discard())
	environment, config := apiserver.Start(s.t, filepath.Join("config", "crd", "bases"))
	admin, err := environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	s.check(err)
	text, err := admin.KubeConfig()
	s.check(err)
	c := &cluster{kubeconfig: filepath.Join(s.t.TempDir(), "kubeconfig")}
	s.check(os.WriteFile(c.kubeconfig, text, 0o600))
	scheme, err := controllers.NewScheme()
	s.check(err)
	config.QPS = -1
	c.k8s, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	s.check(err)
	return c
}

// create makes objects, with their statuses.
func (c *cluster) create(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		told := o.DeepCopyObject().(client.Object)
		if err := c.k8s.Create(ctx, o); err != nil {
			return err
		}
		if _, has := o.(*corev1.Namespace); has {
			continue
		}
		told.SetResourceVersion(o.GetResourceVersion())
		if err := c.k8s.Status().Update(ctx, told); err != nil {
			return err
		}
	}
	return nil
}

const (
	// script is a text that must not run, turned one that turns the direction of what follows it.
	script = `<script>alert("run")</script><img src=x onerror=alert(1)>"'`
	turned = "\u202eשלום\u2066"
)

func endpointOf(namespace, name string, ready bool, message string) *v1alpha1.MCPEndpoint {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	e.Spec.Groups = []v1alpha1.Group{
		{Name: "readers", Permissions: []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}}},
		{Name: "clerks", Permissions: []v1alpha1.PermissionRule{{Models: []string{"order"}, Verbs: []v1alpha1.Verb{"view", "change", "export"}}}},
	}
	e.Status = v1alpha1.MCPEndpointStatus{ObservedGeneration: 1, Revision: 12, ReadyDisplay: "2/2", ModelCount: new(int32(3)), TokenCount: new(int32(3)), URL: "http://" + name + ".example/mcp/",
		Database: v1alpha1.DatabaseStatus{Engine: "PostgreSQL", Version: "17.5"}}
	set := func(kind string, holds bool, reason, message string) {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
		if holds {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&e.Status.Conditions, c)
	}
	set(v1alpha1.ConditionProgrammed, true, v1alpha1.ReasonProgrammed, "")
	set(v1alpha1.ConditionWorkloadAvailable, true, v1alpha1.ReasonAvailable, "")
	set(v1alpha1.ConditionDatabaseReady, ready, "Unreachable", message)
	set(v1alpha1.ConditionReady, ready, "Unreachable", message)
	return e
}

func exposureOf(namespace, endpoint, name string, columns ...string) *v1alpha1.MCPModelExposure {
	x := &v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: endpoint + "-" + name}}
	x.Spec.EndpointRef.Name, x.Spec.Model, x.Spec.Table.Name = endpoint, name, name+"s"
	x.Status = v1alpha1.MCPModelExposureStatus{ObservedGeneration: 1, Model: name, Table: "public." + name + "s", Columns: columns, Key: columns[:1], Tools: []string{"list_" + name, "get_" + name}}
	meta.SetStatusCondition(&x.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady})
	return x
}

func tokenOf(namespace, endpoint, name string, groups ...string) *v1alpha1.MCPToken {
	t := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	t.Spec.EndpointRef.Name, t.Spec.Groups = endpoint, groups
	t.Status = v1alpha1.MCPTokenStatus{ObservedGeneration: 1}
	meta.SetStatusCondition(&t.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady})
	return t
}

// fill makes three endpoints: one in order, one whose database is away, and one with hostile names. It returns the token that is revoked.
func (s *stage) fill(c *cluster) *v1alpha1.MCPToken {
	s.t.Helper()
	for _, namespace := range []string{"shop", "billing", "hostile"} {
		s.check(c.create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	}
	order, customer := exposureOf("shop", "shop", "order", "id", "customer_id", "region", "total"), exposureOf("shop", "shop", "customer", "id", "name", "email")
	order.Spec.RowPolicies = []v1alpha1.RowPolicy{
		{Name: "everything", Groups: []string{"readers"}, AllRows: new(true)},
		{Name: "own-region", Groups: []string{"clerks"}, Filters: []v1alpha1.RowFilter{{Field: "region", TokenAttribute: "region"}}},
	}
	order.Status.ForeignKeys = []v1alpha1.ForeignKeyStatus{{Columns: []string{"clerk_id"}, Model: "customer"}}
	order.Spec.Relations = []v1alpha1.RelationSpec{{Name: "customer", Columns: []string{"customer_id"}, Model: "customer"}}
	customer.Status.MaskedColumns, customer.Status.HiddenColumns = []string{"email"}, []string{"password"}
	clerk := tokenOf("shop", "shop", "clerk", "clerks")
	clerk.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "north"}
	clerk.Status.Revision, order.Status.Revision = 11, 9
	note := exposureOf("hostile", "hostile", "note", "id", script, turned, strings.Repeat("x", 128))
	note.Spec.Description = script + turned + strings.Repeat("y", 800)
	note.Spec.Measures = []v1alpha1.MeasureSpec{}
	note.Status.Notes = []string{script + strings.Repeat("z", 300)}
	note.Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "own", AppliesTo: v1alpha1.AppliesToEveryone, Filters: []v1alpha1.RowFilter{{Field: script, Value: new(script + turned + strings.Repeat("v", 700))}}}}
	hostile := endpointOf("hostile", "hostile", false, script+turned+strings.Repeat("w", 10000))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop-mcp-5d8f7c9b6d-x2x7k", Labels: map[string]string{"mcpadmin.dev/endpoint": "shop", "mcpadmin.dev/component": "server"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "server", Image: "server:test"}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	billing := endpointOf("billing", "billing", false, "the database does not answer at db.billing:5432: connection refused")
	billing.Spec.Authentication.OIDC = []v1alpha1.OIDCIssuer{{Name: "corp", URL: "https://id.example", Audiences: []v1alpha1.Audience{"billing"}}}
	staff := tokenOf("billing", "billing", "staff", "readers")
	staff.Spec.OIDC = &v1alpha1.OIDCIdentity{Issuer: "corp", Claims: map[string]v1alpha1.ClaimValue{"org": "shop"}}
	invoice := exposureOf("billing", "billing", "invoice", "id")
	invoice.Spec.Expose = new(true)
	s.check(c.create(s.t.Context(), endpointOf("shop", "shop", true, ""), order, customer, clerk, tokenOf("shop", "shop", "reader", "readers"), tokenOf("shop", "shop", "twin", "readers"), pod,
		billing, staff, invoice,
		hostile, note, tokenOf("hostile", "hostile", strings.Repeat("a", 250), "readers")))
	s.fillApprovals(c)
	return clerk
}

// overThree is the page over these.
func (s *stage) overThree(c *cluster) {
	s.t.Helper()
	clerk := s.fill(c)
	const of = "e/shop/shop"
	acts := of + "/acts"
	go s.controllers(c, clerk.Namespace)
	s.drive(work{
		Name: "three endpoints",
		Link: s.serve("ui", "--kubeconfig", c.kubeconfig),
		Screens: []visit{
			{Path: "", Wants: []string{"2 of 3 are not Ready", "billing/billing", "hostile/hostile", "shop/shop"}},
			{Path: "problems", Wants: []string{"the database does not answer", "no manager looks after namespace shop"}},
			{Path: of, Wants: []string{"Ready", "x2x7k", "kubectl"}},
			{Path: "e/billing/billing", Wants: []string{"Database broken", "db.billing:5432", "kubectl logs deployment/billing-mcp -n billing"}},
			{Path: "e/billing/billing/see-as", Wants: []string{"type the claims"}},
			{Path: "e/billing/billing/see-as-caller", Wants: []string{"Claims, a JSON object"}},
			{Path: `e/billing/billing/see-as-caller?claims={"sub":"<script>alert(1)</script>","org":["x","shop"]}`, Wants: []string{"<script>", "is let in by MCPToken billing/staff", "Groups: readers", "list_invoice", "Taken as good", "mcp-admin can --claims"}},
			{Path: `e/billing/billing/see-as-caller?claims={"sub":"eve"}`, Wants: []string{"Not let in", "no MCPToken in force"}},
			{Path: "e/billing/billing/see-as-caller?claims=" + script, Wants: []string{"must be a JSON object"}},
			{Path: of + "/see-as-caller", Wants: []string{"The endpoint has no issuer"}},
			{Path: of + "/who", Wants: []string{"shop/reader", "and 1 like it", "own-region"}},
			{Path: of + "/who?q=clerk&sort=groups", Wants: []string{"1 found", "shop/clerk"}, Lacks: []string{"shop/reader"}},
			{Path: of + "/who/shop/clerk/order", Wants: []string{"region = token.region", "token.region is north", "Revoke it", "the token's attribute region", "generation 1, last changed", "in the Config since revision 9", "in the Config since revision 11"}},
			{Path: of + "/who-reads?of=customer.email", Wants: []string{"customer.email is masked", "shop/reader", "and 1 like it", "mcp-admin who customer.email -e shop -n shop"}},
			{Path: of + "/models", Wants: []string{"the YAML", "clerk_id", "the database"}, Lacks: []string{"no pod has told"}},
			{Path: of + "/models/order", Wants: []string{"own-region", "order → customer"}},
			{Path: acts, Wants: []string{"Revoke a token", "Look again"}},
			{Path: acts + "/revoke?token=shop/clerk", Wants: []string{"sets spec.active to false", "mcp-admin revoke clerk -n shop"}},
			{Path: acts + "/revoke?group=readers", Wants: []string{"2 tokens of group readers", "Revoke 2 tokens"}},
			{Path: acts + "/pause", Wants: []string{"make nothing new", "kubectl annotate mcpendpoint shop -n shop mcpadmin.dev/paused=true --overwrite"}},
			{Path: acts + "/activate?token=clerk", Wants: []string{"it is active already"}},
			{Path: "e/hostile/hostile", Wants: []string{`\u202e`, "<script>"}},
			{Path: "e/hostile/hostile/who", Wants: []string{"hostile/aaaa"}},
			{Path: "e/hostile/hostile/who/hostile/" + strings.Repeat("a", 250) + "/note", Wants: []string{"<script>", "rows in which"}},
			{Path: "e/hostile/hostile/models"},
			{Path: "e/hostile/hostile/models/note", Wants: []string{"<script>", `\u202e`}},
			{Path: "e/hostile/hostile/who-reads?of=" + strings.Repeat("q", 10000), Wants: []string{"has no model"}},
			{Path: "e/hostile/hostile/acts"},
		},
		Keyboard:  &acts,
		Plain:     &visit{Path: acts + "/revoke?token=shop/clerk", Wants: []string{"sets spec.active to false"}},
		Matrices:  []compared{{of + "/who", of + "/matrix.json", s.print("matrix", "shop", "-n", "shop", "-o", "json", "--kubeconfig", c.kubeconfig), false}},
		Questions: questions(),
		Act:       &act{acts + "/revoke?token=shop/clerk", "Every pod refuses the token", "Done: every pod refuses it."},
		Attack:    &attack{s.site(), acts + "/revoke", "shop/reader"},
	})
	s.overApprovals(c)
	var reader v1alpha1.MCPToken
	s.check(c.k8s.Get(s.t.Context(), client.ObjectKey{Namespace: "shop", Name: "reader"}, &reader))
	if !reader.Spec.EffectiveActive() {
		s.t.Error("a form of another site revoked a token")
	}
	s.drive(work{Name: "a team", Link: s.serve("ui", "--kubeconfig", c.kubeconfig), Questions: []question{
		{"Revoke a team.", []string{"click shop/shop", "click Acts", "click Revoke all tokens of the group readers", "click Revoke 2 tokens"}, []string{"Done: 2 of 2"}},
	}})
}

// questions are what people ask about these endpoints. No answer changes anything.
func questions() []question {
	return []question{
		{"Why is this endpoint not Ready?", nil, []string{"billing/billing", "the database does not answer at db.billing:5432: connection refused"}},
		{"Which part is broken, and what can I do?", []string{"click billing/billing"}, []string{"Database broken", "kubectl logs deployment/billing-mcp -n billing"}},
		{"Who can read customer.email?", []string{"click shop/shop", "click Who can see what", "press /", "type customer.email", "press Enter"},
			[]string{"customer.email is masked", "shop/reader", "and 1 like it"}},
		{"Why can clerk not see this row?", []string{"click shop/shop", "click Who can see what", "click v-c-e own-region"}, []string{"region is the token's attribute region", "token.region is north", "See its rows"}},
	}
}

// controllers does what controllers and pods would: once a token of a namespace is not active, its status says that it is refused.
func (s *stage) controllers(c *cluster, namespace string) {
	changes, err := c.k8s.Watch(s.t.Context(), &v1alpha1.MCPTokenList{}, client.InNamespace(namespace))
	if err != nil {
		return // the act then ends without what it waits for
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		t, ok := change.Object.(*v1alpha1.MCPToken)
		if !ok || t.Spec.EffectiveActive() || t.Status.ObservedGeneration == t.Generation {
			continue
		}
		t.Status.ObservedGeneration = t.Generation
		meta.SetStatusCondition(&t.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInactive})
		_ = c.k8s.Status().Update(s.t.Context(), t) // a conflict comes with another change
	}
}

// withoutRights is the same cluster for a person who may nothing.
func (s *stage) withoutRights(c *cluster) {
	s.t.Helper()
	denied := func(path, what string) visit {
		return visit{Path: path, Status: http.StatusForbidden, Wants: []string{"You may not " + what + ".", "kubectl auth can-i"}, Lacks: []string{"own-region", "PostgreSQL"}}
	}
	const of = "e/shop/shop"
	s.drive(work{
		Name: "without rights",
		Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "shop", "--as", "nobody"),
		Screens: []visit{
			denied("", "list mcpendpoints in namespace shop"), denied(of, "get mcpendpoints in namespace shop"), denied(of+"/who", "get mcpendpoints in namespace shop"),
			denied(of+"/who-reads?of=order", "get mcpendpoints in namespace shop"), denied(of+"/models", "get mcpendpoints in namespace shop"),
			denied(of+`/see-as-caller?claims={"sub":"anna"}`, "get mcpendpoints in namespace shop"),
			denied(of+"/models/order", "get mcpendpoints in namespace shop"), denied(of+"/acts", "get mcpendpoints in namespace shop"),
			denied("approvals", "list mcpapprovals in namespace shop"), denied(of+"/approvals", "list mcpapprovals in namespace shop"),
			denied(approvalPath("first"), "get mcpapprovals in namespace shop"), denied(approvalPath("first")+"/override", "get mcpapprovals in namespace shop"),
			denied(of+"/acts/revoke?token=reader", "get mcptokens in namespace shop"), denied(of+"/who/shop/clerk/order", "get mcpendpoints in namespace shop"),
		},
	})
}

const (
	endpoints, tokens, many = 1000, 10_000, 40
)

// overThousand is the page over a thousand endpoints, one of which has nearly all of ten thousand tokens.
func (s *stage) overThousand(c *cluster) {
	s.t.Helper()
	large := endpointOf("many", "large", true, "")
	large.Spec.Groups = nil
	for i := range many {
		large.Spec.Groups = append(large.Spec.Groups, v1alpha1.Group{Name: fmt.Sprint("g", i),
			Permissions: []v1alpha1.PermissionRule{{Models: []string{fmt.Sprint("m", i), fmt.Sprint("m", (i+7)%many)}, Verbs: []v1alpha1.Verb{"view", "add"}}}})
	}
	ctx := s.t.Context()
	s.check(c.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many"}}, large))
	s.check(parallel(many, func(i int) error {
		x := exposureOf("many", "large", fmt.Sprint("m", i), "id", "other_id", "text")
		x.Spec.Relations = []v1alpha1.RelationSpec{{Name: "other", Columns: []string{"other_id"}, Model: fmt.Sprint("m", i/3)}}
		return c.create(ctx, x)
	}))
	s.check(parallel(endpoints-1, func(i int) error {
		return c.create(ctx, endpointOf("many", fmt.Sprint("e", i), i%50 != 0, "the database does not answer"))
	}))
	s.check(parallel(tokens, func(i int) error {
		t := tokenOf("many", "large", fmt.Sprint("t", i), fmt.Sprint("g", i%many), fmt.Sprint("g", (i/many%5+1+i)%many))
		if i < endpoints-1 {
			t = tokenOf("many", fmt.Sprint("e", i), fmt.Sprint("t", i), "readers")
		}
		return c.k8s.Create(ctx, t)
	}))
	const of = "e/many/large"
	s.drive(work{
		Name: "a thousand endpoints",
		Link: s.serve("ui", "--kubeconfig", c.kubeconfig),
		Screens: []visit{
			{Path: "", Wants: []string{"22 of 1004 are not Ready", "Endpoints 1 to 50 of 1004", "endpoints: page 1 of 21"}},
			{Path: "?q=e77&page=1", Wants: []string{"11 found"}},
			{Path: "problems", Wants: []string{"The same: MCPEndpoint many/e"}},
			{Path: of, Wants: []string{"Ready", "9001 tokens"}},
			{Path: of + "/who", Wants: []string{"9001 tokens in force", "Rows 1 to 50", "Models 1 to 12"}},
			{Path: of + "/who?q=t9999", Wants: []string{"1 found"}},
			{Path: of + "/who-reads?of=m3", Wants: []string{"group g3"}},
			{Path: of + "/models", Wants: []string{"40 models"}},
			{Path: of + "/acts", Wants: []string{"more tokens than the lists name"}},
			{Path: of + "/acts/revoke?group=g3", Wants: []string{"more.", "Revoke"}},
		},
		Matrices: []compared{{of + "/who", of + "/matrix.json", s.print("matrix", "large", "-n", "many", "-o", "json", "--kubeconfig", c.kubeconfig), false}},
	})
}

// parallel does something so many times, several at once, and returns what went wrong.
func parallel(times int, do func(i int) error) error {
	const workers = 8
	var running sync.WaitGroup
	var failed [workers]error
	for w := range workers {
		running.Go(func() {
			for i := w; i < times && failed[w] == nil; i += workers {
				failed[w] = do(i)
			}
		})
	}
	running.Wait()
	return errors.Join(failed[:]...)
}
