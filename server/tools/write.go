package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// write is a call's work in one transaction.
type write struct {
	req *request
	tx  database.Tx
}

// errDryRun undoes a transaction that went well.
var errDryRun = errors.New("dry run")

// dryRunHelp describes the argument of the operations that can undo what they did.
const dryRunHelp = "check all, keep nothing"

// hasVersion and hasInlines report whether the tools of a model have the arguments about versions and inlines.
func hasVersion(m *catalog.Model) bool { return m.Version != nil }
func hasInlines(m *catalog.Model) bool { return len(m.Inlines) > 0 }

// oneRow reads the id of the row that is meant, and the version that it is expected to have.
func (req *request) oneRow(id, expected json.RawMessage) (where, version database.Condition, err error) {
	if where, err = req.wantedRow(id); err != nil {
		return nil, nil, err
	}
	req.record.IDs = []string{plainText(id)}
	version, err = expectedVersion(req.scope.Model(), expected)
	return where, version, err
}

// mayView reports whether answers may show the row's content.
func (req *request) mayView() bool { return req.scope.Has(access.View) }

// note tells the audit which fields are given values.
func (req *request) note(d *rowData) { req.record.Fields = d.names() }

// recordRow tells the audit which row was changed, with rows of inline models. A dry run changes none.
func (req *request) recordRow(r *row, inlines *inlineChanges) {
	if id := r.id(); id != nil {
		req.record.IDs = []string{plainText(id)}
	}
	if !req.dryRun {
		req.record.Changed = 1 + inlines.count()
	}
}

// transact runs do as inTransaction does, and names the field of a database's error.
func (c *call) transact(do func(*write) error) error {
	return explain(c.scope, c.inTransaction(func(tx database.Tx) error { return do(&write{req: &c.request, tx: tx}) }))
}

// inTransaction runs do in one transaction, and all of it again if others got in its way: do must start afresh each time. A
// dry run does the same, checks what a commit would check, and undoes it.
func (c *call) inTransaction(do func(database.Tx) error) error {
	recorded := *c.recorded
	err := c.db.transact(c.ctx, c.settings.StatementTimeout, func(tx database.Tx) error {
		*c.recorded = recorded
		if err := do(tx); err != nil {
			return err
		}
		if !c.dryRun {
			return nil
		}
		if err := tx.CheckConstraints(c.ctx); err != nil {
			return err
		}
		return errDryRun
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// lockable reports whether rows can be locked: a view's need not be rows of any table, and a database locks rows only for a
// user who may change them.
func lockable(t *database.Table) bool {
	return t.Kind == database.BaseTable && t.Privileges.Has(database.MayUpdate)
}

// lockedRow reads and locks the row that meets a condition, as get_ shows it. Row-level security of the database may show a
// row that it does not let its user change or lock.
func (w *write) lockedRow(scope access.Scope, where database.Condition) (json.RawMessage, error) {
	lock := lockable(scope.Model().Table)
	text, _, err := w.req.readRow(w.tx, scope, where, lock)
	if !lock || !isNotFound(err) {
		return text, err
	}
	if _, _, err := w.req.readRow(w.tx, scope, where, false); err != nil {
		return nil, err
	}
	return nil, failf(CodePermissionDenied, "the database shows this %s to the endpoint's user, but its row-level security does not let that user change it", scope.Model().Declared.VerboseName)
}

// written is a row after a write, with its values of the columns that were asked for.
type written struct {
	*row
	values []database.Value
	// notice says what the database made of the write, if that is not what was asked for; else it is "".
	notice string
	// untouched reports that the database left the row as it was.
	untouched bool
}

// insertRow adds a row, reads it back through the row policy, and writes the journal. parent leads an inline's row to the
// row that it belongs to.
func (w *write) insertRow(d *rowData, parent []database.Assignment, columns []*database.Column) (written, error) {
	m := d.scope.Model()
	if d.scope.Limited() && !m.UniqueKey {
		return written{}, failf(CodePermissionDenied, "a row cannot be added: %s has no key, so that it cannot be checked whether you may see the new row", m.Name)
	}
	if err := w.checkReferences(d.scope, d.references); err != nil {
		return written{}, err
	}
	returning := planOutput(d.scope)
	if m.UniqueKey {
		returning = []database.Output{keyOutput(m, idName)}
	}
	text, err := w.tx.Insert(w.req.ctx, &database.Insert{Into: d.scope.Source(), Set: slices.Concat(d.set, parent), Returning: returning}, nil)
	if err != nil {
		return written{}, refused(d.scope, d.references, err)
	}
	if len(text) == 0 {
		return w.diverted(d, parent, columns)
	}
	added := written{row: &row{model: m, text: text}}
	if m.UniqueKey {
		id := members(text)[idName]
		if id == nil || isNull(id) {
			return written{}, failf(CodeInvalidArgument, "nothing was added: the database does not tell the id of a row of %s; give %s in data", m.Name, keyNames(m))
		}
		where, err := keyEquals(m, id)
		if err != nil {
			return written{}, err
		}
		if added, err = w.readBack(d, where, columns); err != nil {
			return written{}, err
		}
	}
	return added, w.req.journal(w.tx, change{row: added.row, action: "create", message: "created", after: added.row})
}

// diverted is the error about a row that the database did not store as asked: a trigger or rule put it elsewhere, made
// something else of it, or left it. It is looked for by its key, if that was given. What cannot be found cannot be held
// against a row policy.
func (w *write) diverted(d *rowData, parent []database.Assignment, columns []*database.Column) (written, error) {
	m := d.scope.Model()
	limited := d.scope.Limited() || slices.ContainsFunc(d.references, reference.limited)
	if where := givenKey(m, slices.Concat(d.set, parent)); where != nil {
		found, err := w.readBack(d, where, columns)
		if err == nil {
			found.notice = "a trigger or rule of the database stored this in its own way; the object is the row that has the id now"
			return found, w.req.journal(w.tx, change{row: found.row, action: "update", message: "stored by a trigger or rule, which was asked to add it", after: found.row})
		}
		var told *toolError
		if limited || !errors.As(err, &told) {
			return written{}, err
		}
	}
	switch {
	case limited:
		return written{}, failf(CodePermissionDenied, "nothing was added: a trigger or rule of the database stores rows of %s elsewhere, where it cannot be told whether you may see them", m.Name)
	case len(columns) > 0:
		return written{}, oneViolation(allFields, "a trigger or rule of the database stores the row elsewhere, so that no inlines can belong to it; add it without them")
	}
	elsewhere, notice := &row{model: m}, "a trigger or rule of the database took the row and stored it elsewhere, changed another one, or left it: its id is not known"
	if d.scope.Has(access.View) {
		notice += "; look for it with " + w.req.toolFor("list", m)
	}
	return written{row: elsewhere, notice: notice},
		w.req.journal(w.tx, change{row: elsewhere, action: "create", message: "given to a trigger or rule of the database"})
}

// givenKey is the condition that a row has the key that assignments give; nil if they do not give all of it.
func givenKey(m *catalog.Model, set []database.Assignment) database.Condition {
	if !m.UniqueKey {
		return nil
	}
	var where database.And
	for _, column := range keyColumns(m) {
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

// updateRow changes the row that meets a condition, reads it back through the row policy, and writes the journal.
func (w *write) updateRow(d *rowData, where database.Condition, version database.Condition, columns []*database.Column) (written, error) {
	m := d.scope.Model()
	text, err := w.lockedRow(d.scope, where)
	if err != nil {
		return written{}, err
	}
	set, err := d.changes(text)
	if err != nil {
		return written{}, err
	}
	if err := w.completeReferences(d, where); err != nil {
		return written{}, err
	}
	if err := w.checkReferences(d.scope, d.references); err != nil {
		return written{}, err
	}
	if m.Version != nil {
		set = append(slices.Clone(set), database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	followers, err := w.planChange(d.scope, where, set)
	if err != nil {
		return written{}, err
	}
	before := &row{model: m, text: text}
	if err := w.readKept(d.scope, []*row{before}, where); err != nil {
		return written{}, err
	}
	notice, matched := followers.notice(), int64(1)
	if len(set) > 0 {
		if matched, err = w.tx.Update(w.req.ctx, &database.Update{In: d.scope.Source(), Set: set, Where: both(where, version)}); err != nil {
			return written{}, refused(d.scope, d.references, err)
		}
		if matched == 0 {
			if err := w.stillMeets(d.scope, where, version, text); err != nil {
				return written{}, err
			}
			notice = "the database did not make this change as it was asked: a rule, a trigger or its row-level security changed the row in its own way, or left it as it is; the object is the row as it is now"
		} else if err := onlyOne(m, matched, text); err != nil {
			return written{}, err
		}
	}
	changed, err := w.readBack(d, where, columns)
	if err != nil {
		return written{}, err
	}
	changed.notice, changed.untouched = notice, matched == 0 && bytes.Equal(text, changed.text)
	if err := w.req.journal(w.tx, change{row: changed.row, action: "update", message: changeSummary(before, changed.row), before: before, after: changed.row}); err != nil {
		return written{}, err
	}
	return changed, followers.journal("changed with " + m.Declared.VerboseName + " " + before.label())
}

// stillMeets is nil if the row, which an update did not match, still meets the update's conditions: then the database itself
// did not make the change. Else it is a conflict.
func (w *write) stillMeets(scope access.Scope, where, version database.Condition, text json.RawMessage) error {
	_, err := w.lockedRow(scope, both(where, version))
	if isNotFound(err) {
		return onlyOne(scope.Model(), 0, text)
	}
	return err
}

// readBack reads the row after a write. One that the token may not see, or whose foreign keys lead to what it may not see,
// is an error that undoes the write.
func (w *write) readBack(d *rowData, where database.Condition, columns []*database.Column) (written, error) {
	scope := d.scope
	text, values, err := w.req.readRow(w.tx, scope, both(where, stillVisible(d.references)), false, columns...)
	if isNotFound(err) {
		err = w.whyUnseen(scope, d.references, where)
	}
	return written{row: &row{model: scope.Model(), text: text}, values: values}, err
}

// whyUnseen says why a row may not stay as it was written.
func (w *write) whyUnseen(scope access.Scope, references []reference, where database.Condition) error {
	for _, r := range references {
		if !r.limited() {
			continue
		}
		if _, _, err := w.req.readRow(w.tx, scope, both(where, database.Not{Condition: r.visible()}), false); err == nil {
			return r.missing(scope)
		} else if !isNotFound(err) {
			return err
		}
	}
	return oneViolation(allFields, "you may not see such a row; change the fields that decide who sees it")
}

// readAgain reads a row once more, after what was written since may have changed it.
func (w *write) readAgain(d *rowData, r *row) (written, error) {
	where, err := keyEquals(r.model, r.id())
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
		return &toolError{Code: CodeConflict, Current: current, Message: fmt.Sprintf("%s has another version by now; read it again, and send its %s as expected_version", m.Name, m.Version.Name)}
	case n == 0:
		return &toolError{Code: CodeConflict, Current: current, Message: m.Name + " was changed meanwhile; read it again before you change it"}
	}
	return failf(CodeInternal, "several rows of %s have this id; nothing was changed", m.Name)
}

// expectedVersion is the condition that the row still has the version that the caller saw; nil where it names none.
func expectedVersion(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	if raw == nil {
		return nil, nil
	}
	value, err := lookup.ParseValue(m.Version.Column, raw)
	if err != nil {
		return nil, invalid("expected_version: %s; it is the row's %s", err, m.Version.Name)
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
