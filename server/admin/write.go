package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// write is what a call does in one transaction.
type write struct {
	*call
	tx database.Tx
}

// errDryRun undoes a transaction that went well.
var errDryRun = errors.New("dry run")

// transact runs do in one transaction. A dry run does all the same, checks what would be checked on commit, and undoes
// it.
func (c *call) transact(dryRun bool, do func(*write) error) error {
	err := c.db.Transact(c.ctx, func(tx database.Tx) error {
		if err := do(&write{c, tx}); err != nil {
			return err
		}
		if !dryRun {
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
	return explain(c.scope, err)
}

// lockable is whether rows can be locked: a view's need not be rows of any table.
func lockable(t *database.Table) bool { return t.Kind == database.BaseTable }

// written is a row after a write.
type written struct {
	// id is nil where the row has no key, or where the database does not tell it.
	id json.RawMessage
	// row is as get_ shows it; values are those of the columns that were asked for.
	row    json.RawMessage
	values []database.Value
}

// insertRow adds a row, reads it back through the row policy, and writes the journal. parent leads an inline's row to the
// one that it belongs to.
func (w *write) insertRow(d *rowData, parent []database.Assignment, columns []*database.Column) (written, error) {
	m := d.scope.Model()
	if d.scope.Limited() && !m.UniqueKey {
		return written{}, failf(CodePermissionDenied, "rows of %s have no key by which it could be told whether you may see the one you add", m.Name)
	}
	if err := w.checkReferences(d.scope, d.references); err != nil {
		return written{}, err
	}
	returning, err := planOutput(d.scope, nil)
	if err != nil {
		return written{}, err
	}
	if m.UniqueKey {
		returning = []database.Output{{Name: idName, Columns: keyColumns(m), Composite: len(m.Key) > 1}}
	}
	set := slices.Concat(d.set, parent)
	row, err := w.tx.Insert(w.ctx, &database.Insert{Into: d.scope.Source(), Set: set, Returning: returning}, nil)
	if err != nil {
		return written{}, explain(d.scope, err)
	}
	added := written{row: row}
	if m.UniqueKey {
		id := members(row)[idName]
		if id == nil || isNull(id) {
			return written{}, failf(CodeInvalidArgument, "nothing was added: the database does not tell the id of a row of %s; give %s in data", m.Name, keyNames(m))
		}
		where, err := keyEquals(m, id)
		if err != nil {
			return written{}, err
		}
		if added, err = w.readBack(d, id, where, columns); err != nil {
			return written{}, err
		}
	} else {
		added.id = idOf(m, row)
	}
	ch := change{action: "create", id: added.id, label: labelOf(m, added.row), message: "created", after: added.row}
	return added, w.journal(w.tx, m, ch)
}

// updateRow changes the row that meets a condition, reads it back through the row policy, and writes the journal.
func (w *write) updateRow(d *rowData, where database.Condition, version database.Condition, columns []*database.Column) (written, error) {
	m := d.scope.Model()
	before, err := w.rowWhere(w.tx, d.scope, where, lockable(m.Table))
	if err != nil {
		return written{}, err
	}
	if err := w.checkReferences(d.scope, d.references); err != nil {
		return written{}, err
	}
	set := d.set
	if m.Version != nil {
		set = append(slices.Clone(set), database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	if len(set) > 0 {
		n, err := w.tx.Update(w.ctx, &database.Update{In: d.scope.Source(), Set: set, Where: both(where, version)})
		if err != nil {
			return written{}, explain(d.scope, err)
		}
		if err := onlyOne(m, n, before); err != nil {
			return written{}, err
		}
	}
	changed, err := w.readBack(d, idOf(m, before), where, columns)
	if err != nil {
		return written{}, err
	}
	ch := change{action: "update", id: changed.id, label: labelOf(m, changed.row), message: changedFields(d), before: before, after: changed.row}
	return changed, w.journal(w.tx, m, ch)
}

// readBack reads the row as it is after a write. One that the token may not see, or whose foreign keys lead to what it
// may not see, is an error that undoes the write.
func (w *write) readBack(d *rowData, id json.RawMessage, where database.Condition, columns []*database.Column) (written, error) {
	row, values, err := w.rowAndValues(w.tx, d.scope, both(where, stillVisible(d.references)), false, columns)
	if isNotFound(err) {
		err = oneViolation(allFields, "the row would not be one that you may see; change the fields that decide who sees it")
	}
	return written{id, row, values}, err
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
	return failf(CodeInternal, "the id of %s is that of several rows; nothing was changed", m.Name)
}

// expectedVersion is the condition that the row still has the version that the caller saw; nil where it names none.
func expectedVersion(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	if raw == nil {
		return nil, nil
	}
	if m.Version == nil {
		return nil, invalid("expected_version: %s has no version field; leave it out", m.Name)
	}
	value, err := lookup.ParseValue(m.Version.Column, raw)
	if err != nil {
		return nil, invalid("expected_version: %s; it is the row's %s", err, m.Version.Name)
	}
	return database.Compare{Column: m.Version.Column, Op: database.Equal, Value: value}, nil
}

// both are two conditions, either of which may be nil.
func both(a, b database.Condition) database.Condition {
	if and, ok := b.(database.And); b == nil || ok && len(and) == 0 {
		return a
	}
	return database.And{a, b}
}

// members are those of a row as an engine wrote it.
func members(row json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(row, &m) // an engine wrote it: it is valid
	return m
}

// idOf is the id that a row shows; nil where the model has no key.
func idOf(m *catalog.Model, row json.RawMessage) json.RawMessage {
	if len(m.Key) == 0 {
		return nil
	}
	if m.KeyName == "" {
		return members(row)[m.Key[0].Name]
	}
	return members(row)[m.KeyName]
}

// plainText is a JSON value as people read it: a string without its quotes.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && !isNull(raw) {
		return text
	}
	return string(raw)
}

// labelOf is what people call a row: its display field, or else its id.
func labelOf(m *catalog.Model, row json.RawMessage) string {
	if m.Display != nil && !m.Display.Secret {
		if value := members(row)[m.Display.Name]; value != nil && !isNull(value) {
			return plainText(value)
		}
	}
	return plainText(idOf(m, row))
}
