package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// notifying gives a policy a webhook.
func notifying(p *contract.ApprovalPolicy, url string, states ...string) {
	p.Notify = &contract.ApprovalNotify{Webhook: contract.Webhook{URL: url}, States: states, PageURL: "https://mcp.example.com/"}
}

// toldTo are the ids of the events to a URL, without the approval's name.
func (l *library) toldTo(url, name string) (ids []string) {
	l.t.Helper()
	for _, sent := range l.events {
		text, ok := strings.CutPrefix(sent, url+" ")
		if !ok {
			continue
		}
		var e struct{ ID, Type string }
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			l.t.Fatal(err)
		}
		state := strings.TrimPrefix(e.ID, "library-"+name+"-")
		if kind, _, _ := strings.Cut(state, "-"); e.Type != "dev.mcpadmin.approval."+kind {
			l.t.Errorf("the event %s is of the type %s", e.ID, e.Type)
		}
		ids = append(ids, state)
	}
	return ids
}

var everyState = []string{"Waiting", "Approved", "Denied", "Expired", "Executed", "Withdrawn", "Superseded"}

func TestWebhooksAreToldOfCallsThatWait(t *testing.T) {
	l := newLibrary(t, approving(
		policy("changes", func(p *contract.ApprovalPolicy) { notifying(p, "https://a.example", everyState...) }),
		policy("books", func(p *contract.ApprovalPolicy) {
			p.Models = []string{"book"}
			notifying(p, "https://a.example", everyState...)
		}),
		policy("prices", func(p *contract.ApprovalPolicy) {
			p.When.Changes = []string{"price"}
			notifying(p, "https://b.example", "Waiting")
		}),
		policy("silent", func(*contract.ApprovalPolicy) {}),
	))
	const raise = `{"id":1,"data":{"price":"600.00"},"approval_reason":"a new\nedition"}`
	name := l.waits(ownerText, "update_book", raise)
	l.waits(ownerText, "update_book", raise)
	var e map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(l.events[0], "https://a.example ")), &e); err != nil {
		t.Fatal(err)
	}
	data, _ := e["data"].(map[string]any)
	if e["specversion"] != "1.0" || e["subject"] != "library-"+name || e["source"] != "/namespaces/shop/mcpendpoints/library" || e["time"] == "" ||
		data["approval"] != "library-"+name || data["token"] != "shop/owner" || data["operation"] != "update" || data["model"] != "book" || data["rows"] != 1.0 ||
		data["reason"] != "a new edition" || data["state"] != "Waiting" || data["expires"] == nil ||
		data["url"] != "https://mcp.example.com/e/shop/library/approvals/library-"+name {
		t.Errorf("the event is %s", l.events[0])
	}
	if strings.Contains(strings.Join(l.events, " "), "600") {
		t.Errorf("an event tells a value: %s", l.events)
	}
	l.decide(name, contract.ApprovalApproved, "")
	l.decide(name, contract.ApprovalApproved, "")
	l.must(ownerText, "update_book", raise)
	if got := l.toldTo("https://a.example", name); !slices.Equal(got, []string{"waiting", "approved", "executed"}) {
		t.Errorf("the webhook of two policies was told %v", got)
	}
	if got := l.toldTo("https://b.example", name); !slices.Equal(got, []string{"waiting"}) {
		t.Errorf("the webhook that asks for one state was told %v", got)
	}
}

// A receiver drops doubles by their id, and must not take the same call, asked for again, as one.
func TestEventsOfACallThatIsAskedForAgainAreNoDoubles(t *testing.T) {
	l := newLibrary(t, approving(policy("deletions", func(p *contract.ApprovalPolicy) { notifying(p, "https://a.example", everyState...) })))
	const remove = `{"id":3}`
	name := l.waits(ownerText, "delete_shelf", remove)
	l.must(ownerText, "approvals", `{"approval":"`+name+`","withdraw":true}`)
	l.waits(ownerText, "delete_shelf", remove)
	l.decide(name, contract.ApprovalExpired, "")
	l.call(ownerText, "delete_shelf", remove)
	l.waits(ownerText, "delete_shelf", remove)
	got := l.toldTo("https://a.example", name)
	var states []string
	for _, id := range got {
		state, _, _ := strings.Cut(id, "-")
		states = append(states, state)
	}
	if want := []string{"waiting", "withdrawn", "waiting", "expired", "waiting"}; !slices.Equal(states, want) {
		t.Errorf("told are %v, want %v", states, want)
	}
	slices.Sort(got)
	if unique := slices.Compact(slices.Clone(got)); len(unique) != len(got) {
		t.Errorf("two events have one id: %v", got)
	}
	l.events = nil
	other := l.waits(ownerText, "delete_shelf", `{"id":2}`)
	l.decide(other, contract.ApprovalDenied, "")
	l.call(ownerText, "delete_shelf", `{"id":2}`)
	if got := l.toldTo("https://a.example", other); !slices.Equal(got, []string{"waiting", "denied"}) {
		t.Errorf("told are %v", got)
	}
}

// The pod keeps the values of a call that waits for people who come for them, however little the policy has shown, and only while it waits.
func TestValuesOfACallAreKeptWhileItWaits(t *testing.T) {
	l := newLibrary(t, approving(policy("authors", func(p *contract.ApprovalPolicy) { p.Models, p.Show = []string{"author"}, contract.ShowCounts })),
		on("author", func(m *contract.Model) { m.Masked = []contract.MaskedField{{Name: "name"}} }))
	const add = `{"data":{"branch":"east","name":"hush"}}`
	name := l.waits(ownerText, "create_author", add)
	var values contract.ApprovalValues
	if err := json.Unmarshal(l.waiting.Values(name, time.Now()), &values); err != nil || len(values.Changes) != 1 {
		t.Fatalf("kept is %s, %v", l.waiting.Values(name, time.Now()), err)
	}
	change := values.Changes[0]
	if string(change.After["branch"]) != `"east"` || change.After["name"] != nil || !slices.Contains(change.Fields, "name") || values.Digest != l.told(name).Digest {
		t.Errorf("kept is %+v", values)
	}
	if text := string(l.waiting.Values(name, time.Now())); strings.Contains(text, "hush") {
		t.Errorf("a masked value is kept: %s", text)
	}
	if told := l.told(name).Changes[0]; told.After != nil {
		t.Errorf("the manager is told values: %+v", told)
	}
	if l.waiting.Values(name, time.Now().Add(2*time.Hour)) != nil || l.waiting.Values("another", time.Now()) != nil {
		t.Error("values are shown of a call that has expired, or of none")
	}
	l.decide(name, contract.ApprovalApproved, "")
	l.must(ownerText, "create_author", add)
	if l.waiting.Values(name, time.Now()) != nil {
		t.Error("values are kept after the call ran")
	}
}

// What is too long to be kept is told without values, and what all calls may keep is bounded.
func TestValuesThatAreKeptAreBounded(t *testing.T) {
	l := newLibrary(t, approving(policy("all", func(p *contract.ApprovalPolicy) { p.Show = contract.ShowCounts })),
		on("author", func(m *contract.Model) { m.MaxBulkItems = 100 }))
	var items []string
	for range 60 {
		items = append(items, `{"data":{"name":"somebody"}}`)
	}
	name := l.waits(ownerText, "bulk_author", `{"operation":"create","items":[`+strings.Join(items, ",")+`]}`)
	if text := string(l.waiting.Values(name, time.Now())); strings.Contains(text, "somebody") || !strings.Contains(text, "they are counted") {
		t.Errorf("of 60 rows is kept: %s", text)
	}
}

// A task ends as the call itself does.
func TestWebhooksAreToldOfTheEndOfTasks(t *testing.T) {
	for name, end := range map[string]func(l *library, caller, approval string){
		"withdrawn": func(l *library, caller, approval string) { l.waiting.CancelTask(caller, approval, time.Now()) },
		"denied":    func(l *library, _, approval string) { l.decide(approval, contract.ApprovalDenied, "") },
		"expired": func(l *library, caller, approval string) {
			l.decide(approval, contract.ApprovalExpired, "")
			l.waiting.Task(caller, approval, time.Now())
		},
	} {
		l := newLibrary(t, approving(policy("deletions", func(p *contract.ApprovalPolicy) { notifying(p, "https://a.example", everyState...) })))
		approval := l.waits(ownerText, "delete_shelf", `{"id":3}`)
		caller := l.told(approval).Caller
		if _, held := l.waiting.HoldTask(caller, approval, call.TaskCall{Tool: "delete_shelf", Arguments: []byte(`{"id":3}`)}, time.Now()); !held {
			t.Fatal("the call is no task")
		}
		end(l, caller, approval)
		if got := l.toldTo("https://a.example", approval); !slices.Equal(got, []string{"waiting", name}) {
			t.Errorf("told is %v, want waiting and %s", got, name)
		}
	}
}
