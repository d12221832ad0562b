package engines

import (
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Tables whose rows lie on other servers (MariaDB's Spider) are read, and not written. A case that writes through a tool is skipped as
// soon as the server says that a table offers no such tool; here are those that differ otherwise.

// The reasons.
const (
	noSavepoints   = "the tables are read-only, as their transactions have no savepoints"
	noForeignKeys  = "the tables have no foreign keys"
	noTextIndex    = "full-text indexes are those of the server's own tables: search looks for pieces of texts"
	mixedTexts     = "a text in another character set than its table's is left out"
	twoDefinitions = "it changes the table in front, and not those behind"
)

// refusedWrite is what the server says of a tool that writes.
var refusedWrite = regexp.MustCompile(`\b(create|update|delete|bulk|actions?|undo) is not offered for`)

// onRemote are those cases and groups, by their names.
var onRemote = map[string]string{
	"round trips": noSavepoints,
	"the tools that are listed are those that can be used":      noSavepoints,
	"the list has what the token may use on one model at least": noSavepoints,
	"describe, schema and tool agree":                           noSavepoints,
	"the exposure says why":                                     noForeignKeys,
	"inlines":                                                   noForeignKeys,
	"a value of 15 MiB is whole":                                twoDefinitions,
	"mediumtext character set latin1":                           mixedTexts,
	"Integer of mediumtext character set latin1":                mixedTexts,
	"Decimal of mediumtext character set latin1":                mixedTexts,
	"Boolean of mediumtext character set latin1":                mixedTexts,
	"Date of mediumtext character set latin1":                   mixedTexts,
	"Timestamp of mediumtext character set latin1":              mixedTexts,
}

// A table in front says how the other servers are reached, which no caller is told, and beside it there are tables of the server's own.
func TestTablesOfOtherServersTellNothingOfThem(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Remote {
				t.Skip("its tables have their rows themselves")
			}
			t.Parallel()
			database, plain := engine.Open(t, `create table item (id int primary key, name varchar(20) not null, old text character set latin1);
create table coded (id int primary key, code varchar(200) unique, owner bigint not null, body text);
insert into item (id, name) values (1, 'one'), (2, 'two'), (3, 'three');
insert into coded (id, code, owner) values (1, 'one', 1), (2, 'two', 1), (3, 'three', 1);
create table owner (id bigint primary key, code varchar(20) unique);
insert into owner values (1, 'who');
create view pairs as select a.id, a.code, b.code as owner from coded a join owner b on b.id = a.owner;
create view named as select id, name, old from item`)
			if _, err := plain.Exec("create table note (id int primary key, item_id int, body varchar(20)) comment 'What is to do.'"); err != nil {
				t.Fatal(err)
			}
			rename := contract.Action{Name: "rename", Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "name", Source: contract.SourceValue, Value: "x"}}}}
			models := []contract.Model{{Name: "item", Table: "item", Expose: true, Actions: []contract.Action{rename}}, {Name: "pairs", Table: "pairs", Expose: true, Key: []string{"id"}}, {Name: "named", Table: "named", Expose: true, Key: []string{"id"}},
				{Name: "note", Table: "note", Expose: true, Relations: []contract.Relation{{Name: "item", Columns: []string{"item_id"}, Model: "item"}}}}
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "a table's comment is told if it is not a connection", func(t *testing.T) {
				found, _ := s.endpoint.Call(secret("root"), "find_models", `{"detail":"fields"}`)
				for text, told := range map[string]bool{"What is to do.": true, "wrapper": false, "srv": false} {
					if strings.Contains(found, text) != told {
						t.Errorf("%q is told: %t, want %t: %s", text, !told, told, found)
					}
				}
			})
			s.check(t, "a text that may be another row's is left out, and the status says so", func(t *testing.T) {
				want(t, s.ok(t, "root", "get_item", `{"id":1}`), `{"id":1,"name":"one"}`)
				want(t, s.ok(t, "root", "get_named", `{"id":1}`), `{"id":1,"name":"one"}`)
				if notes := s.endpoint.Status().Database.Notes; !strings.Contains(notes, "item.old is left out") {
					t.Errorf("the notes are %q", notes)
				}
			})
			s.check(t, "a table of the server's own is written, and joined with them", func(t *testing.T) {
				s.ok(t, "root", "create_note", `{"data":{"id":1,"item_id":2,"body":"of two"}}`)
				want(t, s.ok(t, "root", "list_note", `{"fields":["item__name"]}`), `[{"id":1,"item__name":"two"}]`, "results")
				want(t, s.ok(t, "root", "list_item", `{"filters":{"note_by_item__none":{}},"fields":["id"]}`), `[{"id":1},{"id":3}]`, "results")
			})
			s.check(t, "they are read-only, and the status says why", func(t *testing.T) {
				for tool, arguments := range map[string]string{"create": `{"data":{"id":4,"name":"four"}}`, "action": `{"action":"rename","ids":[1]}`} {
					text, _ := s.endpoint.Call(secret("root"), tool+"_item", arguments)
					if !strings.Contains(text, tool+" is not offered for item: its table is only read here, as the database could not undo a change of it") {
						t.Errorf("got %s", text)
					}
				}
				for _, m := range s.endpoint.Status().Models {
					notes := strings.Join(m.Notes, " ")
					for _, words := range []string{"no savepoints", "spec.actions lists rename, which this model cannot offer."} {
						if (m.Name == "item") != strings.Contains(notes, words) {
							t.Errorf("%s: the notes are %s", m.Name, notes)
						}
					}
				}
			})
			s.check(t, "a page of a view is read again by an offset", func(t *testing.T) {
				for range 10 {
					want(t, s.ok(t, "root", "list_pairs", `{"limit":1,"offset":1,"order_by":["id"]}`), `[{"id":2,"code":"two","owner":"who"}]`, "results")
				}
			})
		})
	}
}

// The servers behind a table are asked in the table's character set, which may lack characters of a column.
func TestTextsThatTheirTablesCharacterSetLacks(t *testing.T) {
	const columns = `(code varchar(20) character set utf8mb4, id int, wide varchar(20) character set utf8mb4, kind enum('ж', 'x') character set utf8mb4,
doc text character set utf8mb4, plain varchar(20) character set ascii, west varchar(20) character set latin1, primary key (code, id))`
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Remote {
				t.Skip("its tables have their rows themselves")
			}
			t.Parallel()
			database, plain := engine.Open(t, "create table other (id int primary key)")
			name := nameOf(t, plain)
			harness.On(t, engine.Behind[0]+name, "create table narrow "+columns+";\ninsert into narrow values ('c', 1, 'жé', 'ж', 'ж', 'plain', 'é')")
			var models []contract.Model
			for _, set := range []string{"latin1", "utf8mb3", "utf8mb4"} {
				if _, err := plain.Exec(fmt.Sprintf(`create table %s %s engine = spider default charset = %s comment = 'wrapper "mysql", table "narrow", srv "%s_0"'`, set, columns, set, name)); err != nil {
					t.Fatal(err)
				}
				models = append(models, contract.Model{Name: set, Table: set, Expose: true})
			}
			if _, err := plain.Exec("create view seen as select id, wide, west from latin1"); err != nil {
				t.Fatal(err)
			}
			models = append(models, contract.Model{Name: "seen", Table: "seen", Expose: true, Key: []string{"id"}})
			s := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
			s.check(t, "they are left out, and the status says so", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_latin1", `{}`), `[{"id":1,"plain":"plain","west":"é"}]`, "results")
				want(t, s.ok(t, "root", "list_seen", `{}`), `[{"id":1,"west":"é"}]`, "results")
				want(t, s.ok(t, "root", "list_utf8mb3", `{}`), `[{"id":1,"plain":"plain","west":"é"}]`, "results")
				notes := s.endpoint.Status().Database.Notes
				for _, column := range []string{"latin1.wide", "latin1.kind", "latin1.doc", "latin1.code", "seen.wide", "utf8mb3.wide"} {
					if !strings.Contains(notes, column+" is left out, as some of its characters would be answered as ?") {
						t.Errorf("%s: the notes are %q", column, notes)
					}
				}
			})
			s.check(t, "what the table's character set has stays, and is found", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_latin1", `{"filters":{"west":"é"},"fields":["id"]}`), `[{"id":1}]`, "results")
				want(t, s.ok(t, "root", "list_utf8mb4", `{"filters":{"wide":"жé","west":"é"},"fields":["wide","kind","doc"]}`), `[{"pk":"c,1","wide":"жé","kind":"ж","doc":"ж"}]`, "results")
			})
			s.check(t, "a part of a key is no key", func(t *testing.T) {
				s.fails(t, "root", "get_latin1", `{"id":1}`, "permission_denied")
			})
		})
	}
}

// nameOf is the name of a client's database.
func nameOf(t *testing.T, plain *sql.DB) (name string) {
	t.Helper()
	if err := plain.QueryRow("select database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

// What a row policy reads along may have no savepoints: a part of a call cannot be undone then, and all of it can.
func TestChangesBehindAPolicyThatReadsTablesOfOtherServers(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Remote {
				t.Skip("its tables have their rows themselves")
			}
			t.Parallel()
			database, plain := engine.Open(t, "create table guest (id int primary key, tier varchar(10));\ninsert into guest values (1, 'emea'), (2, 'apac')")
			if _, err := plain.Exec("create table note (id int primary key, guest_id int, body varchar(20) unique)"); err != nil {
				t.Fatal(err)
			}
			models := []contract.Model{{Name: "guest", Table: "guest", Expose: true}, {Name: "note", Table: "note", Expose: true,
				Relations:   []contract.Relation{{Name: "guest", Columns: []string{"guest_id"}, Model: "guest"}},
				RowPolicies: []contract.RowPolicy{{Name: "own", Everyone: true, Filters: []contract.Filter{{Field: "guest__tier", TokenAttribute: "region"}}}}}}
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			bodies := func(t *testing.T, ids string) {
				t.Helper()
				want(t, s.ok(t, "clerk", "list_note", `{"order_by":["id"],"fields":["body"]}`), ids, "results")
			}
			s.check(t, "a bulk of several items works", func(t *testing.T) {
				want(t, s.ok(t, "clerk", "bulk_note", `{"operation":"create","items":[{"data":{"id":1,"guest_id":1,"body":"a"}},{"data":{"id":2,"guest_id":1,"body":"b"}},{"data":{"id":3,"guest_id":1,"body":"c"}}]}`), `3`, "success_count")
				bodies(t, `[{"id":1,"body":"a"},{"id":2,"body":"b"},{"id":3,"body":"c"}]`)
			})
			s.check(t, "an item that fails ends it, and the answer says why", func(t *testing.T) {
				failed := s.fails(t, "clerk", "bulk_note", `{"operation":"create","items":[{"data":{"id":4,"guest_id":1,"body":"d"}},{"data":{"id":5,"guest_id":1,"body":"a"}},{"data":{"id":6,"guest_id":1,"body":"f"}}]}`, "validation_error")
				want(t, failed, `0`, "success_count")
				for part, words := range map[string]string{"error": "nothing was changed; item 1: ", "notice": "the database cannot undo one item by itself"} {
					if told := fmt.Sprint(failed[part]); !strings.Contains(told, words) {
						t.Errorf("%s is %q, want %q in it", part, told, words)
					}
				}
				bodies(t, `[{"id":1,"body":"a"},{"id":2,"body":"b"},{"id":3,"body":"c"}]`)
			})
			s.check(t, "undo takes several changes back", func(t *testing.T) {
				deleted := s.ok(t, "clerk", "action_note", `{"action":"delete_selected","ids":[1,2,3],"confirm":true}`)
				bodies(t, `[]`)
				s.ok(t, "clerk", "undo", fmt.Sprintf(`{"call":%q}`, deleted["call"]))
				bodies(t, `[{"id":1,"body":"a"},{"id":2,"body":"b"},{"id":3,"body":"c"}]`)
			})
			s.check(t, "undo takes back what changes of rows come to", func(t *testing.T) {
				changed := s.ok(t, "clerk", "transact", `{"steps":[{"tool":"update_note","arguments":{"id":1,"data":{"body":"x"}}},{"tool":"update_note","arguments":{"id":1,"data":{"body":"y"}}},{"tool":"update_note","arguments":{"id":2,"data":{"body":"x"}}}]}`)
				bodies(t, `[{"id":1,"body":"y"},{"id":2,"body":"x"},{"id":3,"body":"c"}]`)
				s.ok(t, "clerk", "undo", fmt.Sprintf(`{"call":%q}`, changed["call"]))
				bodies(t, `[{"id":1,"body":"a"},{"id":2,"body":"b"},{"id":3,"body":"c"}]`)
			})
		})
	}
}

// An endpoint starts while a server behind a table is away: what lies elsewhere is served, with its foreign keys.
func TestAServerBehindATableIsAway(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Remote {
				t.Skip("its tables have their rows themselves")
			}
			t.Parallel()
			database, plain := engine.Open(t, "create table far (id int primary key)")
			for _, statement := range []string{
				"create table parent (id int primary key)",
				"create table child (id int primary key, parent_id int, foreign key (parent_id) references parent (id) on delete cascade)",
				"insert into parent values (1)", "insert into child values (7, 1)",
				`create table away (id int primary key) engine = spider comment = 'wrapper "mysql", host "127.0.0.1", port "1", user "nobody", database "none", table "none"'`,
			} {
				if _, err := plain.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			var models []contract.Model
			for _, name := range []string{"far", "parent", "child", "away"} {
				models = append(models, contract.Model{Name: name, Table: name, Expose: true})
			}
			s := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
			s.check(t, "the other tables are served, with their foreign keys", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_far", `{}`), `0`, "total_count")
				want(t, s.ok(t, "root", "list_child", `{"filters":{"parent__id":1},"fields":["id"]}`), `[{"id":7}]`, "results")
				if message := fmt.Sprint(s.ok(t, "root", "delete_parent", `{"id":1,"dry_run":true}`)["message"]); !strings.Contains(message, "1 child") {
					t.Errorf("the deletion says %q", message)
				}
			})
			s.check(t, "a call about its table says so", func(t *testing.T) {
				message := fmt.Sprint(s.fails(t, "root", "list_away", `{}`, "unavailable")["error"])
				if !strings.Contains(message, "a server that has rows of a table cannot be reached") || strings.Contains(message, "127.0.0.1") {
					t.Errorf("got %s", message)
				}
			})
		})
	}
}

// A server behind a table does not have it as the server in front says, or does not let its user see it.
func TestAServerBehindATableLacksSomething(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Remote {
				t.Skip("its tables have their rows themselves")
			}
			t.Parallel()
			database, plain := engine.Open(t, `create table well (id int primary key, name varchar(10));
create table gone (id int primary key);
create table thin (id int primary key, name varchar(10));
create table closed (id int primary key)`)
			there := lessThan(t, engine, plain)
			var models []contract.Model
			for _, name := range []string{"well", "gone", "thin", "closed", "never"} {
				models = append(models, contract.Model{Name: name, Table: name, Expose: true})
			}
			models[0].Reports = []contract.Report{{Name: "names", Statement: "select t.name from thin t"}}
			s := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
			for _, name := range []string{"well", "gone", "thin", "closed"} {
				s.ok(t, "root", "list_"+name, `{}`)
			}
			there()
			tells := func(words string, calls ...string) {
				s.check(t, words, func(t *testing.T) {
					for _, call := range calls {
						tool, arguments, _ := strings.Cut(call, " ")
						message := fmt.Sprint(s.fails(t, "root", tool, arguments, "unavailable")["error"])
						if !strings.Contains(message, words) || strings.Contains(message, "mcp_test") {
							t.Errorf("%s: got %s", call, message)
						}
					}
				})
			}
			tells("has no such table, or not all of its columns", "list_gone {}", "list_never {}", "list_thin {}", `aggregate_gone {"measures":{"n":{"count":"*"}}}`, `report_well {"report":"names"}`)
			tells("refuses this to the user that the database connects as", "list_closed {}")
			s.check(t, "a change of the table in front is told as one", func(t *testing.T) {
				if _, err := plain.Exec("alter table well drop column name"); err != nil {
					t.Fatal(err)
				}
				if message := fmt.Sprint(s.fails(t, "root", "list_well", `{}`, "unavailable")["error"]); !strings.Contains(message, "the table has just changed") {
					t.Errorf("got %s", message)
				}
			})
			s.check(t, "an endpoint that starts then serves the others", func(t *testing.T) {
				later := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
				later.ok(t, "root", "list_well", `{}`)
				later.fails(t, "root", "list_gone", `{}`, "unavailable")
			})
		})
	}
}

// lessThan has the table closed shown as a user who may read it alone, and a table never that is not there. It returns what takes
// something away behind the tables.
func lessThan(t *testing.T, engine harness.Engine, plain *sql.DB) (takeAway func()) {
	t.Helper()
	name := nameOf(t, plain)
	where, err := url.Parse(engine.Behind[0])
	if err != nil {
		t.Fatal(err)
	}
	_, behind := harness.On(t, engine.Behind[0]+name, "select 1")
	run := func(on *sql.DB, statements ...string) {
		for _, statement := range statements {
			if _, err := on.Exec(strings.ReplaceAll(statement, "NAME", name)); err != nil {
				t.Error(err)
			}
		}
	}
	run(behind, "create user NAME identified by 'NAME'", "grant select on NAME.closed to NAME")
	run(plain, fmt.Sprintf("create server NAME_less foreign data wrapper mysql options (host '%s', port %s, user 'NAME', password 'NAME', database 'NAME')", where.Hostname(), where.Port()),
		"drop table closed", `create table closed (id int primary key) engine = spider comment = 'wrapper "mysql", table "closed", srv "NAME_less"'`,
		`create table never (id int primary key) engine = spider comment = 'wrapper "mysql", table "none", srv "NAME_0"'`)
	t.Cleanup(func() {
		run(plain, "drop server NAME_less")
		run(behind, "drop user NAME")
	})
	return func() {
		run(behind, "drop table gone", "alter table thin drop column name", "revoke select on NAME.closed from NAME")
	}
}
