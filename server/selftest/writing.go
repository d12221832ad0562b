package selftest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// writing are the checks of transactions, in tables of the test's own.
var writing = []trial{
	{
		name: "own tables", expected: "the server makes its tables for journal and keys by itself", tables: true,
		means: "make them by hand with the statements that the endpoint's status shows; without them there is no history, undo and idempotency_key",
		try: func(_ context.Context, r *run) (string, error) {
			if problem := r.schema.AuditProblem + r.schema.IdempotencyProblem; problem != "" {
				return "", unexpected{problem}
			}
			return "", nil
		},
	},
	{
		name: "undone changes", expected: "nobody sees a change before its commit, nor one that was undone", tables: true, needed: true,
		means: "dry runs and failed calls show through, or stay",
		try: func(ctx context.Context, r *run) (string, error) {
			if err := r.begin(ctx, "undone"); err != nil {
				return "", err
			}
			err := undone(ctx, r.base, func(tx database.Tx) error {
				if err := r.tables.note(ctx, tx, "written"); err != nil {
					return err
				}
				return r.tables.expect(ctx, r.base, "undone", "others see a change before its commit")
			})
			if err != nil {
				return "", err
			}
			return "", r.tables.expect(ctx, r.base, "undone", "a change that was undone stays")
		},
	},
	{
		name: "partly undone changes", expected: "a savepoint undoes what was done since, and no more", tables: true, needed: true,
		means: "bulk keeps rows of items that failed, or loses others",
		try: func(ctx context.Context, r *run) (string, error) {
			if err := r.begin(ctx, "before"); err != nil {
				return "", err
			}
			err := r.base.Transact(ctx, func(tx database.Tx) error {
				if err := r.tables.note(ctx, tx, "kept"); err != nil {
					return err
				}
				if err := tx.Savepoint(ctx, func() error {
					if err := r.tables.note(ctx, tx, "lost"); err != nil {
						return err
					}
					return errUndo
				}); !errors.Is(err, errUndo) {
					return err
				}
				return nil
			})
			if err != nil {
				return "", err
			}
			return "", r.tables.expect(ctx, r.base, "kept", "a savepoint did not undo its own part alone")
		},
	},
	{
		name: "row locks", expected: "a row that one transaction has locked makes another wait, and give up before its time is over", tables: true, needed: true,
		means: "actions and changes at the same time overwrite each other",
		try:   func(ctx context.Context, r *run) (string, error) { return r.lockRows(ctx) },
	},
	{
		name: "changes at once", expected: "of twenty changes of one row by four writers none is lost", tables: true, needed: true,
		means: "calls at the same time lose changes",
		try:   func(ctx context.Context, r *run) (string, error) { return r.changeAtOnce(ctx) },
	},
	{
		name: "isolation", expected: "a transaction reads what others commit, or what there was when it began", tables: true,
		means: "what a transaction reads is not defined",
		try:   func(ctx context.Context, r *run) (string, error) { return r.isolate(ctx) },
	},
	{
		name: "locks of cancelled calls", expected: "a call that is cancelled gives its rows free at once", tables: true,
		means: "rows stay locked until the database itself ends what was cancelled",
		try:   func(ctx context.Context, r *run) (string, error) { return r.cancelLocked(ctx) },
	},
	{
		name: "read-only transactions", expected: "a declared query that writes is refused", tables: true,
		means: "declare only reports that read, and give endpoints that only read a user who may only read",
		try: func(ctx context.Context, r *run) (string, error) {
			if _, err := r.ask(ctx, r.base, "SELECT 1"); err != nil {
				return "", unasked{"declared queries do not run at all"}
			}
			_, err := r.ask(ctx, r.base, r.SQL.Write)
			written, countErr := r.count(ctx, "plain")
			switch {
			case countErr != nil:
				return "", countErr
			case written > 0:
				return "", unexpected{"the query wrote"}
			case err == nil:
				return "", unexpected{"the query was undone, but not refused"}
			}
			return "", nil
		},
	},
	{
		name: "unique keys", expected: "a second row with the same key is refused, and the engine says which columns", tables: true, needed: true,
		means: "rows are doubled, and idempotency_key does not work",
		try: func(ctx context.Context, r *run) (string, error) {
			return r.violate(ctx, database.UniqueViolation, "name", map[string]database.Value{"name": firstItem, "version": int64(1)})
		},
	},
	{
		name: "foreign keys", expected: "a row that names one that is not there is refused", tables: true,
		means: "the server checks what a call names; relations must be declared in the exposure (spec.relations) if the catalogue has no foreign keys",
		try: func(ctx context.Context, r *run) (string, error) {
			if !r.tables.keys {
				return "", r.tables.whyNoKeys
			}
			return r.violate(ctx, database.ForeignKeyViolation, "kind_id", map[string]database.Value{"name": "violates", "kind_id": int64(99), "version": int64(1)})
		},
	},
	{
		name: "check constraints", expected: "a value that a CHECK does not allow is refused", tables: true,
		means: "the database stores values that its tables do not allow; bound fields in the exposure",
		try: func(ctx context.Context, r *run) (string, error) {
			return r.violate(ctx, database.CheckViolation, "price", map[string]database.Value{"name": "violates", "price": "-1.00", "version": int64(1)})
		},
	},
}

// firstItem is the name of the row that most checks are about.
const firstItem = "first"

// source is a whole table of the test.
func (t *tables) source(name string) database.Source { return access.Token{}.Unscoped(t.table(name)) }

// first is the condition that a row is the one that most checks are about.
func (t *tables) first() database.Condition {
	return database.Compare{Column: t.table("item").Column("name"), Op: database.Equal, Value: firstItem}
}

// begin gives the row a note, and makes the row if it is not there.
func (r *run) begin(ctx context.Context, note string) error {
	t := r.tables
	return r.base.Transact(ctx, func(tx database.Tx) error {
		plan := &database.Update{In: t.source("item"), Where: t.first(), Set: t.set(map[string]database.Value{"note": note})}
		if matched, err := tx.Update(ctx, plan); err != nil || matched == 1 {
			return err
		}
		_, err := tx.Insert(ctx, &database.Insert{Into: t.source("item"), Set: t.set(map[string]database.Value{"name": firstItem, "note": note, "version": int64(1)})}, nil)
		return err
	})
}

// set are assignments to columns of the table that most checks are about.
func (t *tables) set(values map[string]database.Value) []database.Assignment {
	var set []database.Assignment
	for _, c := range t.table("item").Columns {
		if value, given := values[c.Name]; given {
			set = append(set, database.Assignment{Column: c, Value: value})
		}
	}
	return set
}

// note changes the row's note.
func (t *tables) note(ctx context.Context, tx database.Tx, note string) error {
	matched, err := tx.Update(ctx, &database.Update{In: t.source("item"), Where: t.first(), Set: t.set(map[string]database.Value{"note": note})})
	if err == nil && matched != 1 {
		return unexpected{fmt.Sprintf("an update of one row matched %d", matched)}
	}
	return err
}

// selector is what reads: a database, or a transaction.
type selector interface {
	Select(context.Context, *database.Select, []byte) ([]byte, database.Page, error)
}

// read reads one column of the row, as JSON.
func (t *tables) readFirst(ctx context.Context, from selector, column string, lock bool) (string, error) {
	text, _, err := from.Select(ctx, &database.Select{From: t.source("item"), Where: t.first(), Limit: 1, Form: database.RowArrays, Lock: lock,
		Output: []database.Output{{Name: column, Columns: []*database.Column{t.table("item").Column(column)}}}}, nil)
	return string(text), err
}

// expect is an error if the row has another note.
func (t *tables) expect(ctx context.Context, from selector, note, or string) error {
	found, err := t.readFirst(ctx, from, "note", false)
	if err == nil && found != `["`+note+`"]` {
		return unexpected{or}
	}
	return err
}

// count counts the rows of a table of the test.
func (r *run) count(ctx context.Context, name string) (int64, error) {
	plan := &database.Select{From: r.tables.source(name), Limit: 1, Form: database.RowArrays, Total: database.TotalExact,
		Output: []database.Output{{Name: "name", Columns: []*database.Column{r.tables.table(name).Column("name")}}}}
	_, page, err := r.base.Select(ctx, plan, nil)
	return page.Total, err
}

// lockRows locks the row in one transaction and wants it in another.
func (r *run) lockRows(ctx context.Context) (string, error) {
	if err := r.begin(ctx, "locked"); err != nil {
		return "", err
	}
	var second error
	err := undone(ctx, r.base, func(tx database.Tx) error {
		if _, err := r.tables.readFirst(ctx, tx, "note", true); err != nil {
			return err
		}
		second = r.lockFirst(ctx)
		return nil
	})
	if err != nil {
		return "", err
	}
	if second == nil {
		return "", unexpected{"the other transaction got the row too"}
	}
	switch database.AsError(second).Code {
	case database.Locked, database.Busy:
		return "", nil
	case database.Timeout:
		return "", differently{"it waited until the statement's time was over: agents are told timeout, and not that somebody else has the row"}
	}
	return "", second
}

// lockFirst locks the row in a transaction of its own, with little patience.
func (r *run) lockFirst(ctx context.Context) error {
	return undone(ctx, r.brief, func(tx database.Tx) error {
		_, err := r.tables.readFirst(ctx, tx, "note", true)
		return err
	})
}

// The writers that change a row at once, and how often each does.
const (
	writers = 4
	changes = 5
)

// changeAtOnce adds one to the row's version in several transactions at once, each of which reads it first.
func (r *run) changeAtOnce(ctx context.Context) (string, error) {
	if err := r.begin(ctx, "changed"); err != nil {
		return "", err
	}
	before, err := r.version(ctx, r.base, false)
	if err != nil {
		return "", err
	}
	failures := make([]error, writers)
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			for range changes {
				failures[i] = errors.Join(failures[i], database.Transact(ctx, r.base, baseTime, func(tx database.Tx) error { return r.addOne(ctx, tx) }))
			}
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil {
		return "", err
	}
	after, err := r.version(ctx, r.base, false)
	if err == nil && after-before != writers*changes {
		err = unexpected{fmt.Sprintf("%d of %d were lost", writers*changes-(after-before), writers*changes)}
	}
	return "", err
}

func (r *run) addOne(ctx context.Context, tx database.Tx) error {
	version, err := r.version(ctx, tx, true)
	if err != nil {
		return err
	}
	_, err = tx.Update(ctx, &database.Update{In: r.tables.source("item"), Where: r.tables.first(), Set: r.tables.set(map[string]database.Value{"version": int64(version + 1)})})
	return err
}

func (r *run) version(ctx context.Context, from selector, lock bool) (int, error) {
	text, err := r.tables.readFirst(ctx, from, "version", lock)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text[min(1, len(text)):max(len(text)-1, min(1, len(text)))])
	if err != nil {
		return 0, unexpected{"a version that is no number"}
	}
	return n, nil
}

// isolate changes the row between two reads of another transaction.
func (r *run) isolate(ctx context.Context) (string, error) {
	if r.base.Writers() == 1 {
		return "one transaction writes at a time", nil
	}
	if err := r.begin(ctx, "first"); err != nil {
		return "", err
	}
	answer := ""
	err := undone(ctx, r.base, func(tx database.Tx) error {
		if err := r.tables.expect(ctx, tx, "first", "a transaction does not see what was committed before it"); err != nil {
			return err
		}
		if err := r.begin(ctx, "second"); err != nil {
			return err
		}
		found, err := r.tables.readFirst(ctx, tx, "note", false)
		switch found {
		case `["first"]`:
			answer = "a transaction reads what there was when it began"
		case `["second"]`:
			answer = "a transaction reads what others commit"
		default:
			return orUnexpected(err, "it reads something else")
		}
		return err
	})
	return answer, err
}

// cancelLocked cancels a call that has locked the row, and wants the row.
func (r *run) cancelLocked(ctx context.Context) (string, error) {
	if err := r.begin(ctx, "cancelled"); err != nil {
		return "", err
	}
	cancelled, cancel := context.WithTimeout(ctx, cancelAfter)
	defer cancel()
	err := r.base.Transact(cancelled, func(tx database.Tx) error {
		if _, err := r.tables.readFirst(cancelled, tx, "note", true); err != nil {
			return err
		}
		_, err := tx.Execute(cancelled, declared(r.SQL.Endless))
		return err
	})
	if err := endsAs(database.Cancelled, err); err != nil {
		return "", err
	}
	return "", r.lockFirst(ctx)
}

// violate adds a row that breaks a constraint, and sees whether the engine says which.
func (r *run) violate(ctx context.Context, kind database.ViolationKind, column string, values map[string]database.Value) (string, error) {
	if err := r.begin(ctx, "violated"); err != nil {
		return "", err
	}
	err := undone(ctx, r.base, func(tx database.Tx) error {
		_, err := tx.Insert(ctx, &database.Insert{Into: r.tables.source("item"), Set: r.tables.set(values)}, nil)
		return err
	})
	var e *database.Error
	switch {
	case err == nil:
		return "", unexpected{"the row was stored"}
	case !errors.As(err, &e) || e.Violation == nil || e.Violation.Kind != kind:
		return "", err
	case kind == database.ForeignKeyViolation: // the server itself finds which field a call has wrong
	case len(e.Violation.Columns) != 1 || e.Violation.Columns[0].Name != column:
		return "", differently{"it is refused, but the engine does not say which column it is about: agents are not told which field is wrong"}
	}
	return "", nil
}
