package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// tables are the tables of a test. Only those that it made are dropped.
type tables struct {
	*run
	// made are the numbers of the tables that were made, or may have been.
	made []int
	// keys reports whether they have foreign keys.
	keys bool
	// whyNoKeys is why the engine took none.
	whyNoKeys error
}

// own is the number of tables that the test makes by itself.
func (t *tables) own() int { return len(t.SQL.Names) - 2 }

// make makes the tables and reads the schema with them. It does not begin if one of them is there.
func (t *tables) make(ctx context.Context) error {
	before, err := t.base.Introspect(ctx)
	if err != nil {
		return t.refused(err)
	}
	if len(before.MissingSchemas) > 0 {
		return fmt.Errorf("the schema of --schema is not there, or the user may not use it; make it first")
	}
	if slices.Contains(before.Sharded, cmp.Or(t.Schema, before.Database)) {
		return errors.New("the schema's tables lie on several shards, and each needs a rule of its own in the VSchema: name a schema of one shard with --schema, or leave it out: then nothing is written")
	}
	var there []string
	for i, name := range t.SQL.Names {
		if t.found(before, name) != nil {
			there = append(there, t.SQL.Drop(i))
		}
	}
	if len(there) > 0 {
		return fmt.Errorf("tables of another test are there: one that still runs, or one that was killed; if none runs, drop them first:\n  %s", strings.Join(there, ";\n  "))
	}
	t.keys = true
	if t.whyNoKeys = t.makeOwn(ctx); t.whyNoKeys != nil && ctx.Err() == nil {
		if err := t.drop(ctx); err != nil {
			return err
		}
		t.keys = false
		if err := t.makeOwn(ctx); err != nil {
			return t.refused(err)
		}
	}
	return t.read(ctx)
}

func (t *tables) refused(err error) error {
	if database.AsError(err).Code == database.Refused {
		return errors.New("the database's user may not make tables in the schema of --schema; grant it that right, or leave --schema out: then nothing is written")
	}
	return fmt.Errorf("the tables of the test cannot be made: %s (%s)", database.AsError(err).Message, t.say(err))
}

// makeOwn makes the tables that the server does not make.
func (t *tables) makeOwn(ctx context.Context) error {
	for i, statement := range t.SQL.Make(t.keys) {
		err := t.execute(ctx, t.base, statement)
		if err == nil || unsure(ctx, err) {
			t.made = append(t.made, i)
		}
		// A node of a cluster ends the transaction with the statement, and then says that it was undone.
		if err != nil && database.AsError(err).Code != database.Locked {
			return err
		}
	}
	return nil
}

// unsure reports whether nobody knows if a statement took hold.
func unsure(ctx context.Context, err error) bool {
	switch database.AsError(err).Code {
	case database.Locked, database.Uncertain, database.Unconfirmed, database.Unreachable, database.Timeout, database.Cancelled:
		return true
	}
	return ctx.Err() != nil
}

// execute runs a statement in a transaction of its own.
func (t *tables) execute(ctx context.Context, db database.DB, statement string) error {
	return db.Transact(ctx, func(tx database.Tx) error {
		_, err := tx.Execute(ctx, declared(statement))
		return err
	})
}

// read opens the database as an endpoint with an audit table does, which makes the server's own tables, and reads the schema.
func (t *tables) read(ctx context.Context) error {
	t.made = append(t.made, t.own(), t.own()+1)
	e := settings(baseTime, false)
	if t.Schema != "" {
		e.Database.Schemas = []string{t.Schema}
	}
	e.Audit, e.Idempotency = &contract.AuditTable{Name: t.SQL.Names[t.own()]}, &contract.AuditTable{Name: t.SQL.Names[t.own()+1]}
	t.base.Close()
	t.base = t.Open(e, true)
	schema, err := t.base.Introspect(ctx)
	if err != nil {
		return t.refused(err)
	}
	for _, name := range t.SQL.Names[:t.own()] {
		if t.found(schema, name) == nil {
			return errors.New("a table of the test was made, and introspection does not find it: the catalogue does not tell of it, or the user may not see it")
		}
	}
	t.schema, t.agent = schema, newAgent(t.run, e, schema)
	return nil
}

// found is the table of the test of that name; nil if there is none.
func (t *tables) found(schema *database.Schema, name string) *database.Table {
	i := slices.IndexFunc(schema.Tables, func(x *database.Table) bool { return x.Name == name && (t.Schema == "" || x.Schema == t.Schema) })
	if i < 0 {
		return nil
	}
	return schema.Tables[i]
}

// table is a table of the test, by the end of its name.
func (t *tables) table(name string) *database.Table {
	i := slices.IndexFunc(t.SQL.Names, func(whole string) bool { return strings.HasSuffix(whole, "_"+name) })
	return t.found(t.schema, t.SQL.Names[i])
}

// dropTime is how long dropping may take.
const dropTime = 2 * time.Minute

// drop drops the tables that were made, the last one first.
func (t *tables) drop(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, dropTime)
	defer cancel()
	var failure error
	for _, i := range slices.Backward(t.made) {
		if err := t.execute(limited, t.base, t.SQL.Drop(i)); err != nil && !t.isGone(limited, i) {
			t.report.Left = append(t.report.Left, t.SQL.Drop(i))
			failure = err
		}
	}
	t.made = nil
	if failure != nil {
		return fmt.Errorf("tables of the test could not be dropped (%s); run:\n  %s", t.say(failure), strings.Join(t.report.Left, ";\n  "))
	}
	return nil
}

// isGone reports whether a table is not there although the engine gave an error. The database that reads makes no table again.
func (t *tables) isGone(ctx context.Context, i int) bool {
	schema, err := t.reading.Introspect(ctx)
	return err == nil && t.found(schema, t.SQL.Names[i]) == nil
}

func declared(statement string) *database.Declared {
	return &database.Declared{Pieces: []database.Piece{{SQL: statement}}}
}
