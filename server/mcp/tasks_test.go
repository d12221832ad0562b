package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// approving holds each change of a book back until other people allow it.
func approving(c *contract.Config) {
	c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
	c.Endpoint.Approvals = []contract.ApprovalPolicy{{Name: "books", Sum: "1", Models: []string{"book"}, MinApprovals: 1, ExpiresAfter: contract.Duration(time.Hour)}}
}

// decide decides about what waits, as the operator's manager does.
func (e *endpoint) decide(t *testing.T, name, state string) {
	t.Helper()
	for _, a := range e.waiting.Page("").Approvals {
		if a.Name == name {
			e.waiting.Decide(map[string]*contract.Decision{a.Digest: {Name: a.Name, Digest: a.Digest, Caller: a.Caller, Tool: a.Tool, State: state,
				By: []string{"ana"}, Comment: "because", Expires: now.Add(e.later + time.Hour)}})
			return
		}
	}
	t.Fatalf("nothing waits as %s", name)
}

const retitle = `{"id":1,"data":{"title":"Another"}}`

// held is the id of the task that a call becomes.
func (c client) held(tool, arguments string, further ...string) string {
	c.t.Helper()
	r := c.call(tool, arguments, further...)
	if r.Result.ResultType != "task" || r.Result.TaskID == "" || r.Result.Status != "working" || r.Result.Result != nil || len(r.Result.Content) > 0 {
		c.t.Fatalf("%s %s is answered %s, want a task", tool, arguments, r.text)
	}
	return r.Result.TaskID
}

func (c client) task(method, id string, further ...string) reply {
	c.t.Helper()
	return c.send(method, strings.Join(append([]string{`"taskId":` + quote(id)}, further...), ","))
}

// title is that of the first book.
func (c client) title() string {
	c.t.Helper()
	var book struct{ Title string }
	if err := json.Unmarshal([]byte(c.call("get_book", `{"id":1}`).Result.Content[0].Text), &book); err != nil {
		c.t.Fatal(err)
	}
	return book.Title
}

// result is the text of a task's result.
func (r reply) result() string {
	if r.Result.Result == nil || len(r.Result.Result.Content) != 1 {
		return "no result"
	}
	return r.Result.Result.Content[0].Text
}

func TestACallThatWaitsIsATask(t *testing.T) {
	e := newEndpoint(t, writing(approving))
	c := client{t, e, writerToken, tasks}
	id := c.held("update_book", retitle)
	if page := e.waiting.Page("").Approvals; len(page) != 1 || page[0].Name != id {
		t.Fatalf("the task is %s, and people are asked about %+v", id, page)
	}
	if again := c.held("update_book", retitle); again != id {
		t.Errorf("the same call waits as %s and as %s", id, again)
	}
	r := c.task("tasks/get", id)
	if r.Result.ResultType != "complete" || r.Result.TaskID != id || r.Result.Status != "working" || r.Result.Result != nil ||
		r.Result.CreatedAt != "2026-01-02T03:04:05Z" || r.Result.TTLMs != 3_600_000 || r.Result.PollIntervalMs <= 0 || !strings.Contains(r.Result.StatusMessage, "(books)") {
		t.Errorf("waiting, it is told as %s", r.text)
	}
	if got := c.title(); got != "The Dispossessed" {
		t.Fatalf("the title is %s while the call waits", got)
	}

	e.decide(t, id, contract.ApprovalApproved)
	if got := c.title(); got != "The Dispossessed" {
		t.Fatalf("the title is %s before its caller asks for the task", got)
	}
	done := c.task("tasks/get", id)
	if done.Result.Status != "completed" || !strings.Contains(done.result(), `"success":true`) || c.title() != "Another" {
		t.Errorf("allowed, it is told as %s", done.text)
	}
	if again := c.task("tasks/get", id); again.Result.Status != "completed" || again.result() != done.result() {
		t.Errorf("asked for again, it is told as %s", again.text)
	}
	if page := e.waiting.Page("").Approvals; page[0].State != contract.ApprovalExecuted || page[0].Call == "" {
		t.Errorf("the manager is told %+v", page)
	}
}

func TestATaskRunsOnce(t *testing.T) {
	e := newEndpoint(t, writing(approving, func(c *contract.Config) { c.Endpoint.Limits.MaxConcurrentRequests = 20 }))
	c := client{t, e, writerToken, tasks}
	const another = `{"data":{"title":"Eden"}}`
	id := c.held("create_book", another)
	e.decide(t, id, contract.ApprovalApproved)
	var asking sync.WaitGroup
	replies := make([]reply, 8)
	for i := range replies {
		asking.Go(func() { replies[i] = c.task("tasks/get", id) })
	}
	asking.Go(func() { c.call("create_book", another) })
	asking.Wait()
	for _, r := range replies {
		if s := r.Result.Status; s != "working" && s != "completed" {
			t.Errorf("told is %s", r.text)
		}
	}
	if last := c.task("tasks/get", id); last.Result.Status != "completed" {
		t.Errorf("in the end it is told as %s", last.text)
	}
	if got := c.books(); got != 4 {
		t.Errorf("there are %d books, want one more than 3", got)
	}
}

// The endings of a task other than that it ran: what people decided, withdrew, or somebody changed.
func TestTheEndOfATask(t *testing.T) {
	for _, end := range []struct {
		name           string
		do             func(e *endpoint, c client, id string)
		status, result string
	}{
		{"denied", func(e *endpoint, c client, id string) { e.decide(c.t, id, contract.ApprovalDenied) }, "completed", "did not allow this call, and nothing was changed: because"},
		{"denied, and told by the call itself", func(e *endpoint, c client, id string) {
			e.decide(c.t, id, contract.ApprovalDenied)
			c.call("update_book", retitle)
			e.waiting.Decide(nil)
		}, "completed", "approval_denied"},
		{"expired", func(e *endpoint, c client, id string) { e.decide(c.t, id, contract.ApprovalExpired) }, "completed", "nobody allowed this call in time"},
		{"allowed, and not run in time", func(e *endpoint, c client, id string) {
			e.decide(c.t, id, contract.ApprovalApproved)
			e.later = 2 * time.Hour
		}, "completed", "was allowed, and was not made in time"},
		{"cancelled", func(_ *endpoint, c client, id string) { c.acknowledges("tasks/cancel", id) }, "cancelled", "no result"},
		{"withdrawn by the tool", func(_ *endpoint, c client, id string) { c.call("approvals", `{"approval":"`+id+`","withdraw":true}`) }, "cancelled", "no result"},
		{"allowed, and cancelled", func(e *endpoint, c client, id string) {
			e.decide(c.t, id, contract.ApprovalApproved)
			c.acknowledges("tasks/cancel", id)
		}, "cancelled", "no result"},
		{"allowed by a policy that is not in force any more", func(e *endpoint, c client, id string) {
			e.decide(c.t, id, contract.ApprovalApproved)
			e.change(writing())
		}, "", ""},
	} {
		t.Run(end.name, func(t *testing.T) {
			e := newEndpoint(t, writing(approving))
			c := client{t, e, writerToken, tasks}
			id := c.held("update_book", retitle)
			end.do(e, c, id)
			r := c.task("tasks/get", id)
			if end.status == "" {
				if r.Error.Code != -32602 || c.title() != "The Dispossessed" {
					t.Errorf("told is %s, want that no such task is known", r.text)
				}
				return
			}
			if r.Result.Status != end.status || !strings.Contains(r.result(), end.result) || strings.HasPrefix(end.status, "completed") != r.isError() {
				t.Errorf("told is %s, want %s and %s", r.text, end.status, end.result)
			}
			c.acknowledges("tasks/cancel", id) // it is over: that changes nothing
			if again := c.task("tasks/get", id); again.Result.Status != end.status || again.result() != r.result() {
				t.Errorf("asked for again, told is %s, and was %s", again.text, r.text)
			}
			if got := c.title(); got != "The Dispossessed" {
				t.Errorf("the title is %s", got)
			}
		})
	}
}

func (r reply) isError() bool {
	return r.Result.Result != nil && r.Result.Result.IsError
}

// acknowledges sends a request that is answered by nothing but that it was taken.
func (c client) acknowledges(method, id string, further ...string) {
	c.t.Helper()
	const want = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-admin-server","version":"1.2.3"}}}}`
	if r := c.task(method, id, further...); r.text != want {
		c.t.Errorf("%s is answered %s, want %s", method, r.text, want)
	}
}

// What another program did to the rows meanwhile ends an allowed task in a conflict, and nothing runs.
func TestATaskDoesNotRunOverOtherRows(t *testing.T) {
	e := newEndpoint(t, writing(approving, func(c *contract.Config) { c.Endpoint.Approvals[0].Tokens = []string{"shop/writer"} }))
	c, other := client{t, e, writerToken, tasks}, client{t, e, otherToken, `{}`}
	id := c.held("update_book", retitle)
	e.decide(t, id, contract.ApprovalApproved)
	if r := other.call("update_book", `{"id":1,"data":{"title":"Between"}}`); r.Result.IsError {
		t.Fatal(r.text)
	}
	r := c.task("tasks/get", id)
	if r.Result.Status != "completed" || !r.isError() || !strings.Contains(r.result(), `"code":"conflict"`) || c.title() != "Between" {
		t.Errorf("told is %s", r.text)
	}
}

// A task is its caller's alone: to everybody else it is as one that is not there.
func TestATaskIsItsCallersAlone(t *testing.T) {
	e := newEndpoint(t, writing(approving))
	c, other := client{t, e, writerToken, tasks}, client{t, e, otherToken, tasks}
	id := c.held("update_book", retitle)
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		theirs, none := other.task(method, id, `"inputResponses":{}`), other.task(method, "aaaaaaaaaaaaaaaaaaaa", `"inputResponses":{}`)
		if theirs.text != none.text || theirs.Error.Code != -32602 || !strings.Contains(theirs.Error.Message, "make the call itself again") {
			t.Errorf("%s of another's is answered %s, and of none %s", method, theirs.text, none.text)
		}
	}
	if r := c.task("tasks/get", id); r.Result.Status != "working" {
		t.Errorf("others have done something to it: %s", r.text)
	}
	c.acknowledges("tasks/update", id, `"inputResponses":{"x":{"action":"accept"}}`)

	undeclared := client{t, e, writerToken, form}
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		r := undeclared.task(method, id)
		if r.Error.Code != -32021 || r.status != 400 || string(r.Error.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
			t.Errorf("%s of a client without tasks is answered %d %s", method, r.status, r.text)
		}
	}
	if r := undeclared.call("update_book", retitle); r.Result.ResultType != "complete" || !strings.Contains(r.text, "approval_required") {
		t.Errorf("a call of a client without tasks is answered %s", r.text)
	}
	for _, removed := range []string{"tasks/result", "tasks/list"} {
		if r := c.task(removed, id); r.Error.Code != -32601 {
			t.Errorf("%s is answered %s", removed, r.text)
		}
	}
	if r := c.send("tasks/get", `"taskId":7`); r.Error.Code != -32602 {
		t.Errorf("an id that is a number is answered %s", r.text)
	}
	if r := c.task("tasks/update", id); r.Error.Code != -32602 {
		t.Errorf("tasks/update without inputResponses is answered %s", r.text)
	}
	misrouted := modern("tasks/get", `"taskId":"`+id+`"`).with(bearer(writerToken)).with(header("Mcp-Name", "other"))
	if got := text(e.do(misrouted)); !strings.Contains(got, "Header mismatch: Mcp-Name must be the body's params.taskId") {
		t.Errorf("another Mcp-Name is answered %s", got)
	}
}

func TestTheExtensionIsToldWhereCallsMayWait(t *testing.T) {
	for _, c := range []struct {
		config *contract.Config
		want   bool
	}{{writing(approving), true}, {writing(), false}} {
		r := (client{t, newEndpoint(t, c.config), writerToken, tasks}).send("server/discover", `"x":1`)
		if got := strings.Contains(r.text, `"capabilities":{"tools":{},"prompts":{},"resources":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`); got != c.want {
			t.Errorf("the extension is told: %t, want %t: %s", got, c.want, r.text)
		}
	}
}

// Each pod knows its own tasks alone.
func TestSeveralPodsMakeNoTasks(t *testing.T) {
	c := client{t, newEndpoint(t, writing(approving, func(c *contract.Config) { c.Pods.Answering = 2 })), writerToken, tasks}
	if r := c.send("server/discover", `"x":1`); strings.Contains(r.text, "io.modelcontextprotocol/tasks") {
		t.Errorf("two pods offer tasks: %s", r.text)
	}
	if r := c.call("update_book", retitle); r.Result.ResultType != "complete" || !strings.Contains(r.text, "approval_required") {
		t.Errorf("a call that waits on one of two pods is answered %s", r.text)
	}
}

// The person is asked first; then the call waits; and it runs though the confirmation is older than one lives.
func TestAConfirmedCallWaitsAsATask(t *testing.T) {
	e := newEndpoint(t, writing(approving))
	c := client{t, e, writerToken, both}
	state := c.asked("action_book", removal)
	id := c.held("action_book", removal, said(state, accepted)...)
	e.later = 30 * time.Minute
	e.decide(t, id, contract.ApprovalApproved)
	if r := c.task("tasks/get", id); r.Result.Status != "completed" || r.isError() || c.books() != 2 {
		t.Errorf("allowed, it is told as %s", r.text)
	}
}

// A call that is too large to keep gets the answer of clients without tasks.
func TestALargeCallIsNoTask(t *testing.T) {
	c := client{t, newEndpoint(t, writing(approving, func(c *contract.Config) { c.Endpoint.Limits.MaxBodyBytes = 1 << 20 })), writerToken, tasks}
	large := fmt.Sprintf(`{"id":1,"data":{"title":%q}}`, strings.Repeat("x", 70_000))
	if r := c.call("update_book", large); r.Result.ResultType != "complete" || !strings.Contains(r.text, "approval_required") {
		t.Errorf("a large call is answered %.300s", r.text)
	}
}

// A result is not shown to a token that may see less by now.
func TestATasksResultKeepsToRights(t *testing.T) {
	e := newEndpoint(t, writing(approving))
	c := client{t, e, writerToken, tasks}
	id := c.held("update_book", retitle)
	e.decide(t, id, contract.ApprovalApproved)
	if r := c.task("tasks/get", id); !strings.Contains(r.result(), "Another") {
		t.Fatalf("it is told as %s", r.text)
	}
	less := writing(approving)
	less.Tokens[len(less.Tokens)-1].Rules[0].Models = []string{"author"}
	e.change(less)
	if r := c.task("tasks/get", id); r.Result.Status != "completed" || strings.Contains(r.text, "Another") || !strings.Contains(r.result(), "what you may see has changed since") {
		t.Errorf("to a token that may see less it is told as %s", r.text)
	}
}
