package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// connecting is the first check: without it there is nothing else to try.
var connecting = trial{
	name: "catalogue", expected: "a session takes the settings, and the catalogue tells tables, columns, keys and rights",
	means: "nothing is served: the endpoint stays without models", needed: true,
	try: func(ctx context.Context, r *run) (string, error) {
		schema, err := r.base.Introspect(ctx)
		if err != nil {
			return "", err
		}
		r.schema, r.report.Engine, r.report.Version = schema, schema.Engine, schema.Version
		without := 0
		for _, t := range schema.Tables {
			if t.Kind == database.BaseTable && len(t.PrimaryKey) == 0 {
				without++
			}
		}
		return fmt.Sprintf("tables and views: %d, tables without a primary key: %d", len(schema.Tables), without), nil
	},
}

// reading are the checks that write nothing.
var reading = []trial{
	{
		name: "schema watch", expected: "the catalogue tells at little cost that it has not changed",
		means: "the whole schema is read again every minute",
		try: func(ctx context.Context, r *run) (string, error) {
			watched, ok := r.base.(database.Watched)
			if !ok {
				return "", unasked{"this engine's schema is always read as a whole"}
			}
			if _, err := r.base.Introspect(ctx); err != nil {
				return "", err
			}
			if same, err := watched.Unchanged(ctx); err != nil || !same {
				return "", orUnexpected(err, "it does not tell")
			}
			return "", nil
		},
	},
	{
		name: "page", expected: "a page of rows in the order of a key, with its number of rows",
		means: "list and get fail", needed: true,
		try: func(ctx context.Context, r *run) (string, error) {
			plan, err := r.anyPage()
			if err != nil {
				return "", err
			}
			return "", onePage(ctx, r.base, plan)
		},
	},
	{
		name: "estimate", expected: "the planner tells about how many rows a list has",
		means: "a list with too many rows to count has no total_count",
		try: func(ctx context.Context, r *run) (string, error) {
			estimator, ok := r.base.(database.Estimator)
			if !ok {
				return "", unasked{"the server estimates nothing on this engine"}
			}
			plan, err := r.anyPage()
			if err != nil {
				return "", err
			}
			if rows, err := estimator.Estimate(ctx, plan); err != nil || rows < 0 {
				return "", orUnexpected(err, "it does not tell")
			}
			return "", nil
		},
	},
	{
		name: "read-only access", expected: "a transaction that only reads can be begun",
		means: "spec.database.access: ReadOnly cannot be used; give the endpoint a user who may only read",
		try: func(ctx context.Context, r *run) (string, error) {
			plan, err := r.anyPage()
			if err != nil {
				return "", err
			}
			return "", onePage(ctx, r.reading, plan)
		},
	},
	{
		name: "report", expected: "a declared query runs in a transaction that only reads and is undone",
		means: "reports of exposures fail",
		try: func(ctx context.Context, r *run) (string, error) {
			out, err := r.ask(ctx, r.base, "SELECT "+versionFunction[r.schema.Engine])
			var says []string
			if err == nil && (json.Unmarshal(out, &says) != nil || len(says) != 1) {
				err = unexpected{"an answer that is no text"}
			}
			if err == nil {
				r.report.Says = r.hidden(says[0])
			}
			return "", err
		},
	},
	{
		name: "time limit", expected: "a statement that takes longer than it may is ended",
		means: "a call may keep a connection for as long as the database lets it", needed: true,
		try: func(ctx context.Context, r *run) (string, error) {
			return "", endsAs(database.Timeout, endless(ctx, r, r.brief))
		},
	},
	{
		name: "cancellation", expected: "a statement whose caller went away is ended",
		means: "calls that were cancelled go on in the database",
		try: func(ctx context.Context, r *run) (string, error) {
			cancelled, cancel := context.WithTimeout(ctx, cancelAfter)
			defer cancel()
			return "", endsAs(database.Cancelled, endless(cancelled, r, r.base))
		},
	},
	{
		name: "savepoint", expected: "a transaction goes on after a statement that failed",
		means: "bulk, transact and dry runs fail", needed: true,
		try: func(ctx context.Context, r *run) (string, error) {
			if r.schema.ReadOnly != "" {
				return "", neverWritten
			}
			return "", undone(ctx, r.base, func(tx database.Tx) error {
				if _, err := tx.Execute(ctx, declared("SELECT 1")); err != nil {
					return err
				}
				if err := tx.Savepoint(ctx, func() error {
					_, err := tx.Execute(ctx, declared("SELECT mcp_admin_selftest_nothing"))
					return err
				}); err == nil {
					return unexpected{"it knows a column that is not there"}
				}
				_, err := tx.Execute(ctx, declared("SELECT 1"))
				return err
			})
		},
	},
	{
		name: "deferred checks", expected: "what a commit would check can be checked before it",
		means: "a dry run does not see what only a commit would refuse",
		try: func(ctx context.Context, r *run) (string, error) {
			if r.schema.ReadOnly != "" {
				return "", neverWritten
			}
			return "", undone(ctx, r.base, func(tx database.Tx) error { return tx.CheckConstraints(ctx) })
		},
	},
}

// versionFunction is how the engines tell what they are: one that speaks another's protocol says it there.
var versionFunction = map[string]string{"PostgreSQL": "version()", "MySQL": "version()", "MariaDB": "version()", "SQLite": "sqlite_version()", "DuckDB": "version()"}

// cancelAfter is when a caller goes away, which lets a statement begin before.
const cancelAfter = 500 * time.Millisecond

// neverWritten is why nothing is asked of transactions on an engine that is only read.
var neverWritten = unasked{"nothing in this database is ever written"}

// errUndo undoes a transaction that went well.
var errUndo = errors.New("undone")

// undone runs do in a transaction that is undone.
func undone(ctx context.Context, db database.DB, do func(database.Tx) error) error {
	err := db.Transact(ctx, func(tx database.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

// endless runs a statement that only ends if it is stopped.
func endless(ctx context.Context, r *run, db database.DB) error {
	if r.schema.ReadOnly != "" {
		_, err := r.ask(ctx, db, r.SQL.Endless)
		return err
	}
	return undone(ctx, db, func(tx database.Tx) error {
		_, err := tx.Execute(ctx, declared(r.SQL.Endless))
		return err
	})
}

// endsAs is nil if an error has the code with which an endless statement should end.
func endsAs(code database.Code, err error) error {
	switch {
	case err == nil:
		return unexpected{"the statement ended by itself"}
	case database.AsError(err).Code == code:
		return nil
	}
	return err
}

// orUnexpected is err, or what came out instead.
func orUnexpected(err error, answer string) error {
	if err != nil {
		return err
	}
	return unexpected{answer}
}

// anyPage is the plan of one row of a table: the test's own, or the first that can be read in the order of a key.
func (r *run) anyPage() (*database.Select, error) {
	table := firstWithKey(r.schema)
	if r.tables != nil {
		table = r.tables.table("item")
	}
	if table == nil && r.schema.ReadOnly != "" && len(r.schema.Tables) > 0 {
		table = r.schema.Tables[0] // files have no keys
	}
	if table == nil {
		return nil, unasked{"there is no table with a key that the user may read"}
	}
	plan := &database.Select{From: access.Token{}.Unscoped(table), Form: database.RowArrays, Limit: 1, More: true, Total: database.TotalCapped, MaxBytes: 1 << 16, MaxValue: 100}
	for _, c := range table.PrimaryKey {
		plan.Order = append(plan.Order, database.Order{Column: c})
	}
	for _, c := range table.Columns {
		if c.Vector == nil && c.Privileges.Has(database.MaySelect) {
			plan.Output = append(plan.Output, database.Output{Name: c.Name, Columns: []*database.Column{c}})
		}
	}
	return plan, nil
}

func firstWithKey(schema *database.Schema) *database.Table {
	for _, t := range schema.Tables {
		readable := t.Kind == database.BaseTable && len(t.PrimaryKey) > 0
		for _, c := range t.PrimaryKey {
			readable = readable && c.Privileges.Has(database.MaySelect) && c.Ordered()
		}
		if readable {
			return t
		}
	}
	return nil
}

// onePage reads a page and throws it away.
func onePage(ctx context.Context, db database.DB, plan *database.Select) error {
	text, page, err := db.Select(ctx, plan, []byte{'['})
	switch {
	case err != nil:
		return err
	case !json.Valid(append(text, ']')):
		return unexpected{"a row that is no JSON"}
	case page.Total < int64(page.Count):
		return unexpected{"a number of rows that is less than the page has"}
	}
	return nil
}

// ask runs a query as a report and returns its first row.
func (r *run) ask(ctx context.Context, db database.DB, query string) ([]byte, error) {
	out, _, err := db.Report(ctx, &database.Report{Statement: declared(query), Form: database.RowArrays, Limit: 1, MaxBytes: 1 << 16}, nil)
	return bytes.TrimSpace(out), err
}
