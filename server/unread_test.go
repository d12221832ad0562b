package server_test

import (
	"database/sql"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// withTable is a Config with the model of another table besides the books'.
func withTable(revision int64, table string) *contract.Config {
	c := config(revision)
	c.Models = append(c.Models, contract.Model{
		Exposure: table, UID: table, Name: table, Table: table, Expose: true, VerboseName: table, VerboseNamePlural: table + "s",
		DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000,
	})
	return c
}

func TestAConfigThatNamesWhatIsNotThereHasTheSchemaReadAgain(t *testing.T) {
	t.Parallel()
	var file string
	r := start(t, func(s *server.Server, _ *running) { file = s.SQLiteFile })
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	run := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", file)
		if err == nil {
			defer db.Close()
			_, err = db.Exec(statement)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	second := func(reason string) func(contract.Status) bool {
		return func(s contract.Status) bool { return len(s.Models) == 2 && s.Models[1].Reason == reason }
	}

	run("create table author (author_id integer primary key)")
	r.apply(source.Update{Config: withTable(2, "author")})
	r.until("served, though its table is younger than the schema", second(contract.ReasonServed))

	// As long as the schema was not read since, nobody calls the table missing.
	r.away.Store(true)
	r.apply(source.Update{Config: withTable(3, "shelf")})
	s := r.status("", "")
	if !second(contract.ReasonWaitingForReport)(s) || !s.Models[0].Served() || s.Revision != 3 {
		t.Fatalf("before the schema was read: %+v", s)
	}
	r.away.Store(false)
	r.until("known to be missing", second(contract.ReasonTableNotFound))
	// What was found missing stays so under a Config that changes something else.
	other := withTable(4, "shelf")
	other.Models[0].VerboseName = "volume"
	r.away.Store(true)
	r.apply(source.Update{Config: other})
	if s := r.status("", ""); !second(contract.ReasonTableNotFound)(s) || s.Revision != 4 {
		t.Errorf("after a change of another model: %+v", s)
	}
	r.away.Store(false)
	run("create table shelf (shelf_id integer primary key)")
	r.until("served once its table has come", second(contract.ReasonServed))
}
