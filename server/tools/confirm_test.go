package tools

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// ask makes the first call of an action that asks, and returns its answer.
func (l *library) ask(token, tool, arguments string) action.ConfirmationRequest {
	l.t.Helper()
	r := l.call(token, tool, arguments)
	var asked action.ConfirmationRequest
	if err := json.Unmarshal(r.Text, &asked); err != nil || r.IsError || asked.Success || !asked.RequiresConfirmation || asked.Token == "" {
		l.t.Fatalf("%s %s does not ask: %s", tool, arguments, r.Text)
	}
	return asked
}

func TestDeletingTheSelectedShowsWhatGoesAlong(t *testing.T) {
	l := newLibrary(t, withActions)
	asked := l.ask(ownerText, "action_book", `{"action":"delete_selected","ids":[1,9]}`)
	if asked.AffectedCount != 1 || asked.Page.ContentType != "text/html" || !strings.HasPrefix(asked.Message, "Delete 1 book? This cannot be undone. Nothing was changed: to go on, ") {
		t.Errorf("%+v", asked)
	}
	for _, want := range []string{"<li>1: Dune</li>", "<li>2 chapters</li>", "<li>1 tag</li>", "<li>1 review will no longer refer to them</li>", "<p>Not found: 9</p>"} {
		if !strings.Contains(asked.Page.Content, want) {
			t.Errorf("the page does not say %s:\n%s", want, asked.Page.Content)
		}
	}
	if got := l.one("SELECT count(*) FROM book"); got != "2" {
		t.Fatal("the first call deleted something")
	}
	got := l.must(ownerText, "action_book", fmt.Sprintf(`{"action":"delete_selected","ids":[1,9],"confirm":true,"confirmation_token":%q}`, asked.Token))
	if got["success"] != true || got["affected_count"] != 1.0 || got["message"] != "deleted 1 book" || fmt.Sprint(got["missing_ids"]) != "[9]" {
		t.Errorf("%v", got)
	}
	if got := l.one("SELECT (SELECT count(*) FROM book) || (SELECT count(*) FROM chapter) || (SELECT count(*) FROM review WHERE book_id IS NULL)"); got != "111" {
		t.Errorf("what is left: %s", got)
	}
}

func TestDeletingTheSelectedKeepsWhatIsProtected(t *testing.T) {
	l := newLibrary(t, withActions)
	if _, err := l.plain.Exec("INSERT INTO loan VALUES (1, 2, 'Ann')"); err != nil {
		t.Fatal(err)
	}
	for _, confirm := range []string{"false", "true"} {
		if r := l.call(ownerText, "action_book", `{"action":"delete_selected","ids":[1,2],"confirm":`+confirm+`}`); r.Code != call.CodeProtected {
			t.Errorf("confirm %s: %s", confirm, r.Text)
		}
	}
	if got := l.one("SELECT count(*) FROM book"); got != "2" {
		t.Errorf("%s books are left", got)
	}
}

// A token holds for one caller, action, selection and set of parameters, and as long as nothing that it showed changes.
func TestAConfirmationTokenIsThatOfItsPage(t *testing.T) {
	l := newLibrary(t, withActions)
	raise := l.ask(ownerText, "action_book", `{"action":"raise","ids":[1,2],"confirmation_data":{"amount":1}}`).Token
	remove := l.ask(ownerText, "action_book", `{"action":"delete_selected","ids":[1]}`).Token
	clerks := l.ask(clerkText, "action_book", `{"action":"delete_selected","ids":[1]}`).Token
	bare := func(arguments string) string { return arguments + `}` }
	with := func(arguments, token string) string {
		return arguments + fmt.Sprintf(`,"confirmation_token":%q}`, token)
	}
	const raised = `{"action":"raise","ids":[1,2],"confirm":true,"confirmation_data":{"amount":1}`
	for _, c := range []struct {
		name, arguments string
		code            call.Code
		message         string
	}{
		{"none where one is demanded", bare(raised), call.CodeConflict, "raise needs the confirmation_token of its page"},
		{"that of another action", with(raised, remove), call.CodeConflict, "does not match"},
		{"that of another caller", with(`{"action":"delete_selected","ids":[1],"confirm":true`, clerks), call.CodeConflict, "does not match"},
		{"that of other rows", with(`{"action":"delete_selected","ids":[2],"confirm":true`, remove), call.CodeConflict, "does not match"},
		{"that of other parameters", with(`{"action":"raise","ids":[1,2],"confirm":true,"confirmation_data":{"amount":2}`, raise), call.CodeConflict, "does not match"},
		{"one that was changed", with(raised, raise[:len(raise)-4]+"AAAA"), call.CodeConflict, "does not match"},
		{"nonsense", with(raised, "yes"), call.CodeConflict, "does not match"},
		{"one without confirm", with(`{"action":"raise","ids":[1,2],"confirmation_data":{"amount":1}`, raise), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(ownerText, "action_book", c.arguments)
			var page struct {
				Error string `json:"error"`
				action.ConfirmationRequest
			}
			if err := json.Unmarshal(r.Text, &page); err != nil || r.Code != c.code || !strings.Contains(r.Message, c.message) || page.Error != r.Message {
				t.Errorf("%s", r.Text)
			}
			if !page.RequiresConfirmation || page.Token == "" || page.Page.Content == "" {
				t.Errorf("there is no new page: %s", r.Text)
			}
		})
	}
	if got := l.one("SELECT count(*) FROM book WHERE price IS NULL"); got != "2" {
		t.Fatal("something was changed")
	}
	l.must(ownerText, "action_book", with(raised, raise))

	// What goes along has changed since the page was shown.
	if _, err := l.plain.Exec("INSERT INTO chapter VALUES (9, 1, 9, 'Late')"); err != nil {
		t.Fatal(err)
	}
	r := l.call(ownerText, "action_book", with(`{"action":"delete_selected","ids":[1],"confirm":true`, remove))
	if r.Code != call.CodeConflict || !strings.Contains(string(r.Text), "3 chapters") {
		t.Errorf("a page that is out of date: %s", r.Text)
	}
	// Without a token nothing that the call does not name goes along.
	r = l.call(ownerText, "action_book", `{"action":"delete_selected","ids":[1],"confirm":true}`)
	if r.Code != call.CodeConflict || !strings.Contains(r.Message, "other rows go or change with those that you name") || l.one("SELECT count(*) FROM book") != "2" {
		t.Errorf("confirm alone: %s", r.Text)
	}
	l.must(ownerText, "action_book", with(`{"action":"delete_selected","ids":[1],"confirm":true`, value(r, "confirmation_token")))
}

func TestAConfirmationIsEvaluatedAgain(t *testing.T) {
	l := newLibrary(t, withActions, func(c *contract.Config) { modelNamed(c, "book").Actions[0].Confirm = &contract.Confirmation{} })
	asked := l.ask(ownerText, "action_book", `{"action":"publish","ids":[1,2]}`)
	if asked.AffectedCount != 2 || !strings.HasPrefix(asked.Message, "Run publish on 2 books?") {
		t.Errorf("%+v", asked)
	}
	if _, err := l.plain.Exec("UPDATE book SET state = 'out' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	got := l.must(ownerText, "action_book", `{"action":"publish","ids":[1,2],"confirm":true}`)
	if got["affected_count"] != 1.0 || fmt.Sprint(got["skipped_ids"]) != "[1]" {
		t.Errorf("%v", got)
	}
}

func TestPagesEscapeWhatTheyShow(t *testing.T) {
	l := newLibrary(t, withActions, func(c *contract.Config) {
		move := &modelNamed(c, "book").Actions[1]
		move.Confirm = &contract.Confirmation{Message: `Call it <{{.parameters.title}}>?`}
	})
	if _, err := l.plain.Exec(`UPDATE book SET title = '<script>alert(1)</script>' WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	asked := l.ask(ownerText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"title":"<b onclick=\"x\">&"}}`)
	if strings.Contains(asked.Page.Content, "<script") || strings.Contains(asked.Page.Content, "<b") {
		t.Errorf("the page is\n%s", asked.Page.Content)
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "<p>Call it &lt;&lt;b onclick=&#34;x&#34;&gt;&amp;&gt;?</p>", "<li>title: &lt;b"} {
		if !strings.Contains(asked.Page.Content, want) {
			t.Errorf("the page does not hold %s:\n%s", want, asked.Page.Content)
		}
	}
	if !strings.HasPrefix(asked.Message, `Call it <<b onclick="x">&>? `) {
		t.Errorf("the message, which is plain text, is %s", asked.Message)
	}
}

func TestAMessageThatCannotBeMadeIsTheStandardOne(t *testing.T) {
	for _, message := range []string{"{{", "{{.count.nothing}}", "{{index .parameters 7}}"} {
		l := newLibrary(t, withActions, func(c *contract.Config) {
			modelNamed(c, "book").Actions[0].Confirm = &contract.Confirmation{Message: message}
		})
		if asked := l.ask(ownerText, "action_book", `{"action":"publish","ids":[1]}`); !strings.HasPrefix(asked.Message, "Run publish on 1 book?") {
			t.Errorf("%s: %s", message, asked.Message)
		}
	}
}

func TestAConfirmationTokenExpires(t *testing.T) {
	l := newLibrary(t, withActions)
	token := l.tokens.Authenticate("Bearer "+ownerText, time.Now())
	c := l.set.newCall(context.Background(), token, call.FindOperation("action"))
	bound := []byte("what the page shows")
	for after, want := range map[time.Duration]bool{time.Minute: true, -time.Minute: false, 0: false} {
		expires := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(after).Unix()))
		shown := seal.New(l.set.settings.SealKey, "confirmation").Seal(expires, bound)
		if got := action.IsConfirmation(c, shown, bound); got != want {
			t.Errorf("one that expires in %s is taken: got %t, want %t", after, got, want)
		}
	}
}
