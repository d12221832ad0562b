package write

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// rewrite is an update of one row on its way.
type rewrite struct {
	*Writer
	data           *RowData
	where, version database.Condition
	columns        []*database.Column
	set            []database.Assignment
	// output is the row as get_ shows it.
	output []database.Output
	// before is the row as it was, followers what the database changes along with it.
	before    *call.Row
	followers *Followers
	// matched is how many rows the statement matched, after the row as it is then; Text is nil if it was not read yet.
	matched int64
	after   written
}

// updateRow changes the row that meets a condition, reads it back through the row policy, and writes the journal.
func (w *Writer) updateRow(d *RowData, where database.Condition, version database.Condition, columns []*database.Column) (written, error) {
	m := d.Scope.Model()
	u := &rewrite{Writer: w, data: d, where: where, version: version, columns: columns, set: d.Set, before: &call.Row{Model: m}, matched: 1}
	if m.Version != nil {
		u.set = append(slices.Clone(d.Set), database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	if err := u.run(); err != nil {
		return written{}, err
	}
	changed, err := u.result()
	if err != nil {
		return written{}, err
	}
	if err := Journal(w.Req, w.Tx, call.Change{Row: changed.Row, Action: "update", Message: changeSummary(u.before, changed.Row), Before: u.before, After: changed.Row, Given: d.Fields, Sets: d.Fields}); err != nil {
		return written{}, err
	}
	return changed, u.followers.Journal("changed with " + m.Declared.VerboseName + " " + u.before.Label())
}

// run locks the row, checks what the update refers to, makes it, and reads the row again, all at once if what the row holds
// does not decide what is done.
func (u *rewrite) run() error {
	var batch database.Batch
	u.lock(&batch)
	if u.dependsOnRow() {
		if err := u.Tx.Run(u.Req.Ctx, &batch); err != nil {
			return u.whyNotLocked(u.data.Scope, u.where, err)
		}
		if err := u.look(); err != nil {
			return err
		}
		batch = database.Batch{}
	} else if err := addChecks(&batch, u.data.Scope, u.data.references); err != nil {
		return err
	}
	u.write(&batch)
	return Refused(u.data.Scope, u.data.references, u.Tx.Run(u.Req.Ctx, &batch))
}

// lock reads the row as it is, and locks it.
func (u *rewrite) lock(batch *database.Batch) {
	plan := read.PlanRow(u.data.Scope, u.where)
	plan.Lock, u.output = call.Lockable(u.data.Scope.Model().Table), plan.Output
	batch.Select(plan, func(found database.Answer) error {
		if found.Page.Count == 0 {
			return call.RowNotFound(u.data.Scope.Model())
		}
		u.before.Text = found.Text
		return nil
	})
}

// dependsOnRow reports whether the row must be known before it is changed.
func (u *rewrite) dependsOnRow() bool {
	m := u.data.Scope.Model()
	return m.Table.RowSecurity || len(u.data.loose) > 0 || len(planKept(u.Req, u.data.Scope)) > 0 || isReferenced(u.Req.Catalog, m, u.set) ||
		slices.ContainsFunc(u.data.references, func(r Reference) bool { return r.open || r.withheld })
}

// look finds out what depends on the row as it is.
func (u *rewrite) look() error {
	d := u.data
	set, err := d.changes(u.before.Text)
	if err != nil {
		return err
	}
	u.set = slices.Concat(set, u.set[len(d.Set):])
	if err := u.completeReferences(d, u.where); err != nil {
		return err
	}
	if err := u.CheckReferences(d.Scope, d.references); err != nil {
		return err
	}
	if u.followers, err = u.PlanChange(d.Scope, u.where, u.set); err != nil {
		return err
	}
	return u.ReadKept(d.Scope, []*call.Row{u.before}, u.where)
}

// write changes the row, and shows it as it is then.
func (u *rewrite) write(batch *database.Batch) {
	d := u.data
	m := d.Scope.Model()
	plan := &database.Update{In: d.Scope.Source(), Set: u.set, Where: both(u.where, u.version)}
	shown := m.Table.UpdateReturns && u.followers == nil && len(u.set) > 0 && d.tellsItself(u.columns)
	if shown {
		plan.Returning, plan.MaxValue, plan.Meets = u.output, call.MaxOneValue, plan.In.Policy()
	}
	if len(u.set) > 0 {
		batch.Update(plan, func(answer database.Answer) error {
			u.matched = answer.Matched
			if u.matched > 1 {
				return onlyOne(m, u.matched, u.before.Text)
			}
			if shown && u.matched == 1 {
				u.after = written{Row: &call.Row{Model: m, Text: answer.Text}}
			}
			return nil
		})
	}
	if !shown {
		batch.Select(d.planBack(u.where, u.columns), func(found database.Answer) error {
			u.after = written{Row: &call.Row{Model: m, Text: null}, values: found.Page.Last}
			if found.Page.Count > 0 {
				u.after.Text = found.Text
			}
			return nil
		})
	}
}

// null is shown of a row that the token may not see.
var null = json.RawMessage("null")

// result is the row after the write. One that the token may not see is an error that undoes the write.
func (u *rewrite) result() (written, error) {
	d := u.data
	notice := u.followers.notice()
	if u.matched == 0 {
		if err := u.stillMeets(d.Scope, u.where, u.version, u.before.Text); err != nil {
			return written{}, err
		}
		notice = "the database did not make this change as it was asked: a rule, a trigger or its row-level security changed the row in its own way, or left it as it is; the object is the row as it is now"
	}
	if u.after.Row == nil {
		var err error
		if u.after, err = u.readBack(d, u.where, u.columns); err != nil {
			return written{}, err
		}
	}
	if call.IsNull(u.after.Text) {
		return written{}, u.whyUnseen(d.Scope, d.references, u.where)
	}
	u.after.notice, u.after.untouched = notice, u.matched == 0 && bytes.Equal(u.before.Text, u.after.Text)
	return u.after, nil
}

// stillMeets is nil if the row, which an update did not match, still meets the update's conditions: then the database itself
// did not make the change. Else it is a conflict.
func (w *Writer) stillMeets(scope access.Scope, where, version database.Condition, text json.RawMessage) error {
	_, err := w.LockedRow(scope, both(where, version))
	if call.IsNotFound(err) {
		return onlyOne(scope.Model(), 0, text)
	}
	return err
}
