package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// planUpdate finds the rows that an update action would set. Unlike update_, it may move rows out of the caller's
// sight (docs/design/actions.md, "Rights to actions"): they are visible before, and need not be afterwards.
func (e *actionCall) planUpdate(w *write) (*actionPlan, error) {
	set, err := e.assignments(w)
	if err != nil {
		return nil, err
	}
	p, err := e.findRows(w.tx, true)
	if err != nil {
		return nil, err
	}
	if err := e.skip(w, p); err != nil {
		return nil, err
	}
	if err := e.noneFound(p); err != nil {
		return nil, err
	}
	p.run = func() (int, error) { return e.update(w, p.rows, set) }
	return p, nil
}

// assignments are what the action sets. A parameter that was left out leaves its field as it is.
func (e *actionCall) assignments(w *write) ([]database.Assignment, error) {
	problems := &violations{}
	m := e.call.scope.Model()
	var set []database.Assignment
	e.call.record.Fields = nil // those of a run that failed
	given := &rowData{scope: e.call.scope}
	for _, a := range e.declared.Set {
		if a.Parameter == "" {
			set = append(set, database.Assignment{Column: a.Field.Column, How: a.How, Value: a.Value})
			e.call.record.Fields = append(e.call.record.Fields, a.Field.Name)
			continue
		}
		raw, there := e.parameters.raw[a.Parameter]
		if !there {
			continue
		}
		value, err := storedValue(a.Field, raw)
		if err != nil {
			problems.add(a.Parameter, "%s", err)
			continue
		}
		set = append(set, database.Assignment{Column: a.Field.Column, Value: value})
		given.fields = append(given.fields, a.Field)
		e.call.record.Fields = append(e.call.record.Fields, a.Field.Name)
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	if len(set) == 0 {
		return nil, invalid("confirmation_data must hold at least one parameter: %s would change nothing; %s", e.declared.Name, parameterNames(e.declared))
	}
	given.set = set
	if err := w.checkReferences(e.call.scope, e.call.referencesOf(given)); err != nil {
		return nil, err
	}
	if m.Version != nil {
		set = append(set, database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	return set, nil
}

// skip takes the rows away that the action's where refuses.
func (e *actionCall) skip(w *write, p *actionPlan) error {
	if e.declared.Where == nil || len(p.rows) == 0 {
		return nil
	}
	keys, err := e.rowKeys(p.rows)
	if err != nil {
		return err
	}
	plan, err := e.planRows(false)
	if err != nil {
		return err
	}
	plan.Where, plan.Limit = database.And{anyOf(keys), e.declared.Where}, len(keys)
	meeting, err := e.readRows(w.tx, plan)
	if err != nil {
		return err
	}
	met := map[string]bool{}
	for _, row := range meeting {
		met[string(row.id())] = true
	}
	p.rows = slices.DeleteFunc(p.rows, func(r *row) bool {
		if !met[string(r.id())] {
			p.skipped = append(p.skipped, r.id())
		}
		return !met[string(r.id())]
	})
	return nil
}

// update sets the rows and writes the journal. The condition stands in the statement too: triggers and engines without
// row locks may have changed a row meanwhile.
func (e *actionCall) update(w *write, rows []*row, set []database.Assignment) (int, error) {
	keys, err := e.rowKeys(rows)
	if err != nil {
		return 0, err
	}
	where := database.And{anyOf(keys)}
	if e.declared.Where != nil {
		where = append(where, e.declared.Where)
	}
	n, err := w.tx.Update(e.call.ctx, &database.Update{In: e.call.scope.Source(), Set: set, Where: where})
	if err != nil {
		return 0, err
	}
	if e.call.catalog.Audit() == nil {
		return int(n), nil
	}
	after, err := e.rowsAfter(w, keys)
	if err != nil {
		return 0, err
	}
	return int(n), e.journalRows(w, rows, "set by "+e.declared.Name, after)
}

// rowsAfter reads the rows for the journal, whether or not the caller still sees them, by id.
func (e *actionCall) rowsAfter(w *write, keys []askedID) (map[string]*row, error) {
	plan, err := e.planRows(false)
	if err != nil {
		return nil, err
	}
	plan.From, plan.Where, plan.Limit = e.call.token.Unscoped(e.call.scope.Model().Table), anyOf(keys), len(keys)
	rows, err := e.readRows(w.tx, plan)
	after := map[string]*row{}
	for _, r := range rows {
		after[string(r.id())] = r
	}
	return after, err
}
