package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// undoing is the taking back of some entries in one transaction.
type undoing struct {
	call *call.Call
	tx   database.Tx
	// rows are the rows that were met, changes the changes made to them, parts the calls that made them.
	rows    map[rowName]*undoneRow
	changes []undoneChange
	parts   []*call.Call
	// size is how long the values are that a dry run tells, notice says that some were left out, or that there was nothing to do.
	size   int
	notice string
}

// rowName names a row for the journal.
type rowName struct{ schema, table, row string }

func (e *undoEntry) rowName() rowName { return rowName{e.Schema, e.Table, e.Row} }

// undoneRow holds what is known about a row: the entries about it that are taken back, newest first. left are these, or
// what they come to together, done how many of left were taken back.
type undoneRow struct {
	entries, left []*undoEntry
	done          int
}

// run takes the entries back: what they come to together, or if that cannot be done, one after the other.
func (u *undoing) run(entries []*undoEntry) error {
	for _, e := range entries {
		row := u.rows[e.rowName()]
		if row == nil {
			row = &undoneRow{}
			u.rows[e.rowName()] = row
		}
		row.entries = append(row.entries, e)
	}
	net, err := u.net(entries)
	if err != nil {
		return err
	}
	if len(net) < len(entries) {
		undone, err := write.Attempt(&u.call.Request, u.tx, func() error { return u.takeBack(net) })
		if err == nil || !undone || !refusesChange(err) {
			return err
		}
		u.changes, u.parts, u.size, u.notice = []undoneChange{}, nil, 0, ""
	}
	return u.takeBack(entries)
}

// takeBack takes entries back in their order. What a foreign key does not allow yet comes again after the others: but never
// before what is newer about the same row.
func (u *undoing) takeBack(entries []*undoEntry) error {
	for _, row := range u.rows {
		row.left, row.done = nil, 0
	}
	for _, e := range entries {
		row := u.rows[e.rowName()]
		row.left = append(row.left, e)
	}
	for len(entries) > 0 {
		var left []*undoEntry
		var first error
		for _, e := range entries {
			row := u.rows[e.rowName()]
			if row.left[row.done] != e {
				left = append(left, e)
				continue
			}
			undone, err := write.Attempt(&u.call.Request, u.tx, func() error { return u.reverse(e, row) })
			switch {
			case err == nil:
				row.done++
			case !undone || !refusesChange(err):
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

// refusesChange reports whether an error says that a change cannot be made as other rows are now, or at all.
func refusesChange(err error) bool {
	var told *call.ToolError
	return errors.As(err, &told) && (told.Code == call.CodeValidation || told.Code == call.CodeProtected)
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
		return r.hasFixed(now)
	}
	if len(r.kept) == 0 && u.isRestored(r, now) {
		return nil
	}
	if r.op == write.DeleteOperation {
		if err := u.takesNothingAlong(r); err != nil {
			return err
		}
	}
	p := u.call.Part(u.tx, r.op, r.model.Name)
	p.Restores, p.RestoredAs, p.TakesBack = true, r.kept, u.takenBack
	arguments, err := json.Marshal(r.arguments)
	if err != nil {
		return err
	}
	if _, err := p.Run(arguments); err != nil {
		return undoFailed(e, err)
	}
	if err := u.isAsBefore(r); err != nil {
		return err
	}
	u.parts = append(u.parts, p)
	u.changes = append(u.changes, u.shown(r, now))
	return nil
}

// takenBack is the id of the oldest entry about a row that is taken back with the next one about it; "" if there is none.
func (u *undoing) takenBack(table *database.Table, id string) string {
	row := u.rows[rowName{table.Schema, table.Name, id}]
	if row == nil || row.done == len(row.left) {
		return ""
	}
	return call.PlainText(row.left[row.done].oldest())
}

// shown is the answer's form of what was done to a row. A dry run tells the values, too, as long as there is room.
func (u *undoing) shown(r *reversal, now json.RawMessage) undoneChange {
	change := undoneChange{Model: r.model.Name, ID: r.id, Change: r.op.Name}
	if !u.call.DryRun {
		return change
	}
	from, to := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	is, size := call.Members(now), 0
	for name, value := range r.after {
		if r.op == write.DeleteOperation {
			from[name] = value
		}
		size += len(name) + len(value)
	}
	for _, name := range r.settled {
		to[name] = r.before[name]
		if r.op == write.UpdateOperation {
			from[name] = is.Value(name)
		}
		size += len(name) + len(to[name]) + len(from[name])
	}
	if u.size += size; u.size > read.RowBytes(u.call.Settings.MaxResultBytes) {
		u.notice = "the values of some changes are left out: there are too many"
		return change
	}
	change.From, change.To = from, to
	return change
}

// undoFailed is the error of an opposite change that was refused, with what it was to take back.
func undoFailed(e *undoEntry, err error) error {
	var told *call.ToolError
	if !errors.As(err, &told) {
		return err
	}
	at := *told
	at.Message = fmt.Sprintf("%s of %s %s cannot be undone: %s; nothing was undone", e.what(), e.Model, e.Row, told.Message)
	return &at
}

// rowNow reads and locks the present row; nil if it is not there, or not for the token.
func (u *undoing) rowNow(r *reversal) (json.RawMessage, error) {
	where, err := call.KeyEquals(r.model, r.id)
	if err != nil {
		return nil, r.entry.cannot("its id %s", err)
	}
	w := &write.Writer{Req: &u.call.Request, Tx: u.tx}
	text, err := w.LockedRow(r.scope, where)
	if call.IsNotFound(err) {
		return nil, nil
	}
	return text, err
}

// isRestored reports whether a changed row shows what it was already: a foreign key followed what was taken back before.
func (u *undoing) isRestored(r *reversal, now json.RawMessage) bool {
	return len(u.parts) > 0 && r.op == write.UpdateOperation && now != nil && holds(now, r.before)
}

// takesNothingAlong refuses to delete a row on which others depend by now: they are no part of what is taken back.
func (u *undoing) takesNothingAlong(r *reversal) error {
	where, err := call.KeyEquals(r.model, r.id)
	if err != nil {
		return err
	}
	d, err := write.PlanDeletion(&u.call.Request, u.tx, r.scope, where)
	if err != nil {
		return undoFailed(r.entry, err)
	}
	if len(d.Along) > 0 {
		return call.Failf(call.CodeProtected, "%s of %s %s cannot be undone: other rows depend on it%s; nothing was undone", r.entry.what(), r.model.Name, r.entry.Row, d.Consequences())
	}
	return nil
}

// isAsBefore makes sure that the row is unchanged: a trigger of the database may have made something else of it.
func (u *undoing) isAsBefore(r *reversal) error {
	now, err := u.rowNow(r)
	if err != nil {
		return err
	}
	if r.op == write.DeleteOperation {
		if now != nil {
			return r.entry.cannot("the database keeps the row")
		}
		return nil
	}
	is := call.Members(now)
	for _, name := range r.settled {
		if !sameMeaning(is.Value(name), r.before[name]) {
			return r.entry.cannot("the database makes something else of %s than it was", name)
		}
	}
	return r.hasFixed(now)
}

// hasFixed makes sure that the fields that cannot be set are as before: nothing is left out of what is taken back.
func (r *reversal) hasFixed(now json.RawMessage) error {
	is := call.Members(now)
	for _, name := range slices.Sorted(maps.Keys(r.fixed)) {
		if !sameMeaning(is.Value(name), r.before[name]) {
			return r.entry.cannot("%s %s", name, r.fixed[name])
		}
	}
	return nil
}

// tellParts tells the audit of the calls that took changes back, once the whole has ended with an error or none.
func (u *undoing) tellParts(err error) error {
	if err != nil {
		call.TellInDoubt(u.parts, err)
		return nil
	}
	for _, p := range u.parts {
		if p.DryRun = u.call.DryRun; p.DryRun {
			p.Record.Changed = 0
		}
		u.call.Record.Changed += p.Record.Changed
		_ = p.TellAudit(u.call.Outcome())
	}
	return nil
}
