package work

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// model changes a model's exposure.
func (l *library) model(name string, change func(*contract.Model)) {
	l.Apply(func(c *contract.Config) {
		for i := range c.Models {
			if c.Models[i].Name == name {
				change(&c.Models[i])
			}
		}
	})
}

// What cannot be given back is not left out without a word.
func TestUndoRefusesAFieldThatCannotBeSetByNow(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		l.must(clerk, "create_shelf", `{"data":{"id":3,"name":"l"}}`)
		l.must(clerk, "create_book", `{"data":{"id":5,"title":"on it","shelf_id":3}}`)
		_, alone := l.must(clerk, "update_shelf", `{"id":1,"data":{"note":"n"}}`)
		_, both := l.must(clerk, "update_shelf", `{"id":2,"data":{"note":"n","name":"m"}}`)
		_, other := l.must(clerk, "update_book", `{"id":1,"data":{"price":"2.00"}}`)
		_, steps := l.must(clerk, "transact", `{"steps":[{"tool":"update_book","arguments":{"id":2,"data":{"title":"x"}}},{"tool":"update_book","arguments":{"id":2,"data":{"state":"old"}}}]}`)
		_, lent := l.must(clerk, "action_book", `{"action":"lend","ids":[3]}`)
		_, lost := l.must(clerk, "delete_shelf", `{"id":3}`) // its book loses its shelf
		l.model("shelf", func(m *contract.Model) { m.ReadOnly = []string{"note"} })
		l.model("book", func(m *contract.Model) { m.ReadOnly = []string{"state", "shelf_id"} })
		for call, why := range map[string]string{both: "note is read-only", steps: "state is read-only", lent: "state is read-only", lost: "cannot be undone"} {
			for _, dry := range []string{"", `,"dry_run":true`} {
				l.refuses(clerk, "undo", `{"call":"`+call+`"`+dry+`}`, why)
			}
		}
		l.model("shelf", func(m *contract.Model) { m.ReadOnly = nil })
		l.refuses(clerk, "undo", `{"call":"`+lost+`"}`, "shelf_id is read-only")
		l.model("book", func(m *contract.Model) { m.ReadOnly = []string{"state"} })
		l.must(clerk, "undo", `{"call":"`+lost+`"}`)
		l.must(clerk, "undo", `{"call":"`+other+`"}`) // it did not touch what is read-only
		l.model("shelf", func(m *contract.Model) { m.ReadOnly = []string{"note"} })
		for _, dry := range []string{"", `,"dry_run":true`} {
			l.refuses(clerk, "undo", `{"call":"`+alone+`"`+dry+`}`, "note is read-only")
		}
		l.model("shelf", func(m *contract.Model) { m.ReadOnly, m.Exclude = nil, []string{"note"} })
		l.refuses(clerk, "undo", `{"call":"`+alone+`"}`, "a field that you may not see today")
		l.model("shelf", func(m *contract.Model) {
			m.Exclude, m.Overrides = nil, []contract.FieldOverride{{Name: "name", Choices: []contract.Choice{{Value: "m"}, {Value: "top"}}}}
		})
		l.refuses(clerk, "undo", `{"call":"`+both+`"}`, "cannot be undone")
		l.must(clerk, "undo", `{"call":"`+alone+`"}`)
	})
}

const stamped = `
CREATE TABLE page (id integer NOT NULL PRIMARY KEY, body varchar(40), moves integer DEFAULT 0 NOT NULL, version integer DEFAULT 1 NOT NULL, api_key varchar(20));
INSERT INTO page (id, body, api_key) VALUES (1, 'a', 'k'), (2, 'a', 'k');
`

// stamps counts the changes of a page in its moves, as triggers of databases do.
var stamps = map[string]string{
	harness.PostgreSQL: `CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.moves := OLD.moves + 1; RETURN NEW; END';
		CREATE TRIGGER stamp BEFORE UPDATE ON page FOR EACH ROW EXECUTE FUNCTION stamp();`,
	harness.MariaDB: `CREATE TRIGGER stamp BEFORE UPDATE ON page FOR EACH ROW SET NEW.moves = OLD.moves + 1;`,
	harness.SQLite:  `CREATE TRIGGER stamp AFTER UPDATE OF body ON page BEGIN UPDATE page SET moves = moves + 1 WHERE id = NEW.id; END;`,
}

// What the database or the server sets beside a change is theirs: it does not keep the change from being taken back, call by call.
func TestUndoLeavesWhatTheDatabaseSetsByItself(t *testing.T) {
	for _, e := range harness.Engines {
		t.Run(e.Title, func(t *testing.T) {
			where, plain := e.Open(t, stamped+stamps[e.Product])
			l := &library{t: t, plain: plain, Endpoint: harness.Serve(t, where, []contract.Model{
				{Name: "page", Table: "page", Expose: true, ReadOnly: []string{"moves"}, Exclude: []string{"api_key"}, VersionField: "version"},
			}, []contract.Token{clerk.Token}, func(c *contract.Config) { c.Endpoint.Audit = &contract.AuditTable{Name: "journal"} })}
			_, first := l.must(clerk, "update_page", `{"id":1,"data":{"body":"b"},"expected_version":1}`)
			_, second := l.must(clerk, "update_page", `{"id":1,"data":{"body":"c"},"expected_version":2}`)
			_, gone := l.must(clerk, "update_page", `{"id":1,"data":{"body":"d"},"expected_version":3}`)
			for _, call := range []string{gone, second, first} {
				l.must(clerk, "undo", `{"call":"`+call+`"}`)
			}
			var body string
			var moves int
			if err := plain.QueryRow("SELECT body, moves FROM page WHERE id = 1").Scan(&body, &moves); err != nil || body != "a" || moves != 6 {
				t.Errorf("the page has body %q and %d moves (%v), want a and 6", body, moves, err)
			}
			_, call := l.must(clerk, "update_page", `{"id":2,"data":{"body":"b"},"expected_version":1}`)
			l.model("page", func(m *contract.Model) { m.ReadOnly = []string{"moves", "body"} })
			if text, isError := l.Call(clerk.text, "undo", `{"call":"`+call+`"}`); !isError {
				t.Errorf("it left out a field that was set: %s", text)
			}
		})
	}
}
