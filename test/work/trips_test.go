package work

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const counted = `
create table account (id int primary key, owner varchar(50) not null, balance int not null);
create table entry (id int primary key, account_id int not null, note varchar(50), stamp varchar(50), foreign key (account_id) references account (id));
create table stamped (id int primary key, note varchar(50), stamp varchar(50));
create table owned (id int primary key, account_id int not null, note varchar(50), foreign key (account_id) references account (id));
insert into account values (1, 'Ann', 100), (2, 'Bob', 200);
insert into stamped values (1, 'x', null);
insert into owned values (1, 1, 'x');
create function stamp() returns trigger language plpgsql as $$ begin update stamped set stamp = 'seen' where id = new.id and stamp is null; return null; end $$;
create trigger stamps after insert or update on stamped for each row execute function stamp();
`

// A write costs few round trips to PostgreSQL, with a journal, row policies and kept answers (docs/design/writes-and-deletes.md,
// "Round trips").
func TestRoundTripsOfWrites(t *testing.T) {
	database, _ := postgreSQL(t).Open(t, counted)
	trips := countTrips(t, &database)
	token := contract.Token{Namespace: "test", Name: "writer", Hashes: []string{contract.HashToken(writer)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	rich := []contract.RowPolicy{{Name: "rich", Everyone: true, Filters: []contract.Filter{{Field: "balance", Lookup: "gt", Value: "0"}}}}
	ofRich := []contract.RowPolicy{{Name: "of the rich", Everyone: true, Filters: []contract.Filter{{Field: "account__balance", Lookup: "gt", Value: "0"}}}}
	e := harness.Serve(t, database, []contract.Model{{Name: "account", Table: "account", RowPolicies: rich}, {Name: "entry", Table: "entry"},
		{Name: "stamped", Table: "stamped"}, {Name: "owned", Table: "owned", RowPolicies: ofRich}}, []contract.Token{token},
		func(c *contract.Config) {
			c.Endpoint.Audit, c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_log"}, &contract.AuditTable{Name: "mcp_answers"}
		})
	for _, call := range []struct {
		name, tool, arguments string
		trips                 int64
	}{
		{"begin and the row; the journal and the commit", "create_account", `{"data":{"id":%d,"owner":"Cy","balance":1}}`, 2},
		{"with begin the row as it was and the row as it is; the journal and the commit", "update_account", `{"id":1,"data":{"balance":%d}}`, 2},
		{"a refused one ends with the rollback", "update_account", `{"id":1,"data":{"balance":-%d}}`, 2},
		{"what a trigger makes of an update is read with it", "update_stamped", `{"id":1,"data":{"note":"n%d"}}`, 2},
		{"what a trigger makes of a new row is read by its key", "create_stamped", `{"data":{"id":%d}}`, 3},
		{"a policy that looks at other rows asks for the new row", "create_owned", `{"data":{"id":%d,"account_id":1}}`, 3},
		{"the row, the deletion, the journal with the commit", "delete_entry", `{"id":%d}`, 3},
		{"the key before and its answer after", "update_account", `{"id":2,"data":{"balance":%d},"idempotency_key":"k%[1]d"}`, 4},
		{"a trip for each step, and the commit", "transact", `{"steps":[{"tool":"get_account","arguments":{"id":1}},
			{"tool":"update_account","arguments":{"id":1,"data":{"balance":%d}}},
			{"tool":"create_owned","arguments":{"data":{"id":10%[1]d,"account_id":1}}},
			{"tool":"update_account","arguments":{"id":2,"data":{"balance":%[1]d}}},
			{"tool":"create_account","arguments":{"data":{"id":10%[1]d,"owner":"Di","balance":5}}}]}`, 7},
		{"a row of a bulk: the row; the journal and the end of its savepoint", "bulk_account",
			`{"operation":"create","items":[{"data":{"id":20%d,"owner":"E","balance":1}},{"data":{"id":30%[1]d,"owner":"F","balance":1}}]}`, 5},
	} {
		t.Run(call.tool+", "+call.name, func(t *testing.T) {
			least := int64(1000)
			for n := 10; n < 18; n++ { // statements that come again are prepared, and connections are pinged and schemas read now and then
				if call.tool == "delete_entry" {
					e.Post(writer, fmt.Sprintf(`{"method":"tools/call","name":"create_entry","arguments":{"data":{"id":%d,"account_id":1}}}`, n))
				}
				before := trips.Load()
				e.Post(writer, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, call.tool, fmt.Sprintf(call.arguments, n)))
				least = min(least, trips.Load()-before)
			}
			if least != call.trips {
				t.Errorf("%d round trips, want %d", least, call.trips)
			}
		})
	}
}

func postgreSQL(t *testing.T) harness.Engine {
	t.Helper()
	i := slices.IndexFunc(harness.Engines, func(e harness.Engine) bool { return e.Name == contract.EnginePostgreSQL })
	return harness.Engines[i]
}
