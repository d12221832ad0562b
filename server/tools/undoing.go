package tools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// undoing is the taking back of some entries in one transaction.
type undoing struct {
	call *call
	tx   database.Tx
	// rows are those that were met, changes what was done to them, parts the calls that did it.
	rows    map[rowName]*undoneRow
	changes []undoneChange
	parts   []*call
}

// rowName names a row for the journal.
type rowName struct{ schema, table, row string }

func (e *undoEntry) rowName() rowName { return rowName{e.Schema, e.Table, e.Row} }

// undoneRow is what is known of a row: which entries about it are taken back, and how many of them were.
type undoneRow struct {
	entries []*undoEntry
	done    int
}

// run takes the entries back, newest first. What a foreign key does not allow yet, as a deletion journals a parent before its
// children, comes again after the others: but never before what is newer about the same row.
func (u *undoing) run(entries []*undoEntry) error {
	for _, e := range entries {
		row := u.rows[e.rowName()]
		if row == nil {
			row = &undoneRow{}
			u.rows[e.rowName()] = row
		}
		row.entries = append(row.entries, e)
	}
	for len(entries) > 0 {
		var left []*undoEntry
		var first error
		for _, e := range entries {
			row := u.rows[e.rowName()]
			if row.entries[row.done] != e {
				left = append(left, e)
				continue
			}
			err := u.tx.Savepoint(u.call.ctx, func() error { return u.reverse(e, row) })
			var told *toolError
			switch {
			case err == nil:
				row.done++
			case !errors.As(err, &told) || told.Code != CodeValidation && told.Code != CodeProtected:
				return err
			default:
				left = append(left, e)
				if first == nil {
					first = err
				}
			}
		}
		if len(left) == len(entries) {
			return first
		}
		entries = left
	}
	return nil
}

// reverse takes one entry back.
func (u *undoing) reverse(e *undoEntry, row *undoneRow) error {
	r, err := u.plan(e)
	if err != nil {
		return err
	}
	now, err := u.rowNow(r)
	if err != nil {
		return err
	}
	if row.done == 0 {
		if err := u.unchangedSince(r, row, now); err != nil {
			return err
		}
	}
	if r.op == nil {
		return nil
	}
	if r.op == deleteOperation {
		if err := u.takesNothingAlong(r); err != nil {
			return err
		}
	}
	p := u.call.part(u.tx, r.op, r.model.Name)
	p.restores = true
	arguments, err := json.Marshal(r.arguments)
	if err != nil {
		return err
	}
	if _, err := p.run(arguments); err != nil {
		return undoFailed(e, err)
	}
	if err := u.isAsBefore(r); err != nil {
		return err
	}
	u.parts = append(u.parts, p)
	u.changes = append(u.changes, undoneChange{r.model.Name, r.id, r.op.Name})
	return nil
}

// undoFailed is the error of an opposite change that was refused, with what it was to take back.
func undoFailed(e *undoEntry, err error) error {
	var told *toolError
	if !errors.As(err, &told) {
		return err
	}
	at := *told
	at.Message = fmt.Sprintf("%s of %s %s cannot be undone: %s; nothing was undone", e.what(), e.Model, e.Row, told.Message)
	return &at
}

// rowNow reads and locks the row as it is now; nil if it is not there, or not for the token.
func (u *undoing) rowNow(r *reversal) (json.RawMessage, error) {
	where, err := keyEquals(r.model, r.id)
	if err != nil {
		return nil, r.entry.cannot("its id %s", err)
	}
	w := &write{&u.call.request, u.tx}
	text, err := w.lockedRow(r.scope, where)
	if isNotFound(err) {
		return nil, nil
	}
	return text, err
}

// unchangedSince refuses a row that is not as the newest of its entries left it, or that others changed since the oldest of
// them.
func (u *undoing) unchangedSince(r *reversal, row *undoneRow, now json.RawMessage) error {
	is := members(now)
	for name, value := range r.after {
		if !sameMeaning(is[name], value) {
			return u.conflict(r, now)
		}
	}
	if gone := r.entry.Action == "delete"; gone != (now == nil) {
		return u.conflict(r, now)
	}
	table := u.call.catalog.Audit()
	oldest := row.entries[len(row.entries)-1]
	id, err := lookup.ParseShown(table.Column("id"), oldest.ID)
	if err != nil {
		return err
	}
	name := r.entry.rowName()
	since, _, err := u.journal(database.And{
		textEquals(table, "table_schema", name.schema), textEquals(table, "table_name", name.table), textEquals(table, "object_id", name.row),
		database.Compare{Column: table.Column("id"), Op: database.GreaterOrEqual, Value: id},
		database.Not{Condition: database.Match{Column: database.AuditCall(table), Op: database.TextEquals, Text: u.call.id}},
	}, len(row.entries)+1)
	if err != nil {
		return err
	}
	if len(since) > len(row.entries) {
		return u.conflict(r, now)
	}
	return nil
}

// conflict is the error about a row that was changed since: it shows what the change left, and what is there now. Of a row
// that is gone, or out of the token's sight, it shows nothing.
func (u *undoing) conflict(r *reversal, now json.RawMessage) error {
	left := json.RawMessage("null")
	if now == nil {
		now = left
	} else if r.entry.Action != "delete" {
		text, err := json.Marshal(r.after)
		if err != nil {
			return err
		}
		left = text
	}
	return &toolError{
		Code: CodeConflict, Current: now, Left: left,
		Message: fmt.Sprintf("%s %s was changed since: current is the row now, left is what your change left of it; nothing was undone. Undo what was done since first, if it was you, or write yourself what is right", r.model.Name, r.entry.Row),
	}
}

// takesNothingAlong refuses to delete a row on which others depend by now: they are no part of what is taken back.
func (u *undoing) takesNothingAlong(r *reversal) error {
	where, err := keyEquals(r.model, r.id)
	if err != nil {
		return err
	}
	d, err := u.call.planDeletion(u.tx, r.scope, where)
	if err != nil {
		return undoFailed(r.entry, err)
	}
	if len(d.along) > 0 {
		return failf(CodeProtected, "%s of %s %s cannot be undone: other rows depend on it%s; nothing was undone", r.entry.what(), r.model.Name, r.entry.Row, d.consequences())
	}
	return nil
}

// isAsBefore makes sure that the row is what it was: a trigger of the database may have made something else of it.
func (u *undoing) isAsBefore(r *reversal) error {
	now, err := u.rowNow(r)
	if err != nil {
		return err
	}
	if r.op == deleteOperation {
		if now != nil {
			return r.entry.cannot("the database keeps the row")
		}
		return nil
	}
	is := members(now)
	for _, name := range r.settled {
		if !sameMeaning(is[name], r.before[name]) {
			return r.entry.cannot("the database makes something else of %s than it was", name)
		}
	}
	return nil
}

// tellAudit tells the audit of the calls that took changes back.
func (u *undoing) tellAudit() {
	for _, p := range u.parts {
		if p.dryRun = u.call.dryRun; p.dryRun {
			p.record.Changed = 0
		}
		u.call.record.Changed += p.record.Changed
		p.tellAudit(outcomeOK)
	}
}
