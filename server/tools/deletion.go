package tools

import (
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
	// found are the rows with the values of their keys, touched the tables that are concerned.
	found   []foundRow
	touched []*affected
}

// consequence is what a deletion does to the rows of another model.
type consequence struct {
	// what is the model's verbose name, plural where count is not one; "other records" where the token may not view it.
	what  string
	count int
	// changed is set if they stay, and lose what pointed at the row.
	changed bool
}

func (c consequence) String() string { return fmt.Sprintf("%d %s", c.count, c.what) }

// otherRecords is what rows are called of which the token may know no more.
const otherRecords = "other records"

// planDeletion finds and locks the rows of the scope that meet a condition, and finds out what goes along
// (docs/design/writes-and-deletes.md, "Deletes"). What the token may not delete or change makes it a protected error.
func (req *request) planDeletion(tx database.Tx, scope access.Scope, where database.Condition) (*deletion, error) {
	f := &cascade{req: req, tx: tx, root: scope.Model(), tables: map[*database.Table]*affected{}}
	rows, err := f.find(scope.Source(), scope.Model(), where)
	if err != nil {
		return nil, err
	}
	if err := f.follow(rows); err != nil {
		return nil, err
	}
	d := &deletion{scope: scope, where: where, found: rows, touched: f.order}
	for _, found := range rows {
		d.rows = append(d.rows, found.row)
	}
	d.along = f.consequences()
	return d, nil
}

// run deletes what was planned, and writes the journal. It returns how many of the rows went.
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
		// Some went along with others of them, or they are still there.
		output := []database.Output{keyOutput(m, idName)}
		_, page, err := tx.Select(req.ctx, &database.Select{From: req.token.Unscoped(m.Table), Output: output, Where: among(key, rows), Limit: 1}, nil)
		if err != nil {
			return 0, err
		}
		if page.Count > 0 {
			return 0, failf(CodeConflict, "%s was changed meanwhile, and nothing was deleted; read it and try again", m.Name)
		}
	}
	return len(d.rows), d.journal(req, tx)
}

// journal records the rows that went, those of registered models that went along, and those that lost what pointed at
// them.
func (d *deletion) journal(req *request, tx database.Tx) error {
	if req.catalog.Audit() == nil {
		return nil
	}
	m := d.scope.Model()
	cause := fmt.Sprintf("deleted with %d %s", len(d.rows), m.Declared.VerboseNamePlural)
	if len(d.rows) == 1 {
		cause = fmt.Sprintf("deleted with %s %s", m.Declared.VerboseName, d.rows[0].label())
	}
	for _, row := range d.found {
		if err := req.journal(tx, change{row: row.row, action: "delete", message: "deleted", before: row.row}); err != nil {
			return err
		}
	}
	f := &cascade{req: req, tx: tx, root: m}
	for _, a := range d.touched {
		if a.model == nil {
			continue
		}
		for _, row := range a.along {
			if err := req.journal(tx, change{row: row.row, action: "delete", message: cause, before: row.row}); err != nil {
				return err
			}
		}
		for rows := range chunks(a.changedOnly()) {
			after, err := f.find(req.token.Unscoped(a.table), a.model, among(a.table.PrimaryKey, rows))
			if err != nil {
				return err
			}
			later := map[string]*row{}
			for _, found := range after {
				later[found.identity] = found.row
			}
			for _, before := range rows {
				is := later[before.identity]
				if is == nil {
					continue
				}
				if err := req.journal(tx, change{row: is, action: "update", message: "changed by a deletion", before: before.row, after: is}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// consequences says in words what goes along; "" where nothing does.
func (d *deletion) consequences() string {
	var gone, changed []string
	for _, along := range d.along {
		if along.changed {
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
	case version == nil:
		return nil, rowNotFound(m)
	}
	current, _, err := w.req.readRow(w.tx, scope, where, lockable(m.Table))
	if err != nil {
		return nil, err
	}
	if !scope.Has(access.View) {
		current = nil
	}
	return nil, onlyOne(m, 0, current)
}
