package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const (
	writerToken = "writer-token-of-at-least-thirty-two-characters"
	otherToken  = "others-token-of-at-least-thirty-two-characters"
)

// writing is the fixture's Config with two tokens that may do everything.
func writing(changes ...func(*contract.Config)) *contract.Config {
	c := config()
	everything := contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}}
	c.Tokens = append(c.Tokens, token("other", otherToken, everything), token("writer", writerToken, everything))
	for _, change := range changes {
		change(c)
	}
	return c
}

// A client is a client of 2026-07-28 that declares some capabilities.
type client struct {
	t            *testing.T
	e            *endpoint
	token        string
	capabilities string
}

// Capabilities of clients.
const (
	form  = `{"elicitation":{"form":{}}}`
	tasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	both  = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// reply is an answer to a client's request.
type reply struct {
	text   string
	status int
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params struct {
				Mode, Message   string
				RequestedSchema json.RawMessage
			}
		}
		Content []struct{ Text string }
		IsError bool
		taskResult
	}
	Error struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// taskResult are the members of a task.
type taskResult struct {
	TaskID, Status, StatusMessage, CreatedAt, LastUpdatedAt string
	TTLMs, PollIntervalMs                                   int
	Result                                                  *struct {
		Content []struct{ Text string }
		IsError bool
	}
}

// send sends a request; members are those of params.
func (c client) send(method, members string) reply {
	c.t.Helper()
	r := modern(method, members).with(bearer(c.token)).withBody(`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":`+c.capabilities)
	response := c.e.do(r)
	got := reply{text: text(response), status: response.StatusCode}
	if err := json.Unmarshal([]byte(got.text), &got); err != nil {
		c.t.Fatalf("%s %s: %v in %s", method, members, err, got.text)
	}
	return got
}

// call calls a tool; further are members of params beside.
func (c client) call(tool, arguments string, further ...string) reply {
	c.t.Helper()
	return c.send("tools/call", strings.Join(append([]string{`"name":"` + tool + `","arguments":` + arguments}, further...), ","))
}

// said is what a client brings with a call that it repeats.
func said(state, results string) []string {
	return []string{`"requestState":` + quote(state), `"inputResponses":` + results}
}

const (
	accepted = `{"confirm":{"action":"accept","content":{"confirm":true}}}`
	removal  = `{"action":"delete_selected","ids":[1]}`
)

// books is how many books there are.
func (c client) books() int {
	c.t.Helper()
	answer := c.call("list_book", `{}`)
	if len(answer.Result.Content) != 1 {
		c.t.Fatal(answer.text)
	}
	var list struct{ Count int }
	if err := json.Unmarshal([]byte(answer.Result.Content[0].Text), &list); err != nil {
		c.t.Fatal(err)
	}
	return list.Count
}

// asked is the state of the question that a call asks.
func (c client) asked(tool, arguments string) string {
	c.t.Helper()
	r := c.call(tool, arguments)
	if r.Result.ResultType != "input_required" || r.Result.RequestState == "" {
		c.t.Fatalf("%s %s is answered %s, want a question", tool, arguments, r.text)
	}
	return r.Result.RequestState
}

func TestAPersonIsAskedBeforeAnActionRuns(t *testing.T) {
	c := client{t, newEndpoint(t, writing()), writerToken, form}
	r := c.call("action_book", removal)
	q := r.Result.InputRequests["confirm"]
	if r.Result.ResultType != "input_required" || len(r.Result.InputRequests) != 1 || q.Method != "elicitation/create" || q.Params.Mode != "form" || len(r.Result.Content) != 0 {
		t.Fatalf("asked is %s", r.text)
	}
	if want := "Delete 1 book? This cannot be undone.\n\nRows:\n- 1: The Dispossessed"; q.Params.Message != want {
		t.Errorf("the person reads %q, want %q", q.Params.Message, want)
	}
	if want := `"required":["confirm"]`; !strings.Contains(string(q.Params.RequestedSchema), want) {
		t.Errorf("the form is %s, want %s", q.Params.RequestedSchema, want)
	}
	if c.books() != 3 {
		t.Fatal("the question deleted something")
	}
	for _, no := range []struct{ name, results, want string }{
		{"declined", `{"confirm":{"action":"decline"}}`, "said no"},
		{"cancelled", `{"confirm":{"action":"cancel"}}`, "closed without an answer"},
		{"accepted with no", `{"confirm":{"action":"accept","content":{"confirm":false}}}`, "said no"},
	} {
		r := c.call("action_book", removal, said(r.Result.RequestState, no.results)...)
		if !r.Result.IsError || r.Result.ResultType != "complete" || !strings.Contains(r.Result.Content[0].Text, no.want) || !strings.Contains(r.Result.Content[0].Text, `"code":"declined"`) {
			t.Errorf("%s is answered %s", no.name, r.text)
		}
	}
	for _, missing := range []string{`{}`, `{"other":{"action":"accept"}}`, `{"confirm":{"action":"accept"}}`, `{"confirm":{"action":"accept","content":{"confirm":"yes"}}}`, `{"confirm":{"action":"maybe"}}`} {
		if again := c.call("action_book", removal, said(r.Result.RequestState, missing)...); again.Result.ResultType != "input_required" {
			t.Errorf("with %s it is answered %s, want to be asked again", missing, again.text)
		}
	}
	if again := c.call("action_book", removal, `"inputResponses":`+accepted); again.Result.ResultType != "input_required" {
		t.Errorf("without the state it is answered %s, want to be asked again", again.text)
	}
	if c.books() != 3 {
		t.Fatal("it ran though nobody said yes")
	}
	more := strings.TrimSuffix(accepted, "}") + `,"other":{"action":"accept","content":{"x":1}}}`
	done := c.call("action_book", `{"ids": [1], "action": "delete_selected"}`, said(r.Result.RequestState, more)...)
	if done.Result.ResultType != "complete" || done.Result.IsError || c.books() != 2 {
		t.Errorf("accepted, it is answered %s, and there are %d books", done.text, c.books())
	}
}

// The agent's own word does not stand for the person's.
func TestAnAgentDoesNotConfirmForItsPerson(t *testing.T) {
	c := client{t, newEndpoint(t, writing()), writerToken, form}
	const confirmed = `{"action":"delete_selected","ids":[1],"confirm":true}`
	state := c.asked("action_book", confirmed)
	c.asked("transact", `{"steps":[{"tool":"action_book","arguments":`+confirmed+`}],"confirm":true}`)
	if c.books() != 3 {
		t.Fatal("it ran though nobody said yes")
	}
	if done := c.call("action_book", confirmed, said(state, accepted)...); done.Result.IsError || c.books() != 2 {
		t.Errorf("accepted, it is answered %s", done.text)
	}
}

func TestThePersonIsAskedAboutAllSteps(t *testing.T) {
	c := client{t, newEndpoint(t, writing()), writerToken, form}
	const steps = `{"steps":[{"tool":"action_book","arguments":{"action":"delete_selected","ids":[1]}},{"tool":"action_book","arguments":{"action":"delete_selected","ids":[2]}}]}`
	r := c.call("transact", steps)
	if message := r.Result.InputRequests["confirm"].Params.Message; !strings.Contains(message, "- 1: The Dispossessed\n\nDelete 1 book?") || !strings.Contains(message, "- 2: Solaris") {
		t.Fatalf("asked is %s", r.text)
	}
	if done := c.call("transact", steps, said(r.Result.RequestState, accepted)...); done.Result.IsError || c.books() != 1 {
		t.Errorf("accepted, it is answered %s", done.text)
	}
}

// What would be done now is asked about, if it is not what the person read.
func TestThePersonIsAskedAnewIfTheRowsChanged(t *testing.T) {
	c := client{t, newEndpoint(t, writing()), writerToken, form}
	const both = `{"action":"delete_selected","ids":[1,2]}`
	state := c.asked("action_book", both)
	if r := c.call("delete_book", `{"id":2}`); r.Result.IsError {
		t.Fatal(r.text)
	}
	again := c.call("action_book", both, said(state, accepted)...)
	if message := again.Result.InputRequests["confirm"].Params.Message; !strings.Contains(message, "Delete 1 book?") || c.books() != 2 {
		t.Fatalf("answered is %s, want the question about what is left", again.text)
	}
	if done := c.call("action_book", both, said(again.Result.RequestState, accepted)...); done.Result.IsError || c.books() != 1 {
		t.Errorf("accepted, it is answered %s", done.text)
	}
}

func TestAStateIsGoodForItsCallAlone(t *testing.T) {
	e := newEndpoint(t, writing())
	c, other := client{t, e, writerToken, form}, client{t, e, otherToken, form}
	state := c.asked("action_book", removal)
	const foreign, old = "requestState is not one that this endpoint gave you for this call: send it back unchanged", "requestState is older than 10 minutes: make the call again without"
	for _, wrong := range []struct {
		name            string
		by              client
		tool, arguments string
		members         []string
		want            string
	}{
		{"a changed one", c, "action_book", removal, said(state+"-TAMPERED", accepted), foreign},
		{"a shorter one", c, "action_book", removal, said(state[:len(state)-4], accepted), foreign},
		{"somebody else's", other, "action_book", removal, said(state, accepted), foreign},
		{"that of other arguments", c, "action_book", `{"action":"delete_selected","ids":[2]}`, said(state, accepted), foreign},
		{"that of another tool", c, "action_author", removal, said(state, accepted), foreign},
		{"no text", c, "action_book", removal, []string{`"requestState":7`}, "requestState must be a string"},
		{"results that are a list", c, "action_book", removal, []string{`"inputResponses":[]`}, "inputResponses must be an object"},
		{"no results", c, "action_book", removal, []string{`"inputResponses":null`}, "inputResponses must be an object"},
		{"a result that is a number", c, "action_book", removal, []string{`"inputResponses":{"confirm":12345}`}, "inputResponses must be an object"},
	} {
		r := wrong.by.call(wrong.tool, wrong.arguments, wrong.members...)
		if r.Error.Code != -32602 || !strings.HasPrefix(r.Error.Message, wrong.want) {
			t.Errorf("%s is answered %s, want -32602 %s", wrong.name, r.text, wrong.want)
		}
	}
	e.later = 10 * time.Minute
	if r := c.call("action_book", removal, said(state, accepted)...); r.Error.Code != -32602 || !strings.HasPrefix(r.Error.Message, old) {
		t.Errorf("an old one is answered %s, want %s", r.text, old)
	}
	if c.books() != 3 {
		t.Error("something was deleted")
	}
}

// Whoever cannot be asked by a form gets the page, as before there were forms.
func TestOtherClientsGetThePage(t *testing.T) {
	e := newEndpoint(t, writing())
	legacy := e.do(rpc("tools/call", `{"name":"action_book","arguments":`+removal+`,"_meta":{"io.modelcontextprotocol/clientCapabilities":`+form+`}}`).with(bearer(writerToken)))
	want := result(t, text(legacy))
	if want["requires_confirmation"] != true {
		t.Fatal(want)
	}
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"elicitation":true}`, `{"elicitation":{"form":false}}`, `{"sampling":{}}`} {
		r := (client{t, e, writerToken, capabilities}).call("action_book", removal, said("x", accepted)...)
		var got map[string]any
		if len(r.Result.Content) == 1 {
			_ = json.Unmarshal([]byte(r.Result.Content[0].Text), &got)
		}
		if r.Result.ResultType != "complete" || got["requires_confirmation"] != true || got["message"] != want["message"] {
			t.Errorf("a client of %s is answered %s", capabilities, r.text)
		}
	}
	for _, capabilities := range []string{form, `{"elicitation":{}}`, `{"elicitation":{"form":{},"url":{}}}`} {
		(client{t, e, writerToken, capabilities}).asked("action_book", removal)
	}
}
