package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// withReaders adds tokens that know less than the audit table does: reviewer may view reviews and no book, outsider may view
// books too and no policy shows any.
func withReaders(c *contract.Config) {
	for name, models := range map[string][]string{"reviewer": {"review"}, "outsider": {"review", "book"}} {
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "test", Name: name, Hashes: []string{contract.HashToken(secret(name))},
			Rules: []contract.Rule{{Models: models, Verbs: []string{"view"}}}})
	}
}

// The audit table says with which row another one went. history_ tells nobody what that row was called.
func TestHistoryNamesNoOtherRow(t *testing.T) {
	const label = "The Dispossessed"
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			s := start(t, engine, withReaders)
			s.ok(t, "root", "create_author", `{"data":{"id":70,"name":"`+label+`"}}`)
			s.ok(t, "root", "update_book", `{"id":5,"data":{"editor_id":70}}`)
			s.ok(t, "root", "delete_author", `{"id":70}`)
			s.ok(t, "root", "delete_book", `{"id":1}`)
			if got := s.sql(t, "select message from mcp_admin_log where model = 'review' and object_id = '1'"); !strings.Contains(got, label) {
				t.Fatalf("the audit table has %q, want %q in it", got, label)
			}
			for _, test := range []struct{ token, tool, id, says string }{
				{"reviewer", "history_review", "1", "deleted"}, {"outsider", "history_review", "1", "deleted"}, {"root", "history_review", "1", "deleted"},
				{"bookish", "history_book", "5", "changed editor_id"},
			} {
				s.check(t, "of a row that went or changed along, as "+test.token, func(t *testing.T) {
					h := s.ok(t, test.token, test.tool, `{"id":`+test.id+`}`)
					if got := at(t, h, "history", 0, "change_message"); got != test.says {
						t.Errorf("got %v, want %s", got, test.says)
					}
					if strings.Contains(fmt.Sprint(h), label) {
						t.Errorf("got %v, want nothing of %s", h, label)
					}
				})
			}
		})
	}
}
