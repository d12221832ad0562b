package engines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// A mistake with an idempotency key gets plain words too, and so does a key that was used before.
func TestMessagesOfKeys(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			database, plain := engine.Open(t, library(engine))
			served := func() []contract.Model {
				all := models()
				book := &all[slices.IndexFunc(all, func(m contract.Model) bool { return m.Name == "book" })]
				book.Actions = append(book.Actions, contract.Action{Name: "failing", Webhook: &contract.Webhook{URL: webhook(t) + "/failing", Timeout: contract.Duration(30 * time.Second)}})
				return all
			}
			keysIn := func(table string) func(*contract.Config) {
				return func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: table} }
			}
			s := &suite{engine, harness.Serve(t, database, served(), tokens(), withAudit, keysIn("mcp_answers")), plain}
			if payload, isError := s.call(t, "root", "create_category", `{"data":{"name":"maps"},"idempotency_key":"used"}`); isError {
				t.Fatalf("got the error %v, want success", payload)
			}
			if payload, isError := s.call(t, "root", "action_book", `{"action":"failing","ids":[1],"idempotency_key":"begun"}`); !isError {
				t.Fatalf("got %v, want an error", payload)
			}
			// Nobody waits any more for the end of a call that was begun an hour ago.
			if _, err := plain.ExecContext(t.Context(), "update mcp_answers set at = '"+time.Now().UTC().Add(-time.Hour).Format(time.DateTime)+"'"); err != nil {
				t.Fatal(err)
			}
			s.tells(t, messagesOfKeys)
			s.endpoint = harness.Serve(t, database, served(), tokens(), withAudit, keysIn("country"))
			s.tells(t, messagesOfUnusableKeys)
		})
	}
}

// messagesOfKeys answer mistakes with idempotency keys: "used" is the key of a call that took hold, "begun" the key of
// a call whose webhook failed.
var messagesOfKeys = []messageRow{
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"x"},"idempotency_key":""}`,
		want: `idempotency_key must have 1 to 128 characters`},
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"x"},"idempotency_key":"` + strings.Repeat("k", 129) + `"}`,
		want: `idempotency_key must have 1 to 128 characters`},
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"x"},"idempotency_key":7}`,
		want: `idempotency_key must be a string, not 7`},
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"x"},"dry_run":true,"idempotency_key":"new"}`,
		want: `idempotency_key and dry_run do not go together: a dry run keeps nothing`},
	{token: "root", tool: "list_category", arguments: `{"idempotency_key":"new"}`,
		want: `idempotency_key is for calls that change something; leave it out`},
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"globes"},"idempotency_key":"used"}`,
		want: `this idempotency_key was used for another call, with another tool or other arguments; nothing was changed: take a new key for what is new`},
	{token: "root", tool: "transact", arguments: `{"steps":[{"tool":"create_category","arguments":{"data":{"name":"maps"}}}],"idempotency_key":"used"}`,
		want: `this idempotency_key was used for another call, with another tool or other arguments; nothing was changed: take a new key for what is new`},
	{token: "root", tool: "action_book", arguments: `{"action":"failing","ids":[2],"idempotency_key":"begun"}`,
		want: `this idempotency_key was used for another call, with another tool or other arguments; nothing was changed: take a new key for what is new`},
	{token: "root", tool: "action_book", arguments: `{"action":"failing","ids":[1],"idempotency_key":"begun"}`,
		want: `the first call with this idempotency_key was begun, and its outcome is not known: look at the rows, and take a new key if it has to be done again`},
}

// messagesOfUnusableKeys come if the table of the keys cannot be used: it is a table of countries.
var messagesOfUnusableKeys = []messageRow{
	{token: "root", tool: "create_category", arguments: `{"data":{"name":"x"},"idempotency_key":"new"}`,
		want: `idempotency_key cannot be kept: the endpoint's table of answers cannot be used, and the endpoint's status says why; nothing was changed`},
}
