package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// planUpdate finds the rows that an update action would set. Unlike update_, it may move rows out of the caller's
// sight (docs/design/actions.md, "Rights to actions"): they are visible before, and need not be afterwards.
func (e *actionCall) planUpdate(w *write) (*actionPlan, error) {
	set, references, err := e.assignments(w)
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
	keys, err := e.rowKeys(p.rows)
	if err != nil {
		return nil, err
	}
	followers, err := w.planChange(e.call.scope, anyOf(keys), set)
	if err != nil {
		return nil, err
	}
	p.along = followers.consequences()
	p.run = func() (int, error) { return e.update(w, p.rows, keys, set, references, followers) }
	return p, nil
}

// assignments returns the values that the action sets, and the foreign keys that its parameters set. A parameter that was
// left out does not change its field.
func (e *actionCall) assignments(w *write) ([]database.Assignment, []reference, error) {
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
		value, err := storedValue(a.Field, raw, false)
		if err != nil {
			problems.add(a.Parameter, "%s", err)
			continue
		}
		set = append(set, database.Assignment{Column: a.Field.Column, Value: value})
		given.fields = append(given.fields, a.Field)
		e.call.record.Fields = append(e.call.record.Fields, a.Field.Name)
	}
	if err := problems.err(); err != nil {
		return nil, nil, err
	}
	if len(set) == 0 {
		return nil, nil, invalid("confirmation_data must hold at least one parameter: %s would change nothing; %s", e.declared.Name, parametersOf(e.declared).names())
	}
	given.set = set
	references := e.call.referencesOf(given, false)
	if err := w.checkReferences(e.call.scope, references); err != nil {
		return nil, nil, err
	}
	if m.Version != nil {
		set = append(set, database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	return set, references, nil
}

// skip takes the rows away that the action's where refuses.
func (e *actionCall) skip(w *write, p *actionPlan) error {
	allowed := e.call.scope.Allows(e.declared)
	if allowed == nil || len(p.rows) == 0 {
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
	plan.Where, plan.Limit = database.And{anyOf(keys), allowed}, len(keys)
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
func (e *actionCall) update(w *write, rows []*row, keys []askedID, set []database.Assignment, references []reference, followers *followers) (int, error) {
	where := database.And{anyOf(keys)}
	if allowed := e.call.scope.Allows(e.declared); allowed != nil {
		where = append(where, allowed)
	}
	if err := w.readKept(e.call.scope, rows, anyOf(keys)); err != nil {
		return 0, err
	}
	n, err := w.tx.Update(e.call.ctx, &database.Update{In: e.call.scope.Source(), Set: set, Where: where})
	if err != nil {
		return 0, refused(e.call.scope, references, err)
	}
	if err := e.checkAfter(w, keys, references); err != nil {
		return 0, err
	}
	if err := e.journalChanges(w, rows, keys, "set by "+e.declared.Name); err != nil {
		return 0, err
	}
	return int(n), followers.journal("changed with " + counted(e.call.scope.Model(), len(rows)))
}

// checkAfter sees to it that the foreign keys which the parameters set name rows that the token may see. The rows
// themselves may be out of its sight by now.
func (e *actionCall) checkAfter(w *write, keys []askedID, references []reference) error {
	for _, r := range references {
		if !r.limited() {
			continue
		}
		plan, err := e.planRows(false)
		if err != nil {
			return err
		}
		plan.From, plan.Limit = e.call.token.Unscoped(e.call.scope.Model().Table), 1
		plan.Where = database.And{anyOf(keys), database.Not{Condition: r.visible()}}
		hidden, err := e.readRows(w.tx, plan)
		if err != nil {
			return err
		}
		if len(hidden) > 0 {
			return r.missing(e.call.scope)
		}
	}
	return nil
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
