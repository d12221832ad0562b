package server_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// What changes while a file is sent: it ends with the rights of its token, and with nothing else.
func TestExportsEndWithTheirTokensRights(t *testing.T) {
	t.Parallel()
	ann := func(c *contract.Config) *contract.Token {
		return &c.Tokens[slices.IndexFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "ann" })]
	}
	for _, c := range []struct {
		name    string
		change  func(*wide)
		outcome string // "ok" if the file goes on
	}{
		{"the token is revoked", applied(func(c *contract.Config) { ann(c).Hashes = []string{contract.HashToken("another")} }), "token_refused"},
		{"the token is deleted", applied(func(c *contract.Config) {
			c.Tokens = slices.DeleteFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "ann" })
		}), "token_refused"},
		{"the token expires", func(w *wide) { w.ahead.Add(int64(time.Hour)) }, "token_refused"},
		{"the token loses the verb export", applied(func(c *contract.Config) { ann(c).Rules[0].Verbs = []string{"view"} }), "permission_denied"},
		{"the token may view nothing", applied(func(c *contract.Config) { ann(c).Rules[0].Models = []string{"other"} }), "permission_denied"},
		{"the model is withdrawn", applied(func(c *contract.Config) { c.Models = nil }), "not_found"},
		{"the operation is not offered", applied(func(c *contract.Config) { c.Models[0].Operations = []string{"get"} }), "permission_denied"},
		{"another token is revoked", applied(func(c *contract.Config) {
			c.Tokens = slices.DeleteFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "ben" })
		}), "ok"},
		{"the link's five minutes are over", func(w *wide) { w.ahead.Add(int64(10 * time.Minute)) }, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, engine harness.Engine) {
				w := serveWide(t, engine, time.Hour, 4)
				r := w.open(w.link("ann"))
				c.change(w)
				whole := r.isWhole()
				outcome, rows := w.ended()
				if wanted := c.outcome == "ok"; outcome != c.outcome || whole != wanted || (rows == wideRows) != wanted || rows < 1 {
					t.Errorf("the file is whole: %v, want %v; the audit has %s and %d rows of %d, want %s", whole, wanted, outcome, rows, wideRows, c.outcome)
				}
				w.reading(engine, 0)
			})
		})
	}
}

func applied(change func(*contract.Config)) func(*wide) {
	return func(w *wide) { w.Apply(change) }
}

// A client that goes away ends the statement, and the audit says how many rows were on their way.
func TestExportsEndWithTheirClients(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine harness.Engine) {
		w := serveWide(t, engine, time.Hour, 4)
		r := w.open(w.link("ann"))
		r.conn.Close()
		if outcome, rows := w.ended(); outcome != "reader_gone" || rows < 1 || rows >= wideRows {
			t.Errorf("the audit has %s and %d rows of %d, want reader_gone and some", outcome, rows, wideRows)
		}
		w.reading(engine, 0)
		if lines := w.Log.Lines(`"level":"ERROR"`); len(lines) > 0 {
			t.Errorf("the log has %v", lines)
		}
	})
}

// The same for a client that goes before there is a row, as another session has the table to itself.
func TestExportsEndWithTheirClientsBeforeTheFirstRow(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine harness.Engine) {
		lock := map[string][]string{
			harness.PostgreSQL: {"BEGIN", "LOCK TABLE wide IN ACCESS EXCLUSIVE MODE"},
			harness.MariaDB:    {"LOCK TABLES wide WRITE"},
		}[engine.Product]
		if lock == nil {
			t.Skip("readers of SQLite wait for nobody")
		}
		w := serveWide(t, engine, time.Hour, 4)
		link := w.link("ann")
		owner, err := w.plain.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer owner.Close()
		for _, statement := range lock {
			if _, err := owner.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		conn := w.send(link)
		w.reading(engine, 1)
		conn.Close()
		if outcome, rows := w.ended(); outcome != "reader_gone" || rows != 0 {
			t.Errorf("the audit has %s and %d rows, want reader_gone and none", outcome, rows)
		}
		w.reading(engine, 0)
	})
}
