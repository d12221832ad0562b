package action

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// planUpdate finds the rows that an update action would set. Unlike update_, it may move rows out of the caller's
// sight (docs/design/actions.md, "Rights to actions"): they are visible before, and need not be afterwards.
func (e *actionCall) planUpdate(w *write.Writer) (*actionPlan, error) {
	set, references, err := e.assignments(w)
	if err != nil {
		return nil, err
	}
	p, err := e.findRows(w.Tx, true)
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
	followers, err := w.PlanChange(e.call.Scope, anyOf(keys), set)
	if err != nil {
		return nil, err
	}
	p.along = followers.Consequences()
	p.run = func() (int, error) { return e.update(w, p.rows, keys, set, references, followers) }
	return p, nil
}

// assignments returns the values that the action sets, and the foreign keys that its parameters set. A parameter that was
// left out does not change its field.
func (e *actionCall) assignments(w *write.Writer) ([]database.Assignment, []write.Reference, error) {
	problems := &call.Violations{}
	m := e.call.Scope.Model()
	var set []database.Assignment
	e.call.Record.Fields, e.given, e.sets = nil, nil, nil // an earlier attempt may have left some
	given := &write.RowData{Scope: e.call.Scope}
	for _, a := range e.declared.Set {
		if a.Parameter == "" {
			set = append(set, database.Assignment{Column: a.Field.Column, How: a.How, Value: a.Value})
			e.call.Record.Fields, e.sets = append(e.call.Record.Fields, a.Field.Name), append(e.sets, a.Field)
			if a.How == database.AssignValue {
				e.given = append(e.given, a.Field)
			}
			continue
		}
		raw, there := e.parameters.raw[a.Parameter]
		if !there {
			continue
		}
		value, err := write.StoredValue(a.Field, raw, false)
		if err != nil {
			problems.Add(a.Parameter, "%s", err)
			continue
		}
		set = append(set, database.Assignment{Column: a.Field.Column, Value: value})
		given.Fields = append(given.Fields, a.Field)
		e.call.Record.Fields = append(e.call.Record.Fields, a.Field.Name)
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	if len(set) == 0 {
		return nil, nil, call.Invalid("confirmation_data must hold at least one parameter: %s would change nothing; %s", e.declared.Name, parametersOf(e.declared).names())
	}
	given.Set, e.given, e.sets = set, append(e.given, given.Fields...), append(e.sets, given.Fields...)
	references := write.ReferencesOf(&e.call.Request, given, false)
	if err := w.CheckReferences(e.call.Scope, references); err != nil {
		return nil, nil, err
	}
	if m.Version != nil {
		set = append(set, database.Assignment{Column: m.Version.Column, How: database.AssignNext})
	}
	return set, references, nil
}

// skip takes the rows away that the action's where refuses.
func (e *actionCall) skip(w *write.Writer, p *actionPlan) error {
	allowed := e.call.Scope.Allows(e.declared)
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
	meeting, err := e.readRows(w.Tx, plan)
	if err != nil {
		return err
	}
	met := map[string]bool{}
	for _, row := range meeting {
		met[string(row.ID())] = true
	}
	p.rows = slices.DeleteFunc(p.rows, func(r *call.Row) bool {
		if !met[string(r.ID())] {
			p.skipped = append(p.skipped, r.ID())
		}
		return !met[string(r.ID())]
	})
	return nil
}

// update sets the rows and writes the journal. The condition stands in the statement too: triggers and engines without
// row locks may have changed a row meanwhile.
func (e *actionCall) update(w *write.Writer, rows []*call.Row, keys []askedID, set []database.Assignment, references []write.Reference, followers *write.Followers) (int, error) {
	where := database.And{anyOf(keys)}
	if allowed := e.call.Scope.Allows(e.declared); allowed != nil {
		where = append(where, allowed)
	}
	if err := w.ReadKept(e.call.Scope, rows, anyOf(keys)); err != nil {
		return 0, err
	}
	n, err := w.Tx.Update(e.call.Ctx, &database.Update{In: e.call.Scope.Source(), Set: set, Where: where})
	if err != nil {
		return 0, write.Refused(e.call.Scope, references, err)
	}
	if err := e.checkAfter(w, keys, references); err != nil {
		return 0, err
	}
	if err := e.journalChanges(w, rows, keys, "set by "+e.declared.Name); err != nil {
		return 0, err
	}
	return int(n), followers.Journal("changed with " + write.Counted(e.call.Scope.Model(), len(rows)))
}

// checkAfter sees to it that the foreign keys which the parameters set name rows that the token may see. The rows
// themselves may be out of its sight by now.
func (e *actionCall) checkAfter(w *write.Writer, keys []askedID, references []write.Reference) error {
	for _, r := range references {
		if !r.Limited() {
			continue
		}
		plan, err := e.planRows(false)
		if err != nil {
			return err
		}
		plan.From, plan.Limit = e.call.Token.Unscoped(e.call.Scope.Model().Table), 1
		plan.Where = database.And{anyOf(keys), database.Not{Condition: r.Visible()}}
		hidden, err := e.readRows(w.Tx, plan)
		if err != nil {
			return err
		}
		if len(hidden) > 0 {
			return r.Missing(e.call.Scope)
		}
	}
	return nil
}

// rowsAfter reads the rows for the journal, whether or not the caller still sees them, by id.
func (e *actionCall) rowsAfter(w *write.Writer, keys []askedID) (map[string]*call.Row, error) {
	plan, err := e.planRows(false)
	if err != nil {
		return nil, err
	}
	plan.From, plan.Where, plan.Limit = e.call.Token.Unscoped(e.call.Scope.Model().Table), anyOf(keys), len(keys)
	rows, err := e.readRows(w.Tx, plan)
	after := map[string]*call.Row{}
	for _, r := range rows {
		after[string(r.ID())] = r
	}
	return after, err
}
