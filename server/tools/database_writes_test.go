package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// shopScript has customers whose code others name, at two depths, and keys of several columns.
const shopScript = `
CREATE TABLE customer (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, region TEXT);
CREATE TABLE purchase (customer_code TEXT NOT NULL REFERENCES customer (code) ON UPDATE CASCADE ON DELETE CASCADE, number INTEGER NOT NULL, note TEXT, PRIMARY KEY (customer_code, number));
CREATE TABLE line (id INTEGER PRIMARY KEY, customer_code TEXT, number INTEGER, FOREIGN KEY (customer_code, number) REFERENCES purchase ON UPDATE CASCADE ON DELETE CASCADE);
CREATE TABLE favourite (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer ON DELETE CASCADE);
INSERT INTO customer VALUES (1, 'a', 'Ann', 'north'), (2, 'b', 'Bob', 'south'), (3, 'c', 'Cid', 'north');
INSERT INTO purchase VALUES ('a', 1, NULL), ('a', 2, NULL), ('b', 1, NULL);
INSERT INTO line VALUES (1, 'a', 1), (2, 'b', 1), (3, NULL, NULL);
INSERT INTO favourite VALUES (1, 3);
`

func shop(t *testing.T, engine string, changes ...func(*contract.Config)) *library {
	t.Helper()
	config := libraryConfig()
	config.Models = nil
	for _, name := range []string{"customer", "favourite", "line", "purchase"} {
		config.Models = append(config.Models, contract.Model{Exposure: name, Name: name, Table: name, Expose: true, VerboseName: name,
			VerboseNamePlural: name + "s", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 5})
	}
	for i := range config.Tokens {
		if config.Tokens[i].Name == "bookish" {
			config.Tokens[i].Rules = []contract.Rule{{Models: []string{"customer"}, Verbs: []string{"*"}}, {Models: []string{"purchase"}, Verbs: []string{"view"}}}
		}
	}
	for _, change := range changes {
		change(config)
	}
	return newLibraryOf(t, engine, shopScript, config)
}

// models changes the models of a Config.
func models(change func(m *contract.Model)) func(*contract.Config) {
	return func(c *contract.Config) {
		for i := range c.Models {
			change(&c.Models[i])
		}
	}
}

// northOnly lets the clerk see purchases of the customer "a" only, and the owner all.
func northOnly(m *contract.Model) {
	if m.Name == "purchase" {
		m.RowPolicies = []contract.RowPolicy{{Name: "a", Everyone: true, Filters: []contract.Filter{{Field: "customer_code", Value: "a"}}}}
	}
}

func (l *library) refused(token, tool, arguments string, code call.Code, says string) {
	l.t.Helper()
	if r := l.call(token, tool, arguments); r.Code != code || !strings.Contains(string(r.Text), says) {
		l.t.Errorf("%s %s: got %s (%v), want %s with %q", tool, arguments, r.Text, r.Cause, code, says)
	}
}

func TestAChangeOfWhatOthersReferToNeedsTheRightsToThem(t *testing.T) {
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL} {
		t.Run(engine, func(t *testing.T) {
			l := shop(t, engine)
			const change = `{"id":1,"data":{"code":"z","name":"Zoe"}}`
			l.refused(bookishText, "update_customer", change, call.CodeProtected, "changing it would change 2 purchases, which you may not; other records depend on it")
			l.refused(bookishText, "bulk_customer", `{"operation":"update","items":[{"id":1,"data":{"code":"z"}}]}`, call.CodeProtected, "2 purchases")
			l.must(bookishText, "update_customer", `{"id":1,"data":{"code":"a","name":"Anna"}}`)
			l.must(bookishText, "update_customer", `{"id":3,"data":{"code":"cc"}}`)
			if got := l.must(ownerText, "update_customer", change); got["notice"] != "the database changed 2 purchases, 1 line along with it" {
				t.Errorf("got %v", got)
			}
			history := fmt.Sprint(l.must(ownerText, "history_line", `{"id":1}`)["history"])
			if !strings.Contains(history, "changed customer_code") || !strings.Contains(history, "after:z before:a") {
				t.Errorf("the line's history is %s", history)
			}
			if history := fmt.Sprint(l.must(ownerText, "history_purchase", `{"id":"z,2"}`)["history"]); !strings.Contains(history, "after:z before:a") {
				t.Errorf("the purchase's history is %s", history)
			}
		})
	}
}

func TestAChangeDoesNotReachRowsOutOfSight(t *testing.T) {
	l := shop(t, contract.EngineSQLite, models(northOnly))
	l.refused(ownerText, "update_customer", `{"id":2,"data":{"code":"z"}}`, call.CodeProtected, "other records depend on it")
	l.must(ownerText, "update_customer", `{"id":1,"data":{"code":"a","name":"x"}}`)
}

func TestAWithheldModelHasNoRightsAndNoVisibleRow(t *testing.T) {
	l := shop(t, contract.EngineSQLite, models(func(m *contract.Model) {
		if m.Name == "purchase" {
			m.Exclude = []string{"a_column_that_is_gone"}
		}
	}))
	l.refused(ownerText, "delete_customer", `{"id":1}`, call.CodeProtected, "other records depend on it")
	l.refused(ownerText, "update_customer", `{"id":1,"data":{"code":"z"}}`, call.CodeProtected, "other records depend on it")
	there := l.call(ownerText, "update_line", `{"id":1,"data":{"customer_code":"a","number":2}}`)
	missing := l.call(ownerText, "update_line", `{"id":1,"data":{"customer_code":"a","number":9}}`)
	if there.Code != call.CodeValidation || string(there.Text) != string(missing.Text) {
		t.Errorf("a row of a withheld model: %s; a missing one: %s", there.Text, missing.Text)
	}
	l.must(ownerText, "delete_customer", `{"id":3}`)
}

func TestAForeignKeyInPartTellsNothingOfHiddenRows(t *testing.T) {
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL} {
		t.Run(engine, func(t *testing.T) {
			l := shop(t, engine, models(northOnly), models(func(m *contract.Model) {
				if m.Name == "line" {
					m.Actions = []contract.Action{{Name: "link", Requires: []string{"change"}, Parameters: []contract.Parameter{{Name: "to", Type: contract.TypeString}},
						Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "customer_code", Source: contract.SourceParameter, Parameter: "to"}}}}}
				}
			}))
			for _, change := range []string{`update_line {"id":1,"data":{"customer_code":"?"}}`, `action_line {"action":"link","ids":[1],"confirmation_data":{"to":"?"}}`,
				`bulk_line {"operation":"update","items":[{"id":1,"data":{"customer_code":"?"}}]}`} {
				tool, arguments, _ := strings.Cut(change, " ")
				hidden := l.call(ownerText, tool, strings.ReplaceAll(arguments, "?", "b"))
				missing := l.call(ownerText, tool, strings.ReplaceAll(arguments, "?", "x"))
				if hidden.Code != call.CodeValidation || string(hidden.Text) != string(missing.Text) {
					t.Errorf("%s: a hidden row: %s; a missing one: %s", tool, hidden.Text, missing.Text)
				}
			}
		})
	}
}

func TestWhatTheDatabaseKeepsIsToldAndRecorded(t *testing.T) {
	l := shop(t, contract.EngineSQLite)
	for _, statement := range []string{
		`CREATE TRIGGER keep BEFORE DELETE ON customer BEGIN UPDATE customer SET region = 'gone' WHERE id = OLD.id; SELECT raise(IGNORE); END`,
		`CREATE TRIGGER frozen BEFORE UPDATE ON favourite BEGIN SELECT raise(IGNORE); END`,
		`CREATE TRIGGER elsewhere BEFORE INSERT ON line BEGIN INSERT INTO favourite VALUES (100 + (SELECT count(*) FROM favourite), 1); SELECT raise(IGNORE); END`,
	} {
		if _, err := l.plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	got := l.must(ownerText, "delete_customer", `{"id":1}`)
	if !strings.Contains(fmt.Sprint(got["message"]), "kept 1 customer") || !strings.Contains(fmt.Sprint(got["object"]), "region:gone") {
		t.Errorf("delete answers %v", got)
	}
	if got := l.must(deleterText, "delete_customer", `{"id":1}`); got["object"] != nil {
		t.Errorf("a token that may not view is shown %v", got)
	}
	if got := l.one("SELECT action || message FROM mcp_audit ORDER BY id LIMIT 1"); got != "updatekept by the database, which was asked to delete it" {
		t.Errorf("the journal says %s", got)
	}
	if n := l.one("SELECT count(*) FROM mcp_audit WHERE action = 'delete'"); n != "0" {
		t.Errorf("the journal tells of %s deletions", n)
	}
	bulk := fmt.Sprint(l.must(ownerText, "bulk_customer", `{"operation":"delete","items":[2]}`)["results"])
	if !strings.Contains(bulk, "notice:the database kept") || strings.Contains(bulk, "deleted:true") {
		t.Errorf("bulk answers %s", bulk)
	}
	asked := l.ask(ownerText, "action_customer", `{"action":"delete_selected","ids":[1,2]}`)
	action := l.must(ownerText, "action_customer", fmt.Sprintf(`{"action":"delete_selected","ids":[1,2],"confirm":true,"confirmation_token":%q}`, asked.Token))
	if !strings.Contains(fmt.Sprint(action["message"]), "deleted 0 customers; the database kept 2 customers") {
		t.Errorf("delete_selected answers %v", action)
	}
	if got := l.must(ownerText, "update_favourite", `{"id":1,"data":{"customer_id":2}}`); got["notice"] == nil || !strings.Contains(fmt.Sprint(got["object"]), "customer_id:3") {
		t.Errorf("update answers %v", got)
	}
	if got := l.one("SELECT message FROM mcp_audit ORDER BY id DESC LIMIT 1"); got != "changed nothing" {
		t.Errorf("the journal says %s", got)
	}
	if got := l.must(ownerText, "create_line", `{"data":{"customer_code":"a","number":1}}`); got["notice"] == nil || got["id"] != nil {
		t.Errorf("create answers %v", got)
	}
	if got := l.one("SELECT count(*) FROM favourite"); got != "2" {
		t.Errorf("the trigger did not do its part: %s", got)
	}
}

func TestARowThatCannotBeHeldAgainstAPolicyIsNotStoredElsewhere(t *testing.T) {
	l := shop(t, contract.EngineSQLite, models(northOnly))
	if _, err := l.plain.Exec(`CREATE TRIGGER elsewhere BEFORE INSERT ON purchase WHEN NEW.number < 100 BEGIN INSERT INTO purchase VALUES (NEW.customer_code, NEW.number + 100, NULL); SELECT raise(IGNORE); END`); err != nil {
		t.Fatal(err)
	}
	if r := l.call(ownerText, "create_purchase", `{"data":{"customer_code":"a","number":7}}`); !r.IsError || l.one("SELECT count(*) FROM purchase") != "3" {
		t.Errorf("got %s", r.Text)
	}
}

func TestAVersionThatMovedIsAConflictAndASilentTriggerIsNot(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.plain.Exec(`CREATE TRIGGER frozen BEFORE UPDATE ON book BEGIN SELECT raise(IGNORE); END`); err != nil {
		t.Fatal(err)
	}
	l.refused(ownerText, "update_book", `{"id":1,"data":{"title":"x"},"expected_version":5}`, call.CodeConflict, "another version")
	if got := l.must(ownerText, "update_book", `{"id":1,"data":{"title":"x"},"expected_version":1}`); got["notice"] == nil {
		t.Errorf("got %v", got)
	}
}

func TestWhatWasCutIsNotWrittenBack(t *testing.T) {
	l := newLibrary(t)
	const mark = `the beginning...[cut: 3,000,000 bytes in all]`
	l.refused(ownerText, "update_review", `{"id":1,"data":{"body":"`+mark+`"}}`, call.CodeValidation, "was cut when it was read")
	l.refused(ownerText, "bulk_review", `{"operation":"create","items":[{"body":"`+mark+`"}]}`, call.CodeValidation, "was cut when it was read")
	for _, other := range []string{mark + ", it said", "...[cut: 3,0000 bytes in all]", "...[cut: , bytes in all]"} { // none is what a read writes
		l.must(ownerText, "update_review", `{"id":1,"data":{"body":"`+other+`"}}`)
	}
}

func TestValuesAreHeldAgainstChecks(t *testing.T) {
	column := func(kind database.Kind) *database.Column { return &database.Column{Name: "c", Kind: kind} }
	for _, c := range []struct {
		check  database.Check
		value  database.Value
		meets  bool
		wanted string
	}{
		{database.Check{Column: column(database.Integer), Minimum: "0", Maximum: "10"}, int64(10), true, "must be at least 0 and at most 10"},
		{database.Check{Column: column(database.Integer), Minimum: "0", ExclusiveMinimum: true}, int64(0), false, "must be more than 0"},
		{database.Check{Column: column(database.Decimal), Maximum: "1.50", ExclusiveMaximum: true}, "1.5", false, "must be less than 1.50"},
		{database.Check{Column: column(database.Decimal), Maximum: "1.50"}, "1.500", true, "must be at most 1.50"},
		{database.Check{Column: column(database.Float), Minimum: "0.5"}, 0.25, false, "must be at least 0.5"},
		{database.Check{Column: column(database.Date), Minimum: "2020-01-01"}, "2019-12-31", false, "must be at least 2020-01-01"},
		{database.Check{Column: column(database.Text), MinLength: 2, MaxLength: 3}, "äöü", true, "must have at least 2 and at most 3 characters"},
		{database.Check{Column: column(database.Text), MinLength: 2}, "ä", false, "must have at least 2 characters"},
		{database.Check{Column: column(database.Timestamp), Minimum: "2020-01-01T00:00:00"}, "2019-01-01T00:00:00", true, "must be at least 2020-01-01T00:00:00"},
	} {
		if got := call.Meets(&c.check, c.value); got != c.meets {
			t.Errorf("%v meets %+v: %v", c.value, c.check, got)
		}
		if got := call.Allowed(&c.check); got != c.wanted {
			t.Errorf("it says %q, want %q", got, c.wanted)
		}
	}
}

func TestFieldsFollowTheUsersPrivileges(t *testing.T) {
	for privileges, want := range map[database.Privileges][2]bool{
		database.MaySelect | database.MayInsert: {true, false}, database.MaySelect | database.MayUpdate: {false, true}, database.MaySelect: {false, false},
	} {
		f := &catalog.Field{Column: &database.Column{Name: "c", Privileges: privileges}}
		for i, p := range []write.Purpose{{Creates: true}, {}} {
			if why := write.WhyNotWritable(f, p); (why == "") != want[i] {
				t.Errorf("with %b, creates %v: %q", privileges, p.Creates, why)
			}
		}
	}
}

// One bad item of a bulk that is not atomic is that item's, whatever the database makes of it.
func TestOneBadItemDoesNotEndABulk(t *testing.T) {
	config := libraryConfig()
	config.Models = []contract.Model{{Exposure: "odd", Name: "odd", Table: "odd", Expose: true, VerboseName: "odd", VerboseNamePlural: "odds", DefaultPageSize: 10, MaxPageSize: 10, MaxBulkItems: 10}}
	l := newLibraryOf(t, contract.EnginePostgreSQL, `CREATE TABLE odd (id integer PRIMARY KEY, query tsquery, bits bit(3), ages integer[], point point, span int4range);
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 7 THEN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; ELSIF NEW.id = 8 THEN NEW.id := 1 / 0; ELSIF NEW.id = 9 THEN PERFORM nothing_of_that_name(); END IF; RETURN NEW; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON odd FOR EACH ROW EXECUTE FUNCTION fail();`, config)
	got := l.must(ownerText, "bulk_odd", `{"operation":"create","items":[{"id":1},{"id":2,"query":"a &"},{"id":3,"bits":"10"},{"id":4,"ages":[99999999999]},
		{"id":5,"point":"x"},{"id":6,"span":"[3,1)"},{"id":7},{"id":8},{"id":9},{"id":10}]}`)
	if got["success_count"] != 2.0 || got["error_count"] != 8.0 || strings.Contains(fmt.Sprint(got), "internal") {
		t.Errorf("got %v", got)
	}
}

func TestRowLevelSecurityIsSaid(t *testing.T) {
	config := libraryConfig()
	config.Endpoint.Audit = nil
	config.Models = []contract.Model{{Exposure: "doc", Name: "doc", Table: "doc", Expose: true, VerboseName: "doc", VerboseNamePlural: "docs", DefaultPageSize: 10, MaxPageSize: 10, MaxBulkItems: 10}}
	l := newLibraryOf(t, contract.EnginePostgreSQL, `CREATE TABLE doc (id integer PRIMARY KEY, body text);
		INSERT INTO doc VALUES (1, 'seen'), (2, 'changed'); ALTER TABLE doc ENABLE ROW LEVEL SECURITY; ALTER TABLE doc FORCE ROW LEVEL SECURITY;
		CREATE POLICY see ON doc FOR SELECT USING (true); CREATE POLICY change ON doc FOR UPDATE USING (id = 2);
		GRANT SELECT ON doc TO pg_write_all_data;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = pg_write_all_data', current_database()); END $$;`, config)
	if n := l.must(ownerText, "list_doc", `{}`)["total_count"]; n != 2.0 {
		t.Fatalf("%v rows are seen", n)
	}
	l.refused(ownerText, "update_doc", `{"id":1,"data":{"body":"x"}}`, call.CodePermissionDenied, "row-level security")
	l.refused(ownerText, "delete_doc", `{"id":1}`, call.CodePermissionDenied, "row-level security")
	if got := l.must(ownerText, "delete_doc", `{"id":2}`); !strings.Contains(fmt.Sprint(got["message"]), "row-level security") {
		t.Errorf("got %v", got)
	}
}
