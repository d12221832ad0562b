package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// service is a webhook's other end: it gives the answer that the test sets, and keeps what it got.
type service struct {
	*library
	contentType, answer string
	status              int
	got                 []map[string]any
}

// newService makes a library whose books have the action "refund", a webhook.
func newService(t *testing.T, changes ...func(*contract.Config)) *service {
	t.Helper()
	s := &service{contentType: "application/json", answer: `{"refunded": 2}`, status: 200}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := map[string]any{}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("the webhook gets %s", body)
		}
		s.got = append(s.got, got)
		w.Header().Set("Content-Type", s.contentType)
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(server.Close)
	declare := func(c *contract.Config) {
		refund := contract.Action{Name: "refund", Parameters: []contract.Parameter{{Name: "reason", Type: contract.TypeString}, {Name: "post", Type: contract.TypeString}},
			Webhook: &contract.Webhook{URL: server.URL + "/refund", Headers: map[string]string{"Authorization": "Bearer open-sesame"}, SigningKey: "key"}}
		modelNamed(c, "book").Actions = append(modelNamed(c, "book").Actions, refund)
	}
	s.library = newLibrary(t, append([]func(*contract.Config){withActions, declare}, changes...)...)
	s.set.settings.Webhook = webhook.New(webhook.Options{AllowLoopback: true})
	return s
}

// refundIs changes the declaration of refund.
func refundIs(change func(*contract.Action)) func(*contract.Config) {
	return func(c *contract.Config) {
		actions := modelNamed(c, "book").Actions
		change(&actions[len(actions)-1])
	}
}

func TestAWebhookGetsTheSelection(t *testing.T) {
	s := newService(t)
	r := s.call(ownerText, "action_book", `{"action":"refund","ids":["2",1,9],"confirmation_data":{"reason":"broken","post":"mine"}}`)
	if r.IsError || !strings.Contains(string(r.Text), `"affected_count":2,"message":"refund was run on 2 books","result":{"refunded":2},"missing_ids":[9],"skipped_ids":[]`) {
		t.Fatalf("%s", r.Text)
	}
	got := s.got[0]
	if id, _ := got["request_id"].(string); len(id) < 16 {
		t.Errorf("request_id is %v", got["request_id"])
	}
	delete(got, "request_id")
	want := map[string]any{
		"endpoint": "shop/library", "model": "book", "action": "refund", "ids": []any{1.0, 2.0}, "confirm": false, "token": "shop/owner",
		"form": map[string]any{"action": "refund", "ids": []any{1.0, 2.0}, "reason": "broken"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the webhook gets %v\nwant %v", got, want)
	}
}

func TestAWebhookThatAnswersHTMLAsksFirst(t *testing.T) {
	s := newService(t)
	s.contentType, s.answer = "text/html; charset=utf-8", "<p>Really?</p>"
	asked := s.ask(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	if asked.Page != (action.ConfirmationPage{ContentType: "text/html", Content: "<p>Really?</p>"}) || asked.AffectedCount != 1 {
		t.Errorf("%+v", asked)
	}
	s.contentType, s.answer = "text/plain", "done"
	arguments := fmt.Sprintf(`{"action":"refund","ids":[1],"confirm":true,"confirmation_token":%q,"confirmation_data":{"post":"no","reason":"x"}}`, asked.Token)
	if r := s.call(ownerText, "action_book", arguments); r.Code != call.CodeConflict {
		t.Errorf("with other parameters than the page's: %s", r.Text)
	}
	arguments = fmt.Sprintf(`{"action":"refund","ids":[1],"confirm":true,"confirmation_token":%q,"confirmation_data":{"post":"no"}}`, asked.Token)
	if got := s.must(ownerText, "action_book", arguments); got["success"] != true || got["result"] != "done" {
		t.Errorf("%v", got)
	}
	if len(s.got) != 2 {
		t.Fatalf("%d calls", len(s.got))
	}
	want := map[string]any{"post": "yes", "confirm": "yes", "apply": "yes", "action": "refund", "ids": []any{1.0}}
	if form := s.got[1]["form"]; s.got[1]["confirm"] != true || !reflect.DeepEqual(form, want) {
		t.Errorf("the form is %v, want %v", form, want)
	}
}

func TestADeclaredConfirmationComesBeforeTheWebhook(t *testing.T) {
	s := newService(t, refundIs(func(a *contract.Action) { a.Confirm = &contract.Confirmation{} }))
	s.ask(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	if len(s.got) != 0 {
		t.Error("the webhook was called before anybody confirmed")
	}
	s.must(ownerText, "action_book", `{"action":"refund","ids":[1],"confirm":true}`)
	if len(s.got) != 1 {
		t.Errorf("%d calls", len(s.got))
	}
}

func TestResultsOfWebhooks(t *testing.T) {
	for _, c := range []struct{ name, contentType, answer, want string }{
		{"JSON", "application/json", `[1, {"a": null}]`, `[1,{"a":null}]`},
		{"JSON that is none", "application/json", `{oops`, `"{oops"`},
		{"text", "text/plain", `a "b"`, `"a \"b\""`},
		{"text that looks like JSON", "text/plain", `{"a":1}`, `"{\"a\":1}"`},
		{"nothing", "text/plain", ``, `null`},
		{"no UTF-8", "text/plain", "\xff", `"\ufffd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t)
			s.contentType, s.answer = c.contentType, c.answer
			r := s.call(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
			if r.IsError || !strings.Contains(string(r.Text), `"result":`+c.want+`,"missing_ids"`) {
				t.Errorf("%s", r.Text)
			}
		})
	}
}

func TestAWebhookThatFailsIsUnavailable(t *testing.T) {
	s := newService(t)
	s.status, s.answer = 503, "a secret of the service's"
	r := s.call(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	if r.Code != call.CodeUnavailable || !strings.HasPrefix(r.Message, "the webhook of refund answered 503; it is not known what it did: look at the rows before you try again (request ") {
		t.Errorf("%s", r.Text)
	}
	if len(s.got) != 1 {
		t.Errorf("%d calls", len(s.got))
	}
	for _, text := range []string{string(r.Text), s.log.String(), fmt.Sprint(s.must(ownerText, "history_book", `{"id":1}`))} {
		for _, never := range []string{"secret", "open-sesame", "127.0.0.1"} {
			if strings.Contains(text, never) {
				t.Errorf("%q is told: %s", never, text)
			}
		}
	}
	s.set.settings.Webhook = nil
	if r := s.call(ownerText, "action_book", `{"action":"refund","ids":[1]}`); r.Code != call.CodeUnavailable || r.Message != "the webhook of refund has an address that may not be called; nothing was changed" {
		t.Errorf("on the machine itself: %s", r.Text)
	}
}

func TestAWebhookThatIsNotSetUpIsUnavailable(t *testing.T) {
	s := newService(t, refundIs(func(a *contract.Action) { a.Webhook.Problem = "Secret refund-key does not exist" }))
	r := s.call(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	if r.Code != call.CodeUnavailable || strings.Contains(r.Message, "Secret") || !strings.Contains(r.Message, "status of MCPModelExposure book") || len(s.got) != 0 {
		t.Errorf("%s, %d calls", r.Text, len(s.got))
	}
}

func TestWebhooksAreOnlyAskedAboutVisibleRows(t *testing.T) {
	s := newService(t, func(c *contract.Config) {
		author := modelNamed(c, "author")
		author.Actions = append(author.Actions, modelNamed(c, "book").Actions[4])
		author.Actions[1].Requires = []string{contract.VerbView}
	})
	got := s.must(clerkText, "action_author", `{"action":"refund","ids":[1,2]}`)
	if fmt.Sprint(got["missing_ids"]) != "[1]" || fmt.Sprint(s.got[0]["ids"]) != "[2]" {
		t.Errorf("%v, the webhook gets %v", got, s.got)
	}
	if r := s.call(clerkText, "action_author", `{"action":"refund","ids":[1]}`); r.Code != call.CodeNotFound || len(s.got) != 1 {
		t.Errorf("of none that is visible: %s, %d calls", r.Text, len(s.got))
	}
}

// A read-only endpoint changes nothing of its own, which is no promise about what a webhook does elsewhere.
func TestOnlyWebhooksAreOfferedOnAReadOnlyEndpoint(t *testing.T) {
	s := newService(t, func(c *contract.Config) { c.Endpoint.Database.ReadOnly = true })
	if got := actionNamesOf(t, s.must(ownerText, "actions_book", `{}`)); got != "refund" {
		t.Errorf("there are %s", got)
	}
	for _, action := range []string{"delete_selected", "publish", "raise"} {
		if r := s.call(ownerText, "action_book", `{"action":"`+action+`","ids":[1],"confirm":true}`); r.Code != call.CodePermissionDenied {
			t.Errorf("%s: %s", action, r.Text)
		}
	}
	s.must(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	if got := s.one("SELECT count(*) FROM mcp_audit"); got != "0" || len(s.got) != 1 {
		t.Errorf("%s entries in the journal, %d calls", got, len(s.got))
	}
	if r := s.call(ownerText, "action_chapter", `{"action":"delete_selected","ids":[1],"confirm":true}`); r.Code != call.CodePermissionDenied {
		t.Errorf("a model without webhooks: %s", r.Text)
	}
}

// What a webhook did cannot be undone, so the journal has both the intent and the outcome.
func TestIntentAndOutcomeOfAWebhookAreRecorded(t *testing.T) {
	s := newService(t)
	s.must(ownerText, "action_book", `{"action":"refund","ids":[1]}`)
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"operation":"action:refund","ids":["1"]`) || !strings.Contains(lines[0], `"changed":0`) ||
		!strings.Contains(lines[0], `"outcome":"intent"`) || !strings.Contains(lines[1], `"changed":1,"dry_run":false,"outcome":"ok"`) {
		t.Errorf("the audit says\n%s", strings.Join(lines, "\n"))
	}
	want := fmt.Sprintf("webhook called, request %[1]s; webhook answered, request %[1]s", s.got[0]["request_id"])
	if got := s.one("SELECT group_concat(message, '; ') FROM (SELECT message FROM mcp_audit WHERE action = 'action:refund' AND object_id = '1' ORDER BY id)"); got != want {
		t.Errorf("the journal says %q, want %q", got, want)
	}
}
