package compile

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// What can be done with models, by the table of operations and as far as the objects tell. Which tables allow it only the
// database knows: a server may allow less, never more.

// offers reports whether the exposure of a model offers the operation of that name.
func offers(m *contract.Model, operation string) bool {
	return contract.FindOperation(operation).OfferedBy(m)
}

// ownTable says which table of the server's own a model is; "" if it is another table. Nobody changes its rows.
func ownTable(e *contract.Endpoint, m *contract.Model) string {
	is := func(t *contract.AuditTable) bool {
		return t != nil && m.Table == t.Name && (m.Schema == t.Schema || m.Schema == "" || t.Schema == "")
	}
	switch {
	case is(e.Audit):
		return "the audit table"
	case is(e.Idempotency):
		return "the table of idempotency keys"
	}
	return ""
}

func writable(e *contract.Endpoint, m *contract.Model) bool {
	return !e.Database.ReadOnly && ownTable(e, m) == ""
}

// deletesSelected are the verbs that delete_selected requires.
var deletesSelected = []string{contract.VerbView, contract.VerbChange, contract.VerbDelete}

// fitsDeleteSelected reports whether a model has the action delete_selected.
func fitsDeleteSelected(e *contract.Endpoint, m *contract.Model) bool {
	return writable(e, m) && offers(m, "delete")
}

// fits reports whether the endpoint allows a declared action. A webhook changes rows elsewhere.
func fits(e *contract.Endpoint, m *contract.Model, a *contract.Action) bool {
	return a.Webhook != nil || writable(e, m)
}

func hasActions(e *contract.Endpoint, m *contract.Model) bool {
	return fitsDeleteSelected(e, m) || slices.ContainsFunc(m.Actions, func(a contract.Action) bool { return fits(e, m, &a) })
}

// possible reports whether a model has an operation for anybody.
func possible(e *contract.Endpoint, m *contract.Model, o *contract.Operation) bool {
	if !o.OfferedBy(m) || o.Effect != contract.Shows && ownTable(e, m) != "" {
		return false
	}
	switch o.Needs {
	case contract.NeedsAddable, contract.NeedsChangeable, contract.NeedsDeletable:
		return writable(e, m)
	case contract.NeedsWritable:
		return slices.ContainsFunc(o.Verbs, func(verb string) bool { return changesOneRow(e, m, verb) })
	case contract.NeedsActions:
		return hasActions(e, m)
	case contract.NeedsReports:
		return len(m.Reports) > 0
	case contract.NeedsActionsOrReports:
		return hasActions(e, m) || len(m.Reports) > 0
	case contract.NeedsAudit:
		return e.Audit != nil && ownTable(e, m) == ""
	}
	return true
}

// changesOneRow reports whether a model has the operation by which a verb adds, changes or deletes one row.
func changesOneRow(e *contract.Endpoint, m *contract.Model, verb string) bool {
	return slices.ContainsFunc(contract.ModelOperations(), func(o *contract.Operation) bool {
		return o.Writes() && o.OneRow && slices.Contains(o.Verbs, verb) && possible(e, m, o)
	})
}

// hasEffect reports whether a verb on a model has an effect through an operation.
func hasEffect(e *contract.Endpoint, m *contract.Model, o *contract.Operation, verb string) bool {
	switch {
	case !possible(e, m, o):
		return false
	case o.Needs == contract.NeedsWritable:
		return changesOneRow(e, m, verb)
	case o.Needs == contract.NeedsActions && verb != contract.VerbView:
		return fitsDeleteSelected(e, m) && slices.Contains(deletesSelected, verb) ||
			slices.ContainsFunc(m.Actions, func(a contract.Action) bool { return fits(e, m, &a) && slices.Contains(a.Requires, verb) })
	}
	return slices.Contains(o.Verbs, verb)
}

// usable reports whether a token that has these verbs on a model, and all its rules, can do anything with an operation.
func usable(e *contract.Endpoint, t *contract.Token, m *contract.Model, has verbs, o *contract.Operation) bool {
	if !slices.ContainsFunc(o.Verbs, has.has) || !possible(e, m, o) {
		return false
	}
	switch o.Needs {
	case contract.NeedsWritable:
		return slices.ContainsFunc(o.Verbs, func(verb string) bool { return has.has(verb) && changesOneRow(e, m, verb) })
	case contract.NeedsActions:
		return fitsDeleteSelected(e, m) && has.hasAll(deletesSelected) ||
			slices.ContainsFunc(m.Actions, func(a contract.Action) bool { return fits(e, m, &a) && grantsAction(t.Rules, m, &a) })
	case contract.NeedsReports:
		return slices.ContainsFunc(m.Reports, func(r contract.Report) bool { return namesAction(t.Rules, m, r.Name) })
	}
	return true
}

// usableGlobally reports whether a token can do anything with a global operation on one of some models.
func usableGlobally(e *contract.Endpoint, t *contract.Token, models []*contract.Model, o *contract.Operation) bool {
	switch {
	case o.Needs == contract.NeedsNothing:
		return true
	case o.Needs == contract.NeedsApprovals && len(e.Approvals) == 0:
		return false
	}
	return slices.ContainsFunc(models, func(m *contract.Model) bool {
		has := verbsOn(t, m)
		if o.Needs == contract.NeedsJournal && (e.Audit == nil || !has.view) {
			return false
		}
		return slices.ContainsFunc(contract.ModelOperations(), func(o *contract.Operation) bool { return o.Writes() && usable(e, t, m, has, o) })
	})
}
