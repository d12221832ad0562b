package engines

import (
	"fmt"
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
		s := &suite{engine, harness.Serve(t, database, foreign(), tokens(), withAudit), plain}
		remote := &suite{Engine: engine, plain: there}
		for name, test := range foreignCases {
			_ = name
			_ = test
		}
		for _, c := range [][2]string{
			{"list_visitor", `{"order_by":["-name"],"filters":{"region":"far"}}`},
			{"aggregate_visitor", `{"group_by":["region"],"measures":{"n":{"count":"*"},"v":{"sum":"visits"}}}`},
			{"get_visitor", `{"id":2}`},
			{"list_visit", `{"order_by":["id"],"fields":["id","note","visitor__name"]}`},
			{"list_visitor", `{"filters":{"visit_by_visitor__any":{"note":"second"}}}`},
			{"aggregate_visit", `{"group_by":["region"],"measures":{"n":{"count":"*"}}}`},
			{"create_visitor", `{"data":{"id":4,"name":"Di","region":"far"}}`},
			{"create_visitor", `{"data":{"id":4,"name":"Di","region":"far"}}`},
			{"create_visitor", `{"data":{"id":5,"name":"Di","region":"far","visits":-1}}`},
			{"create_visitor", `{"data":{"id":5,"region":"far"}}`},
			{"create_visit", `{"data":{"id":10,"region":"far","note":"x"}}`},
			{"create_visit", `{"data":{"id":11,"region":"near","note":"x"}}`},
			{"create_visit", `{"data":{"id":12,"region":"other","note":"x"}}`},
			{"create_visit", `{"data":{"id":13,"region":"far","visitor_id":77},"dry_run":true}`},
			{"create_visit", `{"data":{"id":13,"region":"far","visitor_id":77}}`},
			{"bulk_create_visitor", `{"items":[{"data":{"id":20,"name":"Ed","region":"far"}},{"data":{"id":1,"name":"Ed","region":"far"}}]}`},
			{"bulk_visitor", `{"items":[{"data":{"id":20,"name":"Ed","region":"far"}},{"data":{"id":1,"name":"Ed","region":"far"}}]}`},
			{"transact", `{"steps":[{"tool":"create_visitor","arguments":{"data":{"id":30,"name":"Flo","region":"far"}}},{"tool":"create_visit","arguments":{"data":{"id":31,"region":"other"}}}]}`},
			{"update_visitor", `{"id":1,"data":{"name":"x"}}`},
			{"delete_visitor", `{"id":1}`},
			{"action_visitor", `{"action":"welcome","ids":[1,2]}`},
			{"create_visitor_kept", `{"data":{"id":99,"name":"x"}}`},
			{"list_gone", `{}`}, {"list_away", `{}`}, {"create_away", `{"data":{"id":1}}`}, {"list_closed", `{}`},
			{"describe_visit", `{}`},
			{"describe_visitor", `{}`},
		} {
			text, isError := s.endpoint.Call(secret("root"), c[0], c[1])
			t.Log(c, isError, text)
		}
		t.Log(s.endpoint.Call(secret("clerk"), "list_visitor", `{}`))
		t.Log(s.endpoint.Call(secret("clerk"), "create_visitor", `{"data":{"id":40,"name":"Gus","region":"far"}}`))
		t.Log(remote.sql(t, "select id from visitor order by id"))
		t.Log(s.operations(t, "root"))
		for _, m := range s.endpoint.Status().Models {
			t.Logf("%+v", m)
		}
		t.Logf("%+v", s.endpoint.Status().Database)
	}
}

var foreignCases = map[string]func(*testing.T){}
