package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// Deletion is rows of one model that are to go, with what goes along.
type Deletion struct {
	scope access.Scope
	// Rows are the visible rows that go.
	Rows []*call.Row
	// Along are other models' rows that go along, or lose what points at the rows that go; only models that the token may
	// view are named.
	Along []Consequence
	// where is the condition that the rows met when they were found, and must still meet when they go.
	where database.Condition
	// found are the rows with the values of their keys, cascade what is concerned beside them.
	found   []foundRow
	cascade *cascade
	// kept are the rows that are there all the same, as they are now, by identity: a rule or trigger of the database made
	// something else of their deletion, or refused it.
	kept map[string]*call.Row
}

// Consequence says what a call does to the rows of another model.
type Consequence struct {
	// What is the model's verbose name, plural if count is not one; "other records" if the token may not view it.
	What  string
	Count int
	Fate  Fate
}

// Fate says what becomes of rows that depend on a call's rows.
type Fate uint8

const (
	// goesAlong is the fate of rows that are deleted too.
	goesAlong Fate = iota
	// LosesReference is the fate of rows whose foreign key becomes null or a default.
	LosesReference
	// FollowsChange is the fate of rows whose foreign key gets the new value.
	FollowsChange
)

func (c Consequence) String() string { return fmt.Sprintf("%d %s", c.Count, c.What) }

// otherRecords is the name of rows that the token may know no more about.
const otherRecords = "other records"

// PlanDeletion finds and locks the rows of the scope that meet a condition, and finds out what goes along
// (docs/design/writes-and-deletes.md, "Deletes"). What the token may not delete or change makes it a protected error.
func PlanDeletion(req *call.Request, tx database.Tx, scope access.Scope, where database.Condition) (*Deletion, error) {
	f := newCascade(req, tx, scope.Model(), deletingRows)
	rows, err := f.find(scope.Source(), scope.Model(), where)
	if err != nil {
		return nil, err
	}
	if err := f.follow(rows, true); err != nil {
		return nil, err
	}
	d := &Deletion{scope: scope, where: where, found: rows, cascade: f, kept: map[string]*call.Row{}}
	for _, found := range rows {
		d.Rows = append(d.Rows, found.Row)
	}
	d.Along = f.consequences()
	return d, nil
}

// Run deletes what was planned, and writes the journal. It returns how many of the rows went or changed.
func (d *Deletion) Run(req *call.Request, tx database.Tx) (int, error) {
	m := d.scope.Model()
	key := call.KeyColumns(m)
	for rows := range chunks(d.found) {
		where := database.And{among(key, rows), d.where}
		n, err := tx.Delete(req.Ctx, &database.Delete{From: d.scope.Source(), Where: where})
		if err != nil {
			return 0, Explain(d.scope, err)
		}
		if n > int64(len(rows)) {
			return 0, onlyOne(m, n, nil)
		}
		if n == int64(len(rows)) {
			continue
		}
		// Some went along with others of them, or the database kept them.
		left, err := d.cascade.find(req.Token.Unscoped(m.Table), m, among(key, rows))
		if err != nil {
			return 0, err
		}
		if len(left) > 0 && !call.Lockable(m.Table) {
			return 0, call.Failf(call.CodeConflict, "%s was changed meanwhile, and nothing was deleted; read it and try again", m.Name)
		}
		for _, row := range left {
			d.kept[row.identity] = row.Row
		}
	}
	return d.affected(), d.journal(req, tx)
}

// affected is the number of rows that went or changed.
func (d *Deletion) affected() int {
	n := 0
	for _, found := range d.found {
		if kept := d.kept[found.identity]; kept == nil || differ(kept.Model, found.Row, kept) {
			n++
		}
	}
	return n
}

// Done says in words what was done.
func (d *Deletion) Done() string {
	text := "deleted " + Counted(d.scope.Model(), len(d.Rows)-len(d.kept))
	if len(d.kept) > 0 {
		text += "; " + d.keptNotice()
	}
	return text
}

// keptNotice says that the database kept rows; "" if it kept none.
func (d *Deletion) keptNotice() string {
	if len(d.kept) == 0 {
		return ""
	}
	return "the database kept " + Counted(d.scope.Model(), len(d.kept)) +
		": a rule, a trigger or its row-level security changes such a row or leaves it as it is, and does not delete it"
}

// keptRow is the one row of the deletion as get_ shows it, if the database kept it; nil if it went, or is not to be seen.
func (d *Deletion) keptRow(req *call.Request, tx database.Tx) (json.RawMessage, error) {
	if len(d.kept) == 0 || !d.scope.Has(access.View) {
		return nil, nil
	}
	where, err := call.KeyEquals(d.scope.Model(), d.Rows[0].ID())
	if err != nil {
		return nil, err
	}
	text, _, err := read.ReadRow(req, tx, d.scope, where, false)
	if call.IsNotFound(err) {
		return nil, nil
	}
	return text, err
}

// journal records the rows of registered models that went along or changed, and the rows that went or were kept: what
// depends on a row comes before it, so that undo, which goes the other way, finds each row's parents there.
func (d *Deletion) journal(req *call.Request, tx database.Tx) error {
	if !Journals(req) {
		return nil
	}
	m := d.scope.Model()
	with := fmt.Sprintf("%d %s", len(d.Rows), m.Declared.VerboseNamePlural)
	if len(d.Rows) == 1 {
		with = m.Declared.VerboseName + " " + d.Rows[0].Label()
	}
	if err := d.cascade.journal("deleted with "+with, "changed by a deletion"); err != nil {
		return err
	}
	for _, found := range d.found {
		ch := call.Change{Row: found.Row, Action: "delete", Message: "deleted", Before: found.Row}
		if kept := d.kept[found.identity]; kept != nil {
			ch = call.Change{Row: kept, Action: "update", Message: "kept by the database, which was asked to delete it", Before: found.Row, After: kept}
		}
		if err := Journal(req, tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// Consequences says in words what goes along; "" where nothing does.
func (d *Deletion) Consequences() string {
	var gone, changed []string
	for _, along := range d.Along {
		if along.Fate != goesAlong {
			changed = append(changed, along.String())
		} else {
			gone = append(gone, along.String())
		}
	}
	var b strings.Builder
	if len(gone) > 0 {
		b.WriteString(", and with it " + strings.Join(gone, ", "))
	}
	if len(changed) > 0 {
		b.WriteString("; kept without it: " + strings.Join(changed, ", "))
	}
	return b.String()
}

// deleteRow deletes the one row of the scope that meets a condition, with what goes along.
func (w *Writer) deleteRow(scope access.Scope, where, version database.Condition) (*Deletion, error) {
	m := scope.Model()
	gone, err := PlanDeletion(w.Req, w.Tx, scope, both(where, version))
	if err != nil {
		return nil, err
	}
	switch {
	case len(gone.Rows) > 1:
		return nil, onlyOne(m, int64(len(gone.Rows)), nil)
	case len(gone.Rows) == 1:
		_, err = gone.Run(w.Req, w.Tx)
		return gone, err
	}
	current, err := w.LockedRow(scope, where)
	if err != nil {
		return nil, err
	}
	if version == nil {
		return nil, call.RowNotFound(m) // it came into sight meanwhile
	}
	if !scope.Has(access.View) {
		current = nil
	}
	return nil, onlyOne(m, 0, current)
}

// WhyFinal says why undo cannot bring back what the deletion takes, as things are now; "" if it can: the journal will have all of it,
// and the token may make it again.
func (d *Deletion) WhyFinal() string {
	req := d.cascade.req
	if why := WhyNoUndo(req.Catalog); why != "" {
		return why
	}
	for _, a := range d.cascade.order {
		gone := a.along
		if a.table == d.scope.Model().Table {
			gone = slices.Concat(d.found, a.along)
		}
		changed := a.changedOnly()
		switch {
		case len(gone)+len(changed) == 0:
			continue
		case a.model == nil || !a.model.Served():
			return noneOfOurs
		case len(changed) > 0 && !mayRestore(req, a.model, changed):
			return "you may not change all of the rows back that lose what they refer to"
		case len(gone) == 0:
			continue
		}
		if why := whyNotRecreated(req, a.model, gone); why != "" {
			return why
		}
	}
	return ""
}
