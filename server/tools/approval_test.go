package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// policy is a policy of tests: everything that is not given is any.
func policy(name string, change func(*contract.ApprovalPolicy)) contract.ApprovalPolicy {
	p := contract.ApprovalPolicy{Name: name, MinApprovals: 1, ExpiresAfter: contract.Duration(time.Hour), Show: contract.ShowValues}
	change(&p)
	p.Sum = name + " 1"
	return p
}

// approving makes a library with policies.
func approving(policies ...contract.ApprovalPolicy) func(*contract.Config) {
	return func(c *contract.Config) {
		withAnswers(c)
		c.Endpoint.Namespace, c.Endpoint.Name, c.Endpoint.Approvals = "shop", "library", policies
	}
}

// waits is the approval of a call that has to wait.
func (l *library) waits(token, tool, arguments string) string {
	l.t.Helper()
	r := l.call(token, tool, arguments)
	if r.IsError || value(r, "code") != "approval_required" {
		l.t.Fatalf("%s %s does not wait: %s (%v)", tool, arguments, r.Text, r.Cause)
	}
	return value(r, "approval")
}

// decide decides about what waits, as the operator's manager does.
func (l *library) decide(name, state, comment string) {
	l.t.Helper()
	decisions := map[string]*contract.Decision{}
	for _, a := range l.waiting.Page("").Approvals {
		if a.Name == name {
			decisions[a.Digest] = &contract.Decision{Name: a.Name, Digest: a.Digest, Caller: a.Caller, Tool: a.Tool, State: state,
				By: []string{"ana"}, Comment: comment, Expires: a.Asked.Add(time.Hour)}
		}
	}
	if len(decisions) != 1 {
		l.t.Fatalf("nothing waits as %s", name)
	}
	l.waiting.Decide(decisions)
}

// told is what the manager is told of an approval.
func (l *library) told(name string) contract.Approval {
	l.t.Helper()
	cursor, more := "", true
	for more {
		page := l.waiting.Page(cursor)
		for _, a := range page.Approvals {
			if a.Name == name {
				return a
			}
		}
		cursor, more = page.Cursor, page.More
	}
	l.t.Fatalf("nobody is told of %s", name)
	return contract.Approval{}
}

func TestACallWaitsUntilItIsAllowed(t *testing.T) {
	expensive := policy("expensive", func(p *contract.ApprovalPolicy) {
		p.Models, p.Operations, p.When.After = []string{"book"}, []string{"update"}, json.RawMessage(`{"price__gt":"500"}`)
	})
	onLibraries(t, func(t *testing.T, l *library) {
		const raise = `{"id":1,"data":{"price":"600.00"}}`
		l.must(ownerText, "update_book", `{"id":1,"data":{"price":"400.00"}}`)

		name := l.waits(ownerText, "update_book", raise)
		if got := l.must(ownerText, "get_book", `{"id":1}`)["price"]; got != "400.00" {
			t.Fatalf("the price is %v while the call waits", got)
		}
		if again := l.waits(ownerText, "update", `{"data":{"price":"600.00"}, "id":1,"model":"book"}`); again != name {
			t.Errorf("the same call waits as %s and as %s", name, again)
		}
		if other := l.waits(clerkText, "update_book", raise); other == name {
			t.Error("another token's call waits as the same")
		}
		told := l.told(name)
		if told.Rows != 1 || told.Caller != "shop/owner" || told.Operation != "update" || !slices.Equal(told.Policies, []string{"expensive"}) {
			t.Errorf("the manager is told %+v", told)
		}
		if got := string(told.Changes[0].Before["price"]) + string(told.Changes[0].After["price"]); got != `"400.00""600.00"` {
			t.Errorf("shown are the prices %s", got)
		}

		l.decide(name, contract.ApprovalApproved, "fine")
		done := l.must(ownerText, "update_book", raise)
		if l.must(ownerText, "get_book", `{"id":1}`)["price"] != "600.00" || done["success"] != true {
			t.Errorf("an allowed call did not happen: %v", done)
		}
		if got := l.told(name); got.State != contract.ApprovalExecuted || got.Call != done["call"] {
			t.Errorf("the manager is told %+v", got)
		}
		if l.plain != nil {
			want := "; allowed by ana (" + name + "): fine"
			if got := l.one(`SELECT message FROM mcp_audit ORDER BY id DESC LIMIT 1`); !strings.HasSuffix(got, want) {
				t.Errorf("the journal has %q, want %q", got, want)
			}
		}
		if want := `"approval":"` + name + `","allowed_by":["ana"]`; !strings.Contains(l.log.String(), want) {
			t.Errorf("the audit has no %s:\n%s", want, l.log)
		}
		// It has happened once. The same again is another change by now, or none.
		if again := l.waits(ownerText, "update_book", raise); again == name {
			t.Error("an approval that was used is good again")
		}
	}, approving(expensive))
}

func TestACallThatIsDeniedDoesNotHappen(t *testing.T) {
	l := newLibrary(t, approving(policy("deletions", func(p *contract.ApprovalPolicy) { p.Operations = []string{"delete"} })))
	name := l.waits(ownerText, "delete_shelf", `{"id":3}`)
	l.decide(name, contract.ApprovalDenied, "we need it")
	r := l.call(ownerText, "delete_shelf", `{"id":3}`)
	if r.Code != call.CodeApprovalDenied || !strings.Contains(r.Message, "we need it") {
		t.Errorf("%s", r.Text)
	}
	l.waiting.Decide(nil)
	if again := l.waits(ownerText, "delete_shelf", `{"id":3}`); again != name || l.told(name).State != contract.ApprovalWaiting {
		t.Errorf("asked anew, it waits as %s, and the manager is told %+v", again, l.told(again))
	}
	l.decide(name, contract.ApprovalExpired, "")
	if r := l.call(ownerText, "delete_shelf", `{"id":3}`); r.Code != call.CodeApprovalDenied || !strings.Contains(r.Message, "nobody allowed this call in time") {
		t.Errorf("%s", r.Text)
	}
	if again := l.waits(ownerText, "delete_shelf", `{"id":3}`); again != name || l.told(name).State != contract.ApprovalWaiting {
		t.Errorf("asked anew after it expired, it waits as %s, and the manager is told %+v", again, l.told(again))
	}
	if listed := l.must(ownerText, "approvals", `{"approval":"`+name+`"}`); !strings.Contains(fmt.Sprint(listed), "state:Waiting") {
		t.Errorf("asked anew, it is told as %v", listed)
	}
	l.must(ownerText, "approvals", `{"approval":"`+name+`","withdraw":true}`)
}

// What a policy names holds back calls by every tool that would do the same, and no others.
func TestNoOtherToolGetsAround(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(*contract.ApprovalPolicy)
		waits, runs []string
	}{
		{
			"deletions of chapters", func(p *contract.ApprovalPolicy) { p.Models, p.Operations = []string{"chapter"}, []string{"delete"} },
			[]string{
				`delete_chapter {"id":1}`, `delete_book {"id":2}`, `bulk_chapter {"operation":"delete","items":[1]}`,
				`action_chapter {"action":"delete_selected","ids":[1],"confirm":true}`,
				`transact {"steps":[{"tool":"update_author","arguments":{"id":1,"data":{"name":"F"}}},{"tool":"delete_chapter","arguments":{"id":1}}]}`,
				`update_book {"id":1,"inlines":{"chapter":[{"id":1,"_delete":true}]}}`,
			},
			[]string{`update_chapter {"id":1,"data":{"title":"T"}}`, `delete_shelf {"id":3}`, `delete_chapter {"id":1,"dry_run":true}`},
		},
		{
			"more than two rows", func(p *contract.ApprovalPolicy) { two := 2; p.When.Rows = &two },
			[]string{`delete_shelf {"id":1}`, `bulk_author {"operation":"create","items":[{"data":{"name":"A"}},{"data":{"name":"B"}},{"data":{"name":"C"}}]}`},
			[]string{`bulk_author {"operation":"create","items":[{"data":{"name":"A"}},{"data":{"name":"B"}},{"data":{}}]}`, `delete_shelf {"id":3}`},
		},
		{
			"a field", func(p *contract.ApprovalPolicy) { p.Models, p.When.Changes = []string{"author"}, []string{"branch"} },
			[]string{`update_author {"id":1,"data":{"branch":"east"}}`, `create_author {"data":{"name":"N"}}`},
			[]string{`update_author {"id":1,"data":{"name":"Frank","branch":"north"}}`},
		},
		{
			"rows as they were", func(p *contract.ApprovalPolicy) {
				p.Models, p.When.Before = []string{"book"}, json.RawMessage(`{"author__branch":"south"}`)
			},
			[]string{`update_book {"id":2,"data":{"title":"E"}}`, `delete_book {"id":2}`, `bulk_book {"operation":"update","items":[{"id":1,"data":{"title":"D"}},{"id":2,"data":{"title":"E"}}]}`},
			[]string{`update_book {"id":1,"data":{"title":"D"}}`, `create_book {"data":{"title":"N","author_id":2}}`, `update_book {"id":2,"data":{"title":"E"},"dry_run":true}`},
		},
		{
			"transact", func(p *contract.ApprovalPolicy) { p.Operations = []string{"transact"} },
			[]string{`transact {"steps":[{"tool":"update_author","arguments":{"id":1,"data":{"name":"F"}}}]}`},
			[]string{`update_author {"id":1,"data":{"name":"F"}}`},
		},
		{
			"bulk", func(p *contract.ApprovalPolicy) { p.Operations = []string{"bulk"} },
			[]string{
				`bulk_author {"operation":"create","items":[{"data":{"name":"A"}}]}`,
				`transact {"steps":[{"tool":"bulk_author","arguments":{"operation":"create","items":[{"data":{"name":"A"}}]}}]}`,
			},
			[]string{`create_author {"data":{"name":"N"}}`, `find_models {}`, `approvals {}`},
		},
		{
			"an action that is not there", func(p *contract.ApprovalPolicy) {
				p.Operations, p.Problem = []string{"action:delete_selectet"}, "none of the models has an action"
			},
			[]string{`action_chapter {"action":"delete_selected","ids":[1],"confirm":true}`}, []string{`delete_chapter {"id":1}`},
		},
		{
			"tools without a model", func(p *contract.ApprovalPolicy) {
				p.Models, p.Operations = []string{"book"}, []string{"update", "export", "report"}
			},
			nil, []string{`find_models {}`, `approvals {}`, `list_book {}`},
		},
		{
			"other tokens", func(p *contract.ApprovalPolicy) { p.Tokens = []string{"shop/clerk"} },
			nil, []string{`update_author {"id":1,"data":{"name":"F"}}`},
		},
		{
			"a model that is not there", func(p *contract.ApprovalPolicy) {
				p.Models, p.Operations, p.Problem = []string{"boook"}, []string{"update"}, "no exposure has the model boook"
			},
			[]string{`update_author {"id":1,"data":{"name":"F"}}`}, []string{`delete_shelf {"id":3}`},
		},
		{
			"a field that is not there", func(p *contract.ApprovalPolicy) {
				p.Models, p.Operations, p.When.After = []string{"book"}, []string{"update"}, json.RawMessage(`{"prize__gt":1}`)
			},
			[]string{`update_author {"id":1,"data":{"name":"F"}}`, `update_book {"id":1,"data":{"title":"D"}}`}, []string{`delete_shelf {"id":3}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, waits := range c.waits {
				l := newLibrary(t, approving(policy("p", c.change)))
				tool, arguments, _ := strings.Cut(waits, " ")
				if strings.Contains(arguments, "delete_selected") { // its page comes first
					arguments = l.confirmed(tool, arguments)
				}
				name := l.waits(ownerText, tool, arguments)
				l.decide(name, contract.ApprovalApproved, "")
				l.must(ownerText, tool, arguments)
			}
			for _, runs := range c.runs {
				l := newLibrary(t, approving(policy("p", c.change)))
				tool, arguments, _ := strings.Cut(runs, " ")
				if r := l.call(ownerText, tool, arguments); r.IsError || value(r, "approval") != "" {
					t.Errorf("%s: %s (%v)", runs, r.Text, r.Cause)
				}
			}
		})
	}
}

// confirmed is an action's arguments with the token of its page.
func (l *library) confirmed(tool, arguments string) string {
	l.t.Helper()
	asked := l.must(ownerText, tool, strings.Replace(arguments, `,"confirm":true`, "", 1))
	return strings.TrimSuffix(arguments, "}") + `,"confirmation_token":"` + asked["confirmation_token"].(string) + `"}`
}

// Rows that change while a call waits make it another call.
func TestAnApprovalIsForTheRowsAsTheyWere(t *testing.T) {
	l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) { p.Models, p.Tokens = []string{"book"}, []string{"shop/owner"} })))
	const raise = `{"id":1,"data":{"title":"D"}}`
	first := l.waits(ownerText, "update_book", raise)
	l.decide(first, contract.ApprovalApproved, "")
	l.must(clerkText, "update_book", `{"id":2,"data":{"price":"3.00"}}`) // another row
	l.execute(`UPDATE book SET price = 7 WHERE id = 1`)
	r := l.call(ownerText, "update_book", raise)
	if r.Code != call.CodeConflict || value(r, "superseded") != first {
		t.Fatalf("%s", r.Text)
	}
	second := value(r, "approval")
	if got := l.told(first); got.State != contract.ApprovalSuperseded || got.By != second {
		t.Errorf("the manager is told %+v", got)
	}
	l.decide(second, contract.ApprovalApproved, "")
	l.must(ownerText, "update_book", raise)
}

// Creations get other keys each time. What is allowed happens once all the same, and again only with a new key.
func TestACreationHappensOnce(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		const create = `{"steps":[{"tool":"create_book","arguments":{"data":{"title":"N","author_id":2}}},{"tool":"create_chapter","arguments":{"data":{"book_id":{"_step":0,"path":"object.id"},"number":1,"title":"One"}}}]}`
		name := l.waits(ownerText, "transact", create)
		l.must(adderText, "create_book", `{"data":{"title":"Other","author_id":1}}`) // takes the next key
		l.decide(name, contract.ApprovalApproved, "")
		l.must(ownerText, "transact", create)
		if r := l.call(ownerText, "transact", create); r.Code != call.CodeConflict || !strings.Contains(r.Message, "idempotency_key") {
			t.Errorf("the second time: %s (%v)", r.Text, r.Cause)
		}
		withKey := strings.TrimSuffix(create, "}") + `,"idempotency_key":"again"}`
		second := l.waits(ownerText, "transact", withKey)
		if second == name {
			t.Fatal("a call with a new key waits as the one before")
		}
		l.decide(second, contract.ApprovalApproved, "")
		l.must(ownerText, "transact", withKey)
		if got := l.must(ownerText, "transact", withKey)["replayed"]; got != true {
			t.Error("a call with a key is not replayed")
		}
		if got := l.must(ownerText, "list_book", `{"filters":{"title":"N"}}`)["count"]; got != 2.0 {
			t.Errorf("there are %v books", got)
		}
	}, approving(policy("p", func(p *contract.ApprovalPolicy) { p.Tokens = []string{"shop/owner"} })))
}

func TestWhatWaitsIsToldToItsCaller(t *testing.T) {
	l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) { p.Description = "ask the lead" })))
	const del = `{"id":3,"approval_reason":"it is\tempty"}`
	name := l.waits(ownerText, "delete_shelf", del)
	if got := l.told(name).Reason; got != "it is empty" {
		t.Errorf("the reason is %q", got)
	}
	list := func(token, arguments string) string {
		t.Helper()
		text, _ := json.Marshal(l.must(token, "approvals", arguments)["approvals"])
		return string(text)
	}
	if got := list(ownerText, `{}`); !strings.Contains(got, name) || !strings.Contains(got, `"Waiting"`) {
		t.Errorf("the caller is told %s", got)
	}
	if got := list(clerkText, `{}`); got != "[]" {
		t.Errorf("another caller is told %s", got)
	}
	if r := l.call(clerkText, "approvals", `{"approval":"`+name+`","withdraw":true}`); r.Code != call.CodeNotFound {
		t.Errorf("another caller withdraws: %s", r.Text)
	}
	waited := make(chan string)
	go func() { waited <- list(ownerText, `{"approval":"`+name+`","wait":50}`) }()
	l.decide(name, contract.ApprovalApproved, "")
	if got := <-waited; !strings.Contains(got, `"Approved"`) || !strings.Contains(got, "it runs now") {
		t.Errorf("who waits is told %s", got)
	}
	other := l.waits(ownerText, "delete_shelf", `{"id":2}`)
	l.must(ownerText, "approvals", `{"approval":"`+other+`","withdraw":true}`)
	if got := l.told(other).State; got != contract.ApprovalWithdrawn {
		t.Errorf("a call that was withdrawn is %s", got)
	}
}

func TestRefusalsAboutApprovals(t *testing.T) {
	l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) { p.Operations = []string{"delete"} })))
	name := l.waits(ownerText, "delete_shelf", `{"id":3}`)
	for _, c := range []struct{ tool, arguments, want string }{
		{"approvals", `{"wait":51}`, "wait must be a number of seconds from 0 to 50"},
		{"approvals", `{"withdraw":true}`, "withdraw goes with approval"},
		{"approvals", `{"approval":"abc"}`, `knows no approval "abc" of yours; make the call itself again`},
		{"approvals", `{"approval":"abc","withdraw":true}`, `knows no approval "abc" of yours that waits`},
		{"delete_shelf", `{"id":2,"approval_reason":7}`, "approval_reason must be a string"},
		{"delete_shelf", `{"id":2,"approval_reason":"` + strings.Repeat("x", 501) + `"}`, "approval_reason must have at most 500 characters"},
	} {
		if r := l.call(ownerText, c.tool, c.arguments); !r.IsError || !strings.Contains(r.Message, c.want) {
			t.Errorf("%s %s: %s, want %q", c.tool, c.arguments, r.Text, c.want)
		}
	}
	l.decide(name, contract.ApprovalDenied, "")
	if r := l.call(ownerText, "approvals", `{"approval":"`+name+`","withdraw":true}`); r.Code != call.CodeConflict || !strings.Contains(r.Message, "waits no more") {
		t.Errorf("%s", r.Text)
	}
}

// Only so many calls of one caller wait. Those of others are not pushed out.
func TestABoundedNumberOfCallsWaits(t *testing.T) {
	l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) { p.Operations = []string{"create"} })))
	kept := l.waits(clerkText, "create_author", `{"data":{"name":"C"}}`)
	for i := range 100 {
		l.waits(ownerText, "create_author", fmt.Sprintf(`{"data":{"name":"N%d"}}`, i))
	}
	if r := l.call(ownerText, "create_author", `{"data":{"name":"one more"}}`); r.Code != call.CodeUnavailable || !strings.Contains(r.Message, "too many calls wait") {
		t.Errorf("%s", r.Text)
	}
	if l.told(kept).State != contract.ApprovalWaiting || l.waits(clerkText, "create_author", `{"data":{"name":"D"}}`) == "" {
		t.Error("another caller's call waits no more")
	}
}

// Without a table that says what was used, nothing that needs an approval happens.
func TestApprovalsNeedTheirTable(t *testing.T) {
	l := newLibrary(t, func(c *contract.Config) {
		c.Endpoint.Approvals = []contract.ApprovalPolicy{policy("p", func(p *contract.ApprovalPolicy) { p.Operations = []string{"delete"} })}
	})
	if r := l.call(ownerText, "delete_shelf", `{"id":3}`); r.Code != call.CodeUnavailable || !strings.Contains(r.Message, "needs an approval") {
		t.Errorf("%s", r.Text)
	}
	l.must(ownerText, "update_shelf", `{"id":3,"data":{"name":"F"}}`)
}
