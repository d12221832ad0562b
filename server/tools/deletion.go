package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// deletion is rows of one model that are to go, with what goes along.
type deletion struct {
	scope access.Scope
	// rows are the visible rows that go.
	rows []*row
	// along are other models' rows that go along, or lose what points at the rows that go; only models that the token may
	// view are named.
	along []consequence
	// where is the condition that the rows met when they were found, and must still meet when they go.
	where database.Condition
	// found are the rows with the values of their keys, cascade what is concerned beside them.
	found   []foundRow
	cascade *cascade
	// kept are the rows that are there all the same, as they are now, by identity: a rule or trigger of the database made
	// something else of their deletion, or refused it.
	kept map[string]*row
}

// consequence says what a call does to the rows of another model.
type consequence struct {
	// what is the model's verbose name, plural if count is not one; "other records" if the token may not view it.
	what  string
	count int
	fate  fate
}

// fate says what becomes of rows that depend on a call's rows.
type fate uint8

const (
	goesAlong fate = iota
	losesReference
	followsChange
)

func (c consequence) String() string { return fmt.Sprintf("%d %s", c.count, c.what) }

// otherRecords is the name of rows that the token may know no more about.
const otherRecords = "other records"

// planDeletion finds and locks the rows of the scope that meet a condition, and finds out what goes along
// (docs/design/writes-and-deletes.md, "Deletes"). What the token may not delete or change makes it a protected error.
func (req *request) planDeletion(tx database.Tx, scope access.Scope, where database.Condition) (*deletion, error) {
	f := req.newCascade(tx, scope.Model(), deletingRows)
	rows, err := f.find(scope.Source(), scope.Model(), where)
	if err != nil {
		return nil, err
	}
	if err := f.follow(rows, true); err != nil {
		return nil, err
	}
	d := &deletion{scope: scope, where: where, found: rows, cascade: f, kept: map[string]*row{}}
	for _, found := range rows {
		d.rows = append(d.rows, found.row)
	}
	d.along = f.consequences()
	return d, nil
}

// run deletes what was planned, and writes the journal. It returns how many of the rows went or changed.
func (d *deletion) run(req *request, tx database.Tx) (int, error) {
	m := d.scope.Model()
	key := keyColumns(m)
	for rows := range chunks(d.found) {
		where := database.And{among(key, rows), d.where}
		n, err := tx.Delete(req.ctx, &database.Delete{From: d.scope.Source(), Where: where})
		if err != nil {
			return 0, explain(d.scope, err)
		}
		if n > int64(len(rows)) {
			return 0, onlyOne(m, n, nil)
		}
		if n == int64(len(rows)) {
			continue
		}
		// Some went along with others of them, or the database kept them.
		left, err := d.cascade.find(req.token.Unscoped(m.Table), m, among(key, rows))
		if err != nil {
			return 0, err
		}
		if len(left) > 0 && !lockable(m.Table) {
			return 0, failf(CodeConflict, "%s was changed meanwhile, and nothing was deleted; read it and try again", m.Name)
		}
		for _, row := range left {
			d.kept[row.identity] = row.row
		}
	}
	return d.affected(), d.journal(req, tx)
}

// affected is the number of rows that went or changed.
func (d *deletion) affected() int {
	n := 0
	for _, found := range d.found {
		if kept := d.kept[found.identity]; kept == nil || len(fieldChanges(kept.model, found.row, kept)) > 0 {
			n++
		}
	}
	return n
}

// done says in words what was done.
func (d *deletion) done() string {
	text := "deleted " + counted(d.scope.Model(), len(d.rows)-len(d.kept))
	if len(d.kept) > 0 {
		text += "; " + d.keptNotice()
	}
	return text
}

// keptNotice says that the database kept rows; "" if it kept none.
func (d *deletion) keptNotice() string {
	if len(d.kept) == 0 {
		return ""
	}
	return "the database kept " + counted(d.scope.Model(), len(d.kept)) +
		": a rule, a trigger or its row-level security changes such a row or leaves it as it is, and does not delete it"
}

// keptRow is the one row of the deletion as get_ shows it, if the database kept it; nil if it went, or is not to be seen.
func (d *deletion) keptRow(req *request, tx database.Tx) (json.RawMessage, error) {
	if len(d.kept) == 0 || !d.scope.Has(access.View) {
		return nil, nil
	}
	where, err := keyEquals(d.scope.Model(), d.rows[0].id())
	if err != nil {
		return nil, err
	}
	text, _, err := req.readRow(tx, d.scope, where, false)
	if isNotFound(err) {
		return nil, nil
	}
	return text, err
}

// journal records the rows of registered models that went along or changed, and the rows that went or were kept: what
// depends on a row comes before it, so that undo, which goes the other way, finds each row's parents there.
func (d *deletion) journal(req *request, tx database.Tx) error {
	if req.catalog.Audit() == nil {
		return nil
	}
	m := d.scope.Model()
	with := fmt.Sprintf("%d %s", len(d.rows), m.Declared.VerboseNamePlural)
	if len(d.rows) == 1 {
		with = m.Declared.VerboseName + " " + d.rows[0].label()
	}
	if err := d.cascade.journal("deleted with "+with, "changed by a deletion"); err != nil {
		return err
	}
	for _, found := range d.found {
		ch := change{row: found.row, action: "delete", message: "deleted", before: found.row}
		if kept := d.kept[found.identity]; kept != nil {
			ch = change{row: kept, action: "update", message: "kept by the database, which was asked to delete it", before: found.row, after: kept}
		}
		if err := req.journal(tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// consequences says in words what goes along; "" where nothing does.
func (d *deletion) consequences() string {
	var gone, changed []string
	for _, along := range d.along {
		if along.fate != goesAlong {
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
func (w *write) deleteRow(scope access.Scope, where, version database.Condition) (*deletion, error) {
	m := scope.Model()
	gone, err := w.req.planDeletion(w.tx, scope, both(where, version))
	if err != nil {
		return nil, err
	}
	switch {
	case len(gone.rows) > 1:
		return nil, onlyOne(m, int64(len(gone.rows)), nil)
	case len(gone.rows) == 1:
		_, err = gone.run(w.req, w.tx)
		return gone, err
	}
	current, err := w.lockedRow(scope, where)
	if err != nil {
		return nil, err
	}
	if version == nil {
		return nil, rowNotFound(m) // it came into sight meanwhile
	}
	if !scope.Has(access.View) {
		current = nil
	}
	return nil, onlyOne(m, 0, current)
}
