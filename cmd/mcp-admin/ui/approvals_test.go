package ui

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// deskAPI is an API server for one person, with one approval in the namespace desk.
type deskAPI struct {
	mu sync.Mutex
	// user and groups are the person's, rights are "VERB RESOURCE NAME", of the namespace desk. noReview has it not say who they are.
	user     string
	groups   []string
	rights   []string
	noReview bool
	approval v1alpha1.MCPApproval
	// meanwhile is done before the next update, which then comes too late.
	meanwhile func(*v1alpha1.MCPApproval)
}

const approvalName = "desk-aaaaaaaaaaaaaaaaaaaa"

func newDesk() *deskAPI {
	d := &deskAPI{user: "ann"}
	a := &d.approval
	a.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPApproval"}
	a.Namespace, a.Name, a.UID, a.ResourceVersion, a.Generation = "desk", approvalName, "1", "7", 1
	a.Spec.EndpointRef.Name = "desk"
	now := time.Now().Truncate(time.Second)
	a.Spec.Request = v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: "desk", Name: "clerk"}, TokenUID: "1", Caller: "c", Subject: "carl", Tool: "update_order", Operation: "update", Model: "order",
		Policies: []v1alpha1.ApprovalAsker{{Name: "large", Sum: "1", MinApprovals: 1, ApproverGroups: []string{"leads"}}}, Digest: strings.Repeat("a", 64),
		AskTime: metav1.NewTime(now), ExpiryTime: metav1.NewTime(now.Add(time.Hour)), Rows: new(int64(1)),
	}
	a.Status = v1alpha1.MCPApprovalStatus{State: v1alpha1.ApprovalWaiting, ObservedGeneration: 1}
	return d
}

// set changes who the person is, and what they may.
func (d *deskAPI) set(user string, groups []string, rights ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.user, d.groups, d.rights = user, groups, rights
}

func (d *deskAPI) has(verb, resource, name string) bool {
	return slices.Contains(d.rights, strings.TrimSpace(verb+" "+resource+" "+name))
}

// refusal is what an API server says of a missing right.
func refusal(user, verb, resource, namespace string) (int, any) {
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	return http.StatusForbidden, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
		Message: fmt.Sprintf(`%s.mcpadmin.dev is forbidden: User %q cannot %s resource %q in API group "mcpadmin.dev" %s`, resource, user, verb, resource, where)}
}

// answer is what it answers; nil is 404.
func (d *deskAPI) answer(r *http.Request) (int, any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	const of = "/apis/mcpadmin.dev/v1alpha1/namespaces/desk/mcpapprovals"
	list := v1alpha1.MCPApprovalList{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPApprovalList"}, Items: []v1alpha1.MCPApproval{d.approval}}
	switch r.Method + " " + r.URL.Path {
	case "GET /apis/mcpadmin.dev/v1alpha1/mcpapprovals":
		return refusal(d.user, "list", "mcpapprovals", "")
	case "GET " + of:
		if !d.has("list", "mcpapprovals", "") {
			return refusal(d.user, "list", "mcpapprovals", "desk")
		}
		return http.StatusOK, list
	case "GET " + of + "/" + approvalName:
		return http.StatusOK, d.approval
	case "PUT " + of + "/" + approvalName:
		return d.update(r)
	case "POST /apis/authentication.k8s.io/v1/selfsubjectreviews":
		if d.noReview {
			return http.StatusNotFound, nil
		}
		review := authenticationv1.SelfSubjectReview{TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"}}
		review.Status.UserInfo = authenticationv1.UserInfo{Username: d.user, Groups: d.groups}
		return http.StatusCreated, review
	case "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		var review authorizationv1.SelfSubjectAccessReview
		if json.NewDecoder(r.Body).Decode(&review) != nil {
			return http.StatusBadRequest, nil
		}
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = asked.Namespace == "desk" && asked.Group == "mcpadmin.dev" && d.has(asked.Verb, asked.Resource, asked.Name)
		return http.StatusCreated, review
	}
	return http.StatusNotFound, nil
}

func (d *deskAPI) update(r *http.Request) (int, any) {
	if !d.has("update", "mcpapprovals", approvalName) {
		return refusal(d.user, "update", "mcpapprovals", "desk")
	}
	if d.meanwhile != nil {
		d.meanwhile(&d.approval)
		d.approval.ResourceVersion, d.meanwhile = "8", nil
	}
	var next v1alpha1.MCPApproval
	if json.NewDecoder(r.Body).Decode(&next) != nil {
		return http.StatusBadRequest, nil
	}
	if next.ResourceVersion != d.approval.ResourceVersion {
		return http.StatusConflict, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Code: http.StatusConflict}
	}
	next.ResourceVersion, next.Generation = "9", d.approval.Generation+1
	next.APIVersion, next.Kind = d.approval.APIVersion, d.approval.Kind
	d.approval = next
	return http.StatusOK, next
}

// open opens the page over it, as somebody who named a namespace.
func (d *deskAPI) open(t *testing.T) *pagetest.Browser {
	t.Helper()
	answers := map[string]any{
		"/api":  metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}},
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}},
	}
	for group, kind := range map[string]metav1.APIResource{
		"mcpadmin.dev/v1alpha1": {Name: "mcpapprovals", Kind: "MCPApproval", Namespaced: true}, "authentication.k8s.io/v1": {Name: "selfsubjectreviews", Kind: "SelfSubjectReview"},
		"authorization.k8s.io/v1": {Name: "selfsubjectaccessreviews", Kind: "SelfSubjectAccessReview"},
	} {
		name, version, _ := strings.Cut(group, "/")
		v := metav1.GroupVersionForDiscovery{GroupVersion: group, Version: version}
		one := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: name, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v}
		groups := answers["/apis"].(metav1.APIGroupList)
		groups.Groups = append(groups.Groups, one)
		answers["/apis"], answers["/apis/"+name] = groups, one
		answers["/apis/"+group] = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group, APIResources: []metav1.APIResource{kind}}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		answer, known := answers[r.URL.Path]
		if !known {
			code, answer = d.answer(r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	k, err := cluster.New(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, "desk")
	if err != nil {
		t.Fatal(err)
	}
	p, err := page.New(page.Options{Source: NewSource(k, As{Place: "a cluster", Person: "somebody", Namespaces: []string{"desk"}}), Base: "/"})
	if err != nil {
		t.Fatal(err)
	}
	pages := httptest.NewServer(p)
	t.Cleanup(pages.Close)
	return pagetest.Open(t, p.Link(pages.URL))
}

// all that somebody needs who decides, and the verb for emergencies.
var all = []string{"list mcpapprovals", "update mcpapprovals " + approvalName, "approve mcpendpoints desk", "override mcpendpoints desk"}

const ofApproval = "e/desk/desk/approvals/" + approvalName

func TestWhoMayDecideHasTheButtons(t *testing.T) {
	leads := []string{"leads"}
	without := func(right string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(r string) bool { return strings.HasPrefix(r, right) })
	}
	for what, c := range map[string]struct {
		user     string
		groups   []string
		rights   []string
		change   func(*deskAPI)
		buttons  string
		wants    []string
		override string
	}{
		"all rights":       {"ann", leads, all, nil, "Approve Deny Override", []string{"mcp-admin approve " + approvalName + " --comment why -n desk"}, "You alone allow"},
		"no approve":       {"ann", leads, without("approve"), nil, "Override", []string{"You may not approve mcpendpoints in namespace desk.", "kubectl auth can-i approve mcpendpoints.mcpadmin.dev/desk -n desk"}, "required"},
		"no update":        {"ann", leads, without("update"), nil, "", []string{"You may not update mcpapprovals in namespace desk."}, "You may not update mcpapprovals"},
		"no override":      {"ann", leads, without("override"), nil, "Approve Deny", nil, "You may not override mcpendpoints in namespace desk."},
		"neither":          {"ann", leads, without("update")[:1], nil, "", []string{"You may not update mcpapprovals", "You may not approve mcpendpoints"}, "You may not override"},
		"another group":    {"ann", []string{"staff"}, all, nil, "Deny Override", []string{"does not count for policy large, which asks for people in leads", "You can deny."}, "required"},
		"the own call":     {"carl", leads, all, nil, "", []string{"This call is your own; somebody else has to decide."}, "This call is your own"},
		"with a prefix":    {"oidc:carl", leads, all, nil, "", []string{"This call is your own"}, "This call is your own"},
		"decided already":  {"ann", leads, all, decidedBy("ann"), "", []string{"you have decided about " + approvalName + " already (Approve)"}, "decided about"},
		"others decided":   {"ann", leads, all, decidedBy("bob"), "Approve Deny Override", []string{"not looked at yet"}, "required"},
		"an unknown user":  {"ann", leads, all, func(d *deskAPI) { d.noReview = true }, "", []string{"who you are is not known"}, "who you are is not known"},
		"it ran meanwhile": {"ann", leads, all, func(d *deskAPI) { d.approval.Status.State = v1alpha1.ApprovalExecuted }, "", []string{"Executed"}, "waits no more: it is Executed"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk()
			d.set(c.user, c.groups, c.rights...)
			if c.change != nil {
				c.change(d)
			}
			b := d.open(t)
			code, text := b.Get(ofApproval)
			for _, want := range c.wants {
				if code != http.StatusOK || !strings.Contains(strings.ToLower(html.UnescapeString(text)), strings.ToLower(want)) {
					t.Errorf("%d, without %q:\n%s", code, want, text)
				}
			}
			if got := buttonsOf(text); got != c.buttons {
				t.Errorf("it has the buttons %q, want %q:\n%s", got, c.buttons, text)
			}
			_, plan := b.Get(ofApproval + "/override")
			if !strings.Contains(strings.ToLower(html.UnescapeString(plan)), strings.ToLower(c.override)) || strings.Contains(plan, "<form") != strings.Contains(c.buttons, "Override") {
				t.Errorf("the screen of Override lacks %q, or has a form:\n%s", c.override, plan)
			}
			d.sendAll(t, b, c.buttons)
		})
	}
}

func decidedBy(user string) func(*deskAPI) {
	return func(d *deskAPI) {
		d.approval.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: user, Decision: v1alpha1.VerdictApprove}}
	}
}

var button = regexp.MustCompile(`name="verdict" value="(\w+)"|>(Override)…<`)

// buttonsOf are the decisions that a screen offers.
func buttonsOf(text string) string {
	var names []string
	for _, found := range button.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1]+found[2])
	}
	return strings.Join(names, " ")
}

var hiddenField = regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`)

// sendAll sends each decision that is not offered all the same, and checks that it is not taken.
func (d *deskAPI) sendAll(t *testing.T, b *pagetest.Browser, offered string) {
	t.Helper()
	had := len(d.approval.Spec.Decisions)
	values := url.Values{"comment": {"why"}}
	rights, user, groups := d.rights, d.user, d.groups
	d.set("lea", []string{"leads"}, all...) // somebody's screen, from which the person takes the fields
	d.mu.Lock()
	noReview := d.noReview
	d.noReview = false
	d.mu.Unlock()
	_, text := b.Get(ofApproval)
	for _, field := range hiddenField.FindAllStringSubmatch(text, -1) {
		values.Set(field[1], field[2])
	}
	d.set(user, groups, rights...)
	d.mu.Lock()
	d.noReview = noReview
	d.mu.Unlock()
	for verdict, path := range map[string]string{"Approve": ofApproval, "Deny": ofApproval, "Override": ofApproval + "/override"} {
		if strings.Contains(offered, verdict) {
			continue
		}
		values.Set("verdict", verdict)
		code, text := b.Send(path, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
		if len(d.approval.Spec.Decisions) != had || code == http.StatusOK {
			t.Errorf("%s is taken: %d %s", verdict, code, text)
		}
	}
}

// The decision is the person's own, with those of their groups that count, and is made once: somebody who decides at the same time loses
// nothing.
func TestADecisionIsAddedInThePersonsOwnName(t *testing.T) {
	d := newDesk()
	d.set("ann", []string{"leads", "staff"}, all...)
	b := d.open(t)
	d.meanwhile = decidedMeanwhile("bob")
	_, text := b.Get(ofApproval)
	values := url.Values{"verdict": {"Approve"}, "comment": {"talked to the customer"}}
	for _, field := range hiddenField.FindAllStringSubmatch(text, -1) {
		values.Set(field[1], field[2])
	}
	code, text := b.Send(ofApproval, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
	if code != http.StatusOK || !strings.Contains(text, "The manager has not looked at it yet") || buttonsOf(text) != "" {
		t.Errorf("%d %s", code, text)
	}
	got, _ := json.Marshal(d.approval.Spec.Decisions)
	if want := `[{"decidedBy":"bob","decision":"Deny"},{"decidedBy":"ann","decision":"Approve","groups":["leads"],"comment":"talked to the customer"}]`; string(got) != want {
		t.Errorf("the decisions are %s, want %s", got, want)
	}
	code, text = b.Send(ofApproval, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
	if code != http.StatusConflict || !strings.Contains(text, "since you loaded the page") || len(d.approval.Spec.Decisions) != 2 {
		t.Errorf("the same form once more: %d %s", code, text)
	}
}

func decidedMeanwhile(user string) func(*v1alpha1.MCPApproval) {
	return func(a *v1alpha1.MCPApproval) {
		a.Spec.Decisions = append(a.Spec.Decisions, v1alpha1.ApprovalDecision{DecidedBy: user, Decision: v1alpha1.VerdictDeny})
	}
}

func TestApprovalsOfNamedNamespacesAreListed(t *testing.T) {
	d := newDesk()
	d.set("ann", nil, "list mcpapprovals")
	b := d.open(t)
	for path, wants := range map[string][]string{
		"approvals":             {"1 call waits for people.", approvalName, "other namespaces than desk: You may not list mcpapprovals in all namespaces.", "mcp-admin approvals -n desk"},
		"e/desk/desk/approvals": {"1 call waits for people.", "mcp-admin approvals -n desk", `badge">1<`},
	} {
		code, text := b.Get(path)
		for _, want := range wants {
			if code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d, without %q:\n%s", path, code, want, text)
			}
		}
	}
	d.set("ann", nil)
	for _, path := range []string{"approvals", "e/desk/desk/approvals"} {
		code, text := b.Get(path)
		if code != http.StatusForbidden || !strings.Contains(text, "You may not list mcpapprovals in namespace desk.") || strings.Contains(text, "badge") || strings.Contains(text, approvalName) {
			t.Errorf("%s, without the right: %d\n%s", path, code, text)
		}
	}
}
