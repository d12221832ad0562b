package postgres_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestLongStatementsAreNotKept(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, "CREATE VIEW kept AS SELECT name::text, length(statement) AS size FROM pg_prepared_statements"),
		func(s *database.Settings) { s.MaxConnections = 1 }))
	kept := databasetest.Table(t, databasetest.Introspect(t, db), "public.kept")
	size := kept.Column("size")
	var long database.Or
	for range 1000 {
		long = append(long, database.Compare{Column: size, Op: database.Equal, Value: int64(-1)})
	}
	for _, condition := range []database.Condition{database.Compare{Column: size, Op: database.Greater, Value: int64(8 << 10)}, long} {
		plan := all(kept)
		plan.Where, plan.Total = condition, database.TotalExact
		for range 3 {
			read(t, db, plan)
		}
	}
	plan := all(kept)
	plan.Output = plan.Output[:1]
	plan.Where = database.Compare{Column: size, Op: database.Greater, Value: int64(8 << 10)}
	if got := read(t, db, plan); got != "[]" {
		t.Errorf("long statements are prepared: %s", got)
	}
	plan.Where = database.Compare{Column: size, Op: database.LessOrEqual, Value: int64(8 << 10)}
	if got := read(t, db, plan); got == "[]" {
		t.Error("no short statement is prepared")
	}
}
