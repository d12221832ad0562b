package page_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// desk has approvals, and nothing else. Whoever sees it may decide, as in dev.
type desk struct {
	page.Source
	approvals []v1alpha1.MCPApproval
	unseen    error
	refuses   error
	decided   []string
}

func (d *desk) Place() string             { return "a test" }
func (d *desk) Person() string            { return "ann" }
func (d *desk) Cluster() *cluster.Cluster { return nil }

func (d *desk) Endpoints(context.Context) (*page.Endpoints, error) { return &page.Endpoints{}, nil }

func (d *desk) Approvals(context.Context) ([]v1alpha1.MCPApproval, error) {
	return d.approvals, d.unseen
}

func (d *desk) Decide(_ context.Context, approval types.NamespacedName, verdict v1alpha1.ApprovalVerdict, comment string) error {
	if d.refuses == nil {
		d.decided = append(d.decided, fmt.Sprintf("%s %s %q", approval, verdict, comment))
	}
	return d.refuses
}

func (d *desk) Command(name string, endpoint types.NamespacedName, args ...string) string {
	return page.CommandLine(append(append([]string{"mcp-admin", name}, args...), "-n", endpoint.Namespace)...)
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (d *desk) open(t *testing.T) *pagetest.Browser {
	t.Helper()
	return openOver(t, d)
}

// openOver opens the page over a source.
func openOver(t *testing.T, s page.Source) *pagetest.Browser {
	t.Helper()
	p, err := page.New(page.Options{Source: s, Base: "/", Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return pagetest.Open(t, p.Link(server.URL))
}

// approvalOf is a call that waits since some minutes, and until an hour later.
func approvalOf(endpoint, name string, minutes int) v1alpha1.MCPApproval {
	asked := noon.Add(-time.Duration(minutes) * time.Minute)
	a := v1alpha1.MCPApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: endpoint + "-" + name, UID: types.UID(name), Generation: 1}}
	a.Spec.EndpointRef.Name = endpoint
	a.Spec.Request = v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: "shop", Name: "clerk"}, Subject: "carl", Tool: "update_order", Operation: "update", Model: "order", Rows: new(int64(2)),
		AskTime: metav1.NewTime(asked), ExpiryTime: metav1.NewTime(asked.Add(time.Hour)), Notice: "further changes are not shown",
		Policies: []v1alpha1.ApprovalAsker{{Name: "large", Description: "above the desk's limit", MinApprovals: 2, ApproverGroups: []string{"leads", "chiefs"}}, {Name: "many", MinApprovals: 1}},
		Changes: []v1alpha1.ApprovalChange{
			{Model: "order", Change: v1alpha1.ApprovalUpdates, Rows: 1, ID: "7", Fields: []v1alpha1.ApprovalField{{Name: "total", Before: "10", After: "700"}, {Name: "card"}}},
			{Model: "line", Change: v1alpha1.ApprovalDeletes, Rows: 3},
		},
	}
	a.Status = v1alpha1.MCPApprovalStatus{ObservedGeneration: 1, State: v1alpha1.ApprovalWaiting, Reason: "the customer waits"}
	return a
}

// ended is the same, denied.
func ended(a v1alpha1.MCPApproval) v1alpha1.MCPApproval {
	a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "bob", Decision: v1alpha1.VerdictDeny, Comment: "not this one"}}
	a.Status.State, a.Status.EndTime = v1alpha1.ApprovalDenied, &metav1.MicroTime{Time: noon}
	a.Status.Decisions = []v1alpha1.ApprovalDecisionStatus{{DecidedBy: "bob", Reason: v1alpha1.DecisionCounted}}
	a.Status.Conditions = []metav1.Condition{{Type: "Approved", Status: metav1.ConditionFalse, Message: "denied by bob"}, {Type: "Denied", Status: metav1.ConditionTrue, Message: "denied by bob"}}
	return a
}

const (
	first, second, third = "aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc"
	one                  = "e/shop/desk/approvals/desk-" + first
)

var tags = regexp.MustCompile(`<[^>]*>`)

// shows checks a screen's status and its text without tags, and returns all of it.
func shows(t *testing.T, b *pagetest.Browser, path string, code int, wants ...string) string {
	t.Helper()
	got, whole := b.Get(path)
	text := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(whole, " "))), " ")
	for _, want := range wants {
		if got != code || !strings.Contains(text, want) {
			t.Errorf("%s: %d, want %d, without %q:\n%s", path, got, code, want, text)
		}
	}
	return whole
}

func TestCallsThatWaitAreListedTheOldestFirst(t *testing.T) {
	d := &desk{approvals: []v1alpha1.MCPApproval{approvalOf("desk", first, 5), approvalOf("other", second, 10), ended(approvalOf("desk", third, 20))}}
	b := d.open(t)
	text := shows(t, b, "approvals", http.StatusOK, "2 calls wait for people.", "update order", "shop/clerk", "as carl", "the customer waits", "5m ago", "in 55m",
		"large: 2 approvals of people in leads or chiefs; many: 1 approval", "shop/other", "those that ended (1)", "Approvals 2 wait", "mcp-admin approvals")
	if strings.Index(text, second) > strings.Index(text, first) || strings.Contains(text, third) {
		t.Errorf("the order is wrong, or one that ended is there:\n%s", text)
	}
	shows(t, b, "", http.StatusOK, "Approvals 2 wait")
	text = shows(t, b, "e/shop/desk/approvals", http.StatusOK, "1 call waits for people.", "Approvals 1 waits")
	if strings.Contains(text, second) {
		t.Error("the endpoint's screen has a call of another endpoint")
	}
	text = shows(t, b, "approvals?show=ended", http.StatusOK, "Denied", "denied by bob", "--all")
	if strings.Contains(text, first) || !strings.Contains(text, third) {
		t.Errorf("those that ended are not they:\n%s", text)
	}
	d.unseen = page.Unseen{"other namespaces than shop"}
	shows(t, b, "approvals", http.StatusOK, "2 calls wait", "Not looked at: other namespaces than shop")
	d.approvals = nil
	shows(t, b, "approvals", http.StatusOK, "No call waits for an approval, as far as could be looked at.")
	d.unseen = errors.New("the API server does not answer")
	shows(t, b, "approvals", http.StatusBadGateway, "The API server does not answer.")
	shows(t, b, "", http.StatusOK, "There is no MCPEndpoint here.")
}

func TestOneApprovalShowsAllThatSomebodyWhoDecidesHasToKnow(t *testing.T) {
	a := approvalOf("desk", first, 5)
	a.Spec.Decisions = []v1alpha1.ApprovalDecision{
		{DecidedBy: "lea", Decision: v1alpha1.VerdictApprove, Groups: []string{"leads"}, Comment: "looks right"},
		{DecidedBy: "max", Decision: v1alpha1.VerdictApprove}, {DecidedBy: "new", Decision: v1alpha1.VerdictApprove},
	}
	a.Generation = 4
	a.Status.Decisions = []v1alpha1.ApprovalDecisionStatus{{DecidedBy: "lea", Reason: v1alpha1.DecisionCounted}, {DecidedBy: "max", Reason: v1alpha1.DecisionNotAnApprover}}
	a.Status.Conditions = []metav1.Condition{{Type: "Approved", Status: metav1.ConditionFalse, Message: "policy large has 1 of 2 approvals of people in leads or chiefs"}}
	d := &desk{approvals: []v1alpha1.MCPApproval{a, ended(approvalOf("desk", third, 20))}}
	b := d.open(t)
	text := shows(t, b, one, http.StatusOK, "Waiting : policy large has 1 of 2 approvals", "expires in 55m", "The manager has not looked at it yet", "MCPToken shop/clerk , as carl", "update_order",
		"2026-01-01 11:55:00 UTC", "2026-01-01 12:55:00 UTC", "the customer waits", "The agent's own text",
		"update order 7 Field Before After total 10 700 card not shown not shown", "delete line: 3 rows", "Further changes are not shown.",
		"large above the desk's limit leads or chiefs 2 1 1 approval of people in leads or chiefs", "many any group 1 1 nothing",
		"lea Approve looks right yes", "max Approve – no: in none of the groups", "new Approve – not looked at yet", "Allow", "Deny", "Override…", "own name, and cannot be changed",
		"mcp-admin approve desk-"+first+" --comment why -n shop", "mcp-admin deny desk-"+first)
	if !strings.Contains(text, `data-refresh`) {
		t.Error("the screen does not wait for the manager")
	}
	shows(t, b, "e/shop/desk/approvals/"+first, http.StatusOK, "the customer waits") // by the name that the agent knows
	text = shows(t, b, "e/shop/desk/approvals/desk-"+third, http.StatusOK, "Denied", "bob Deny not this one yes", "Ended 2026-01-01 12:00:00 UTC")
	if strings.Contains(text, "<form") || strings.Contains(text, "Override") {
		t.Error("a call that ended can be decided about")
	}
	shows(t, b, "e/shop/other/approvals/desk-"+first, http.StatusNotFound, "There is no such MCPApproval here.")
	shows(t, b, "e/shop/desk/approvals/desk-"+second, http.StatusNotFound, "There is no such MCPApproval here.")
}

var seen = regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`)

// send fills in the form of a screen as it was loaded, and sends it.
func send(b *pagetest.Browser, loaded, path string, values url.Values) (int, string) {
	for _, field := range seen.FindAllStringSubmatch(loaded, -1) {
		if !values.Has(field[1]) {
			values.Set(field[1], field[2])
		}
	}
	code, text := b.Send(path, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
	return code, html.UnescapeString(text)
}

func TestADecisionIsOneOfThePersonAboutWhatTheySaw(t *testing.T) {
	d := &desk{approvals: []v1alpha1.MCPApproval{approvalOf("desk", first, 5)}}
	b := d.open(t)
	_, loaded := b.Get(one)
	refused := func(code int, want, path string, values url.Values) {
		t.Helper()
		if got, text := send(b, loaded, path, values); got != code || !strings.Contains(text, want) || len(d.decided) > 0 {
			t.Errorf("%s with %v: %d, want %d, or without %q; decided %q\n%s", path, values, got, code, want, d.decided, text)
		}
	}
	refused(http.StatusForbidden, "not sent from this page", one, url.Values{"verdict": {"Approve"}, "form": {"wrong"}})
	refused(http.StatusBadGateway, "Choose Allow or Deny", one, url.Values{"verdict": {"Override"}, "comment": {"now"}})
	refused(http.StatusBadGateway, "Choose Allow or Deny", one, url.Values{})
	refused(http.StatusConflict, "since you loaded the page", one, url.Values{"verdict": {"Approve"}, "seen": {""}})
	refused(http.StatusConflict, "needs a comment", one+"/override", url.Values{"comment": {" \r\n"}})
	for what, change := range map[string]func(*v1alpha1.MCPApproval){
		"another decision": func(a *v1alpha1.MCPApproval) {
			a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "bob", Decision: v1alpha1.VerdictApprove}}
		},
		"another reason": func(a *v1alpha1.MCPApproval) { a.Status.Reason = "another" },
		"another call":   func(a *v1alpha1.MCPApproval) { a.UID, a.Spec.Request.Changes[0].Fields[0].After = "another", "7000" },
		"another state":  func(a *v1alpha1.MCPApproval) { a.Status.State = v1alpha1.ApprovalApproved },
	} {
		d.approvals = []v1alpha1.MCPApproval{approvalOf("desk", first, 5)}
		change(&d.approvals[0])
		t.Log(what)
		refused(http.StatusConflict, "since you loaded the page. Nothing was decided.", one, url.Values{"verdict": {"Deny"}})
		refused(http.StatusConflict, "Look at it again", one+"/override", url.Values{"comment": {"now"}})
	}
	d.approvals = []v1alpha1.MCPApproval{ended(approvalOf("desk", first, 5))}
	refused(http.StatusConflict, "waits no more: it is Denied. Nothing was decided.", one, url.Values{"verdict": {"Approve"}})
	d.approvals = []v1alpha1.MCPApproval{approvalOf("desk", first, 61)}
	secret := seen.FindStringSubmatch(loaded)[2]
	_, loaded = b.Get(one)
	refused(http.StatusConflict, "since you loaded the page", one, url.Values{"verdict": {"Approve"}, "form": {secret}})
	if strings.Contains(loaded, `name="verdict"`) || !strings.Contains(loaded, "has expired, at 2026-01-01T11:59:00Z; the agent has to ask again") {
		t.Error("a call that has expired can be allowed")
	}
	d.approvals, d.refuses = []v1alpha1.MCPApproval{approvalOf("desk", first, 5)}, errors.New("somebody was faster")
	_, loaded = b.Get(one)
	refused(http.StatusConflict, "Somebody was faster. Nothing was decided.", one, url.Values{"verdict": {"Approve"}})
	d.refuses = nil
	for _, values := range []url.Values{{"verdict": {"Approve"}, "comment": {" go on\r\nnow "}}, {"verdict": {"Deny"}}} {
		if code, text := send(b, loaded, one, values); code != http.StatusOK || !strings.Contains(text, "Approval desk-"+first) {
			t.Errorf("%d %s", code, text)
		}
	}
	_, loaded = b.Get(one + "/override")
	if !strings.Contains(loaded, "required") || !strings.Contains(loaded, "You alone allow") {
		t.Errorf("the screen does not say what it means:\n%s", loaded)
	}
	send(b, loaded, one+"/override", url.Values{"comment": {"outage"}})
	if got, want := strings.Join(d.decided, "; "), fmt.Sprintf(`shop/desk-%[1]s Approve "go on\nnow"; shop/desk-%[1]s Deny ""; shop/desk-%[1]s Override "outage"`, first); got != want {
		t.Errorf("decided %s, want %s", got, want)
	}
}

func TestACallThatIsAllowedCanStillBeDenied(t *testing.T) {
	a := approvalOf("desk", first, 5)
	a.Status.State = v1alpha1.ApprovalApproved
	b := (&desk{approvals: []v1alpha1.MCPApproval{a}}).open(t)
	text := shows(t, b, "approvals", http.StatusOK, "No call waits for an approval. 1 is allowed, and has not run yet.")
	if strings.Contains(text, "badge") {
		t.Error("a call that needs nobody is counted")
	}
	if text = shows(t, b, one, http.StatusOK, "Deny"); strings.Contains(text, `value="Approve"`) || strings.Contains(text, "Override") {
		t.Error("a call that is allowed can be allowed")
	}
	if text = shows(t, b, one+"/override", http.StatusOK, "needs no approval more"); strings.Contains(text, "<form") {
		t.Error("a call that is allowed can be overridden")
	}
}

// hostile is put into each text of an approval. The second text turns the direction of what follows.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'{{.}} javascript:alert(1) https://evil.example/ ` + "\u202e"

// poison puts a text before each text of a value, as deep as it goes.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text + v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() || v.Type() == reflect.TypeFor[metav1.MicroTime]() {
			return
		}
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	}
}

func TestNoTextOfAnApprovalDoesAnything(t *testing.T) {
	full := func() v1alpha1.MCPApproval {
		a := ended(approvalOf("desk", first, 5))
		a.Status.Call, a.Status.SupersededBy = "call", "desk-"+second
		return a
	}
	waiting, past := full(), full()
	for _, a := range []*v1alpha1.MCPApproval{&waiting, &past} {
		poison(reflect.ValueOf(&a.Spec.Request).Elem(), hostile)
		poison(reflect.ValueOf(&a.Spec.Decisions).Elem(), hostile)
		poison(reflect.ValueOf(&a.Status).Elem(), hostile)
	}
	past.Name, past.Status.State = "desk-"+third, v1alpha1.ApprovalSuperseded
	waiting.Status.State, waiting.Status.EndTime = v1alpha1.ApprovalWaiting, nil
	d := &desk{approvals: []v1alpha1.MCPApproval{waiting, past}, refuses: errors.New(hostile)}
	b := d.open(t)
	link := regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	clean := func(path, text string) {
		t.Helper()
		if n := strings.Count(text, "&lt;script&gt;alert(1)"); n == 0 {
			t.Errorf("%s shows no such text:\n%s", path, text)
		}
		for _, bad := range []string{"<script>alert", "<img", `"'{{`, "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q:\n%s", path, bad, text)
			}
		}
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			if to[1] != "" && !strings.HasPrefix(to[1], "/") && !strings.HasPrefix(to[1], "#") && !strings.HasPrefix(to[1], "?") {
				t.Errorf("%s leads to %s", path, to[1])
			}
		}
	}
	for _, path := range []string{"approvals", "approvals?show=ended", "e/shop/desk/approvals", one, one + "/override", "e/shop/desk/approvals/desk-" + third} {
		code, text := b.Get(path)
		if code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
		clean(path, text)
	}
	_, loaded := b.Get(one)
	if got := strings.Count(loaded, "&lt;script&gt;alert(1)"); got < 25 {
		t.Errorf("the approval shows %d of its texts", got)
	}
	if strings.Count(loaded, `class="said"`) != 1 {
		t.Error("the agent's reason is not marked as its own")
	}
	values := url.Values{"verdict": {"Deny"}}
	for _, field := range seen.FindAllStringSubmatch(loaded, -1) {
		values.Set(field[1], field[2])
	}
	_, text := b.Send(one, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
	clean("the refusal", text)
}

// What somebody decides about is shown whole: the longest texts that an MCPApproval can have.
func TestWhatSomebodyDecidesAboutIsNotCutOff(t *testing.T) {
	a := approvalOf("desk", first, 5)
	r := &a.Spec.Request
	a.Status.Reason, r.Subject, r.Tool = strings.Repeat("r", 499)+"1", strings.Repeat("s", 1023)+"2", strings.Repeat("t", 127)+"3"
	r.Changes[0].ID = strings.Repeat("i", 299) + "4"
	r.Changes[0].Fields[0] = v1alpha1.ApprovalField{Name: strings.Repeat("n", 127) + "5", Before: strings.Repeat("b", 1299) + "6", After: strings.Repeat("a", 1299) + "7"}
	r.Notice, r.Policies[0].ApproverGroups = strings.Repeat("o", 499)+"8", []string{strings.Repeat("g", 252) + "9"}
	shows(t, (&desk{approvals: []v1alpha1.MCPApproval{a}}).open(t), one, http.StatusOK, "rr1", "ss2", "tt3", "ii4", "nn5", "bb6", "aa7", "oo8", "gg9")
}
