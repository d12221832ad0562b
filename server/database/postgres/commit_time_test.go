package postgres_test

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// A commit that waits, for a standby or for what a trigger does then, is given up after the time of one statement, however many
// rows of the journal go with it: with the time of each of these 40 it would last 200 s.
func TestCommitsThatWaitAreGivenUpAfterOneStatementsTime(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	c := filled(t, accounts+`;
		CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait();`)
	db := open(t, settings(c, func(s *database.Settings) { s.StatementTimeout = contract.Duration(timeout) }))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	var began time.Time
	e := within(t, db, func(tx database.Tx) error {
		for id := range int64(40) {
			plan := &database.Insert{Into: database.NewSource(table, nil), Set: set(table, "id", 100+id)}
			if err := tx.InsertLater(t.Context(), plan); err != nil {
				return err
			}
		}
		began = time.Now()
		return nil
	})
	if took := time.Since(began); e == nil || e.Code != database.Timeout || took > 10*timeout {
		t.Errorf("after %v: %v", took, e)
	}
	if got := scalar(t, c, "SELECT count(*) FROM account"); got != "2" {
		t.Errorf("there are %s rows", got)
	}
}
