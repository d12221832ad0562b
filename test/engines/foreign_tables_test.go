package engines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// behind is the database whose tables another one shows as foreign tables.
const behind = `
create table visitor (id int primary key, name varchar(40) not null, region varchar(10) not null, visits int not null default 0, constraint visits_counted check (visits >= 0));
create table visit_far (id int primary key, visitor_id int references visitor (id) deferrable initially deferred, region varchar(10) not null, note varchar(40));
insert into visitor values (1, 'Ann', 'near', 3), (2, 'Bob', 'far', 1), (3, 'Cy', 'far', 0);
insert into visit_far values (2, 1, 'far', 'second');`

// before is the database that is served: HERE stands for the options of the server behind it, WHO for its user's.
const before = `
create extension postgres_fdw;
create server shard foreign data wrapper postgres_fdw options (HERE);
create server away foreign data wrapper postgres_fdw options (host '127.0.0.1', port '1', dbname 'hidden_name');
create server closed foreign data wrapper postgres_fdw options (HERE);
create user mapping for current_user server shard options (WHO);
create user mapping for current_user server away options (WHO);
create foreign table visitor (id int not null, name varchar(40) not null, region varchar(10) not null, visits int not null default 0) server shard;
create foreign table visitor_kept (id int not null, name varchar(40)) server shard options (table_name 'visitor', updatable 'false');
create table visit (id int not null, visitor_id int, region varchar(10) not null, note varchar(40)) partition by list (region);
create table visit_near partition of visit for values in ('near');
create foreign table visit_far partition of visit for values in ('far') server shard;
insert into visit values (1, 1, 'near', 'first');
create foreign table gone (id int not null) server shard;
create foreign table away (id int not null) server away;
create foreign table closed (id int not null) server closed;`

// foreign are the models on them. Foreign tables have no primary key, so that a key is declared.
func foreign() []contract.Model {
	id := []string{"id"}
	return []contract.Model{
		{Name: "visitor", Table: "visitor", Expose: true, Key: id,
			RowPolicies: []contract.RowPolicy{
				{Name: "own-region", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", Value: "far"}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			},
			Actions: []contract.Action{{Name: "welcome", SQL: &contract.SQLAction{Statement: "update visitor set visits = visits + 1 where id in (:ids)"}}}},
		{Name: "visitor_kept", Table: "visitor_kept", Expose: true, Key: id},
		{Name: "visit", Table: "visit", Expose: true, Key: id, Relations: []contract.Relation{{Name: "visitor", Columns: []string{"visitor_id"}, Model: "visitor"}}},
		{Name: "gone", Table: "gone", Expose: true, Key: id}, {Name: "away", Table: "away", Expose: true, Key: id}, {Name: "closed", Table: "closed", Expose: true, Key: id},
	}
}

func TestForeignTables(t *testing.T) {
	for _, engine := range harness.Engines {
		if engine.Name != contract.EnginePostgreSQL {
			continue
		}
		far := databasetest.PostgreSQL(t)
		databasetest.Execute(t, databasetest.URI(far), behind)
		_, there := harness.On(t, databasetest.URI(far), "select 1")
		script := strings.NewReplacer(
			"HERE", fmt.Sprintf("host '%s', port '%d', dbname '%s'", far.Host, far.Port, far.Database), "WHO", fmt.Sprintf("user '%s', password '%s'", far.User, far.Password),
		).Replace(before)
		database, plain := engine.Open(t, script)
		s := &suite{engine, harness.Serve(t, database, foreign(), tokens(), withAudit, keeping), plain}
		remote := &suite{Engine: engine, plain: there}
		s.readsForeign(t)
		s.writesForeign(t, remote)
		s.tells(t, messagesOfForeignTables)
		s.check(t, "what is not offered, and why", func(t *testing.T) {
			keyless := "No update or delete: the database cannot keep a key of foreign tables unique, also where they are partitions. Rows are changed through an endpoint on the server that has them."
			for model, note := range map[string]string{
				"visitor": keyless, "visit": keyless,
				"visitor_kept": "Read-only: the foreign table public.visitor_kept takes no changes (its option updatable, or what its wrapper can do).",
			} {
				i := slices.IndexFunc(s.endpoint.Status().Models, func(m contract.ModelStatus) bool { return m.Name == model })
				if got := s.endpoint.Status().Models[i].Notes; !slices.Contains(got, note) {
					t.Errorf("%s: the notes are %q, want %q", model, got, note)
				}
			}
			for _, tool := range []string{"update_visitor", "delete_visit", "action_visitor", "create_visitor_kept"} {
				s.fails(t, "root", tool, `{"id":1}`, "permission_denied")
			}
			if notes := fmt.Sprint(s.endpoint.Status().Database.Notes); !strings.Contains(notes, "their servers commit by themselves") {
				t.Errorf("the notes of the database are %s", notes)
			}
		})
	}
}

func (s *suite) readsForeign(t *testing.T) {
	t.Helper()
	s.check(t, "rows, groups and relations of both servers", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_visitor", `{"order_by":["-name"],"filters":{"region":"far"},"fields":["id"]}`), `[{"id":3},{"id":2}]`, "results")
		want(t, s.ok(t, "root", "aggregate_visitor", `{"group_by":["region"],"measures":{"n":{"count":"*"},"v":{"sum":"visits"}}}`),
			`[{"region":"far","n":2,"v":1},{"region":"near","n":1,"v":3}]`, "results")
		want(t, s.ok(t, "root", "get_visitor", `{"id":2}`), `"Bob"`, "name")
		want(t, s.ok(t, "root", "list_visit", `{"order_by":["id"],"fields":["id","visitor__name"]}`), `[{"id":1,"visitor__name":"Ann"},{"id":2,"visitor__name":"Ann"}]`, "results")
		want(t, s.ok(t, "root", "list_visitor", `{"filters":{"visit_by_visitor__any":{"note":"second"}},"fields":["id"]}`), `[{"id":1}]`, "results")
		want(t, s.ok(t, "root", "aggregate_visit", `{"group_by":["region"],"measures":{"n":{"count":"*"}}}`), `[{"region":"far","n":1},{"region":"near","n":1}]`, "results")
		want(t, s.ok(t, "clerk", "list_visitor", `{"fields":["id"],"order_by":["id"]}`), `[{"id":2},{"id":3}]`, "results")
	})
}

func (s *suite) writesForeign(t *testing.T, remote *suite) {
	t.Helper()
	s.check(t, "a row lies on the server of its partition, and what fails leaves nothing there", func(t *testing.T) {
		want(t, s.ok(t, "root", "create_visitor", `{"data":{"id":4,"name":"Di","region":"far"},"idempotency_key":"once-4"}`), `0`, "object", "visits")
		s.ok(t, "root", "create_visitor", `{"data":{"id":4,"name":"Di","region":"far"},"idempotency_key":"once-4"}`)
		s.ok(t, "root", "create_visit", `{"data":{"id":10,"region":"far"}}`)
		s.ok(t, "root", "create_visit", `{"data":{"id":11,"region":"near"}}`)
		remote.holds(t, "select id from visit_far order by id", "2 10")
		s.holds(t, "select id from visit_near order by id", "1 11")
		s.ok(t, "root", "create_visitor", `{"data":{"id":5,"name":"Ed","region":"far"},"dry_run":true}`)
		s.fails(t, "root", "transact", `{"steps":[{"tool":"create_visitor","arguments":{"data":{"id":30,"name":"Flo","region":"far"}}},{"tool":"create_visit","arguments":{"data":{"id":31,"region":"other"}}}]}`, "validation_error")
		s.ok(t, "root", "bulk_visitor", `{"operation":"create","items":[{"data":{"id":20,"name":"Gus","region":"far"}},{"data":{"id":21,"name":"Hal","region":"far"}}]}`)
		remote.holds(t, "select id from visitor order by id", "1 2 3 4 20 21")
	})
	s.check(t, "a server that refuses at the commit leaves it open what was committed", func(t *testing.T) {
		told := s.fails(t, "root", "create_visit", `{"data":{"id":13,"region":"far","visitor_id":77}}`, "unavailable")
		if message := fmt.Sprint(told["error"]); !strings.Contains(message, "it is not known whether it took hold; read the rows") { // a key may be missing
			t.Errorf("got %s", message)
		}
		remote.holds(t, "select count(*) from visit_far where id = 13", "0")
	})
}

var messagesOfForeignTables = []messageRow{
	{token: "root", tool: "create_visitor", arguments: `{"data":{"id":1,"name":"x","region":"far"}}`,
		want: `__all__: some value must be unique, and another row has it`},
	{token: "root", tool: "create_visitor", arguments: `{"data":{"id":9,"name":"x","region":"far","visits":-1}}`,
		want: `__all__: the value does not meet a rule of the database`},
	{token: "root", tool: "create_visit", arguments: `{"data":{"id":9,"region":"other"}}`,
		want: `region: the database has no partition for this value`},
	{token: "clerk", tool: "create_visitor", arguments: `{"data":{"id":9,"name":"x","region":"far"}}`,
		want: `a row cannot be added: visitor has no key, so that it cannot be checked whether you may see the new row`},
	{token: "root", tool: "list_gone", arguments: `{}`, want: `a foreign table does not fit the table behind it; whoever administers the database must change one of the two`},
	{token: "root", tool: "list_away", arguments: `{}`, want: `the server behind a foreign table cannot be reached, and nothing was changed; try again in a few seconds`},
	{token: "root", tool: "create_away", arguments: `{"data":{"id":1}}`, want: `the server behind a foreign table cannot be reached, and nothing was changed; try again in a few seconds`},
	{token: "root", tool: "list_closed", arguments: `{}`, want: `the database user of this endpoint may not do that, and trying again will not help; whoever administers the database can grant it`},
}

// keeping keeps the answers of calls with an idempotency key.
func keeping(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"} }
