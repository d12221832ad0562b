package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// Writer is a call's work in one transaction.
type Writer struct {
	Req *call.Request
	Tx  database.Tx
}

// ErrDryRun undoes a transaction that went well.
var ErrDryRun = errors.New("dry run")

// DryRunHelp describes the argument of the operations that can undo what they did.
const DryRunHelp = "check all, keep nothing"

// hasVersion and HasInlines report whether the tools of a model have the arguments about versions and inlines.
func hasVersion(m *catalog.Model) bool { return m.Version != nil }

// oneRow reads the id of the row that is meant, and the version that it is expected to have.
func oneRow(req *call.Request, id, expected json.RawMessage) (where, version database.Condition, err error) {
	if where, err = req.WantedRow(id); err != nil {
		return nil, nil, err
	}
	req.Record.IDs = []string{call.PlainText(id)}
	version, err = expectedVersion(req.Scope.Model(), expected)
	return where, version, err
}

// mayView reports whether answers may show the row's content.
func mayView(req *call.Request) bool { return req.Scope.Has(access.View) }

// note tells the audit which fields are given values.
func note(req *call.Request, d *RowData) { req.Record.Fields = d.names() }

// recordRow tells the audit which row was changed, with rows of inline models. A dry run changes none.
func recordRow(req *call.Request, r *call.Row, inlines *inlineChanges) {
	if id := r.ID(); id != nil {
		req.Record.IDs = []string{call.PlainText(id)}
	}
	if !req.DryRun {
		req.Record.Changed = 1 + inlines.count()
	}
}

// Transact runs do as InTransaction does, and names the field of a database's error.
func Transact(c *call.Call, do func(*Writer) error) error {
	return Explain(c.Scope, InTransaction(c, func(tx database.Tx) error { return do(&Writer{Req: &c.Request, Tx: tx}) }))
}

// InTransaction runs do in one transaction, and all of it again if others got in its way: do must start afresh each time. A
// dry run does the same, checks what a commit would check, and undoes it.
func InTransaction(c *call.Call, do func(database.Tx) error) error {
	recorded := *c.Recorded
	err := c.DB.Transact(c.Ctx, c.Settings.StatementTimeout, func(tx database.Tx) error {
		*c.Recorded = recorded
		if err := do(tx); err != nil {
			return err
		}
		if !c.DryRun {
			return nil
		}
		if err := tx.CheckConstraints(c.Ctx); err != nil {
			return err
		}
		return ErrDryRun
	})
	if errors.Is(err, ErrDryRun) {
		return nil
	}
	return c.Ended(err)
}

// Savepoint runs a part of a transaction. If it fails, what it changed is undone and nobody is told of it.
func Savepoint(req *call.Request, tx database.Tx, do func() error) error {
	mark := req.Changes.Mark()
	err := tx.Savepoint(req.Ctx, do)
	if err != nil {
		req.Changes.Back(mark)
	}
	return err
}

// Attempt is Savepoint on tables that may have none: there it runs do as it is. It reports whether an error's changes are undone; if
// not, the transaction must end with that error.
func Attempt(req *call.Request, tx database.Tx, do func() error) (undone bool, err error) {
	ran := false
	err = Savepoint(req, tx, func() error {
		ran = true
		return do()
	})
	if err != nil && !ran && database.AsError(err).Code == database.Undivided {
		return false, do()
	}
	return true, err
}

// LockedRow reads and locks the row that meets a condition, as get_ shows it. Row-level security of the database may show a
// row that it does not let its user change or lock.
func (w *Writer) LockedRow(scope access.Scope, where database.Condition) (json.RawMessage, error) {
	text, _, err := read.ReadRow(w.Req, w.Tx, scope, where, call.Lockable(scope.Model().Table))
	return text, w.whyNotLocked(scope, where, err)
}

// whyNotLocked says why a row was not locked, if the error is that it was not found.
func (w *Writer) whyNotLocked(scope access.Scope, where database.Condition, err error) error {
	if t := scope.Model().Table; !t.RowSecurity || !call.Lockable(t) || !call.IsNotFound(err) {
		return err
	}
	if _, _, err := read.ReadRow(w.Req, w.Tx, scope, where, false); err != nil {
		return err
	}
	return call.Failf(call.CodePermissionDenied, "the database shows this %s to the endpoint's user, but its row-level security does not let that user change it", scope.Model().Declared.VerboseName)
}

// written is a row after a write, with its values of the columns that were asked for.
type written struct {
	*call.Row
	values []database.Value
	// notice says what the database made of the write, if that is not what was asked for; else it is "".
	notice string
	// untouched reports that the database left the row as it was.
	untouched bool
}

// insertRow adds a row, reads it back through the row policy, and writes the journal. parent leads an inline's row to the
// row that it belongs to.
func (w *Writer) insertRow(d *RowData, parent []database.Assignment, columns []*database.Column) (written, error) {
	m := d.Scope.Model()
	if d.Scope.Limited() && !m.UniqueKey {
		return written{}, call.Failf(call.CodePermissionDenied, "a row cannot be added: %s has no key, so that it cannot be checked whether you may see the new row", m.Name)
	}
	for _, a := range parent {
		if !mayStore(a.Column, true) {
			return written{}, call.Failf(call.CodePermissionDenied, "a row cannot be added here: nobody may set %s of %s, which would lead to the other row", a.Column.Name, m.Name)
		}
	}
	var batch database.Batch
	if err := addChecks(&batch, d.Scope, d.references); err != nil {
		return written{}, err
	}
	plan := &database.Insert{Into: d.Scope.Source(), Set: append(slices.Clip(d.Set), parent...), MaxValue: call.MaxOneValue, Returning: read.PlanOutput(d.Scope)}
	shown := m.Table.InsertReturns && d.tellsItself(columns)
	switch {
	case m.UniqueKey && shown:
		plan.Meets = plan.Into.Policy()
	case m.UniqueKey:
		plan.Returning = []database.Output{read.KeyOutput(m, call.IDName)}
	default:
		plan.MaxValue = 0
	}
	var text json.RawMessage
	batch.Insert(plan, func(answer database.Answer) error {
		text = answer.Text
		return nil
	})
	if err := w.Tx.Run(w.Req.Ctx, &batch); err != nil {
		return written{}, Refused(d.Scope, d.references, err)
	}
	if len(text) == 0 {
		return w.diverted(d, parent, columns)
	}
	if call.IsNull(text) {
		return written{}, unseen()
	}
	added := written{Row: &call.Row{Model: m, Text: text}}
	if m.UniqueKey {
		id := added.Value(call.IDName)
		if shown {
			id = added.ID()
		}
		if id == nil || call.IsNull(id) {
			return written{}, call.Failf(call.CodeInvalidArgument, "nothing was added: the database does not tell the id of a row of %s; give %s in data", m.Name, call.KeyNames(m))
		}
		if !shown {
			where, err := call.KeyEquals(m, id)
			if err != nil {
				return written{}, err
			}
			if added, err = w.readBack(d, where, columns); err != nil {
				return written{}, err
			}
		}
	}
	return added, Journal(w.Req, w.Tx, call.Change{Row: added.Row, Action: "create", Message: "created", After: added.Row, Given: d.Fields})
}

// tellsItself reports whether what the statement that writes the row can return is all that a read of the row would tell:
// columns are values that are asked for beside it.
func (d *RowData) tellsItself(columns []*database.Column) bool {
	m := d.Scope.Model()
	showsKey := m.KeyName != "" || m.UniqueKey && len(m.Key) > 0 && d.Scope.Field(m.Key[0].Name) == m.Key[0]
	return showsKey && len(columns) == 0 && !slices.ContainsFunc(d.references, Reference.Limited) && database.OwnColumns(d.Scope.Source().Policy())
}

// diverted is the error about a row that the database did not store as asked: a trigger or rule put it elsewhere, made
// something else of it, or left it. It is looked for by its key, if that was given. What cannot be found cannot be held
// against a row policy.
func (w *Writer) diverted(d *RowData, parent []database.Assignment, columns []*database.Column) (written, error) {
	m := d.Scope.Model()
	limited := d.Scope.Limited() || slices.ContainsFunc(d.references, Reference.Limited)
	if where := givenKey(m, slices.Concat(d.Set, parent)); where != nil {
		found, err := w.readBack(d, where, columns)
		if err == nil {
			found.notice = "a trigger or rule of the database stored this in its own way; the object is the row that has the id now"
			return found, Journal(w.Req, w.Tx, call.Change{Row: found.Row, Action: "update", Message: "stored by a trigger or rule, which was asked to add it", After: found.Row})
		}
		var told *call.ToolError
		if limited || !errors.As(err, &told) {
			return written{}, err
		}
	}
	switch {
	case limited:
		return written{}, call.Failf(call.CodePermissionDenied, "nothing was added: a trigger or rule of the database stores rows of %s elsewhere, where it cannot be told whether you may see them", m.Name)
	case len(columns) > 0:
		return written{}, call.OneViolation(call.AllFields, "a trigger or rule of the database stores the row elsewhere, so that no inlines can belong to it; add it without them")
	}
	elsewhere, notice := &call.Row{Model: m}, "a trigger or rule of the database took the row and stored it elsewhere, changed another one, or left it: its id is not known"
	if d.Scope.Has(access.View) {
		notice += "; look for it with " + w.Req.ToolFor("list", m)
	}
	return written{Row: elsewhere, notice: notice},
		Journal(w.Req, w.Tx, call.Change{Row: elsewhere, Action: "create", Message: "given to a trigger or rule of the database"})
}

// givenKey is the condition that a row has the key that assignments give; nil if they do not give all of it.
func givenKey(m *catalog.Model, set []database.Assignment) database.Condition {
	if !m.UniqueKey {
		return nil
	}
	var where database.And
	for _, column := range call.KeyColumns(m) {
		i := slices.IndexFunc(set, func(a database.Assignment) bool {
			return a.Column == column && a.How == database.AssignValue && a.Value != nil
		})
		if i < 0 {
			return nil
		}
		where = append(where, database.Compare{Column: column, Op: database.Equal, Value: set[i].Value})
	}
	return where
}

// readBack reads the row after a write. One that the token may not see, or whose foreign keys lead to what it may not see,
// is an error that undoes the write.
func (w *Writer) readBack(d *RowData, where database.Condition, columns []*database.Column) (written, error) {
	text, page, err := w.Req.ReadOne(w.Tx, d.Scope, d.planBack(where, columns), nil)
	if call.IsNotFound(err) {
		err = w.whyUnseen(d.Scope, d.references, where)
	}
	return written{Row: &call.Row{Model: d.Scope.Model(), Text: text}, values: page.Last}, err
}

// planBack is the plan of the row after the write.
func (d *RowData) planBack(where database.Condition, columns []*database.Column) *database.Select {
	plan := read.PlanRow(d.Scope, both(where, stillVisible(d.references)))
	plan.Cursor = database.Refs(columns...)
	return plan
}

// whyUnseen says why a row may not stay as it was written.
func (w *Writer) whyUnseen(scope access.Scope, references []Reference, where database.Condition) error {
	for _, r := range references {
		if !r.Limited() {
			continue
		}
		if _, _, err := read.ReadRow(w.Req, w.Tx, scope, both(where, database.Not{Condition: r.Visible()}), false); err == nil {
			return r.Missing(scope)
		} else if !call.IsNotFound(err) {
			return err
		}
	}
	return unseen()
}

// unseen is the error about a row that the token may not see as it was written.
func unseen() error {
	return call.OneViolation(call.AllFields, "you may not see such a row; change the fields that decide who sees it")
}

// readAgain reads a row once more, after what was written since may have changed it.
func (w *Writer) readAgain(d *RowData, r *call.Row) (written, error) {
	where, err := call.KeyEquals(r.Model, r.ID())
	if err != nil {
		return written{}, err
	}
	return w.readBack(d, where, nil)
}

// onlyOne judges how many rows a write by id is about. The row was there before it: none is a conflict.
func onlyOne(m *catalog.Model, n int64, current json.RawMessage) error {
	switch {
	case n == 1:
		return nil
	case n == 0 && m.Version != nil:
		return &call.ToolError{Code: call.CodeConflict, Current: current, Message: fmt.Sprintf("%s has another version by now; read it again, and send its %s as expected_version", m.Name, m.Version.Name)}
	case n == 0:
		return &call.ToolError{Code: call.CodeConflict, Current: current, Message: m.Name + " was changed meanwhile; read it again before you change it"}
	}
	return call.Failf(call.CodeInternal, "several rows of %s have this id; nothing was changed", m.Name)
}

// expectedVersion is the condition that the row still has the version that the caller saw; nil where it names none.
func expectedVersion(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	if raw == nil {
		return nil, nil
	}
	value, err := lookup.ParseValue(m.Version.Column, raw)
	if err != nil {
		return nil, call.Invalid("expected_version: %s; it is the row's %s", err, m.Version.Name)
	}
	return database.Compare{Column: m.Version.Column, Op: database.Equal, Value: value}, nil
}

// both joins two conditions; either may be nil.
func both(a, b database.Condition) database.Condition {
	if and, ok := b.(database.And); b == nil || ok && len(and) == 0 {
		return a
	}
	return database.And{a, b}
}
