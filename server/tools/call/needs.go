package call

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// need is how a live database meets a need of contract's table.
type need struct {
	// offered reports whether a served model meets it, whoever asks; nil means always.
	offered func(*catalog.Catalog, *catalog.Model) bool
	// useful reports whether a token that has a verb of the operation can do anything with it on a model that meets the need.
	// Lists leave it out otherwise, and a call is told what is missing. nil means always.
	useful func(*catalog.Catalog, access.Scope) bool
}

// needs are filled when the program starts, since whether a model has actions depends on its operations.
var needs map[contract.Need]need

func init() {
	needs = map[contract.Need]need{
		contract.NeedsKey:              {offered: hasKey},
		contract.NeedsRelations:        {offered: hasRelations, useful: canFollow},
		contract.NeedsAddable:          {offered: func(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoCreate() == "" }},
		contract.NeedsChangeable:       {offered: canUpdate},
		contract.NeedsDeletable:        {offered: func(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoDelete() == "" }},
		contract.NeedsWritable:         {offered: canBulk, useful: canWrite},
		contract.NeedsActions:          {offered: hasActions, useful: canAct},
		contract.NeedsReports:          {offered: hasReports, useful: mayReport},
		contract.NeedsActionsOrReports: {offered: hasActionsOrReports},
		contract.NeedsAudit:            {offered: hasHistory},
	}
}

func hasKey(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Key) > 0 }

func canUpdate(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoUpdate() == "" }

func canBulk(_ *catalog.Catalog, m *catalog.Model) bool { return len(BulkOperations(m)) > 0 }

// canWrite reports whether bulk_ has an operation that the token may use.
func canWrite(_ *catalog.Catalog, scope access.Scope) bool {
	return len(BulkOperationsFor(scope)) > 0
}

func hasRelations(_ *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && LeadsToRows(m)
}

// ShowsInlines reports whether rows of an inline of the model are to be seen, whoever asks.
func ShowsInlines(m *catalog.Model) bool {
	return slices.ContainsFunc(m.Inlines, func(in *catalog.Inline) bool { return in.Model.Declared.ShowsRows() })
}

// LeadsToRows reports whether a relation of the model leads to rows that are to be seen, whoever asks.
func LeadsToRows(m *catalog.Model) bool {
	return slices.ContainsFunc(m.Relations, func(r *catalog.Relation) bool { return r.Target.Declared.ShowsRows() })
}

func canFollow(_ *catalog.Catalog, scope access.Scope) bool { return len(scope.Relations()) > 0 }

func canAct(c *catalog.Catalog, scope access.Scope) bool { return len(ActionsOf(c, scope)) > 0 }

func hasHistory(c *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && m.IsTable() && !m.Audits && c.Audit() != nil && c.Audit().Privileges.Has(database.MaySelect)
}

// DeleteSelected is the action that every model has whose rows can be deleted.
var DeleteSelected = &catalog.Action{Action: contract.Action{
	Name: contract.DeleteSelected, Description: "Delete the selected rows, and what goes with them.", Confirm: &contract.Confirmation{},
}}

// MayDeleteSelected reports whether the token may run the action delete_selected on the model.
func MayDeleteSelected(s access.Scope) bool {
	return s.Has(access.View | access.Change | access.Delete)
}

// hasActions reports whether the model has any action.
func hasActions(c *catalog.Catalog, m *catalog.Model) bool {
	return actionFits(c, m, DeleteSelected) || slices.ContainsFunc(m.Actions, func(a *catalog.Action) bool { return actionFits(c, m, a) })
}

// actionFits reports whether the model's table and the endpoint allow the action. A webhook changes rows elsewhere, so that
// all it needs is to tell which they are.
func actionFits(c *catalog.Catalog, m *catalog.Model, a *catalog.Action) bool {
	switch {
	case a == DeleteSelected:
		return FindOperation("delete").OfferedFor(c, m)
	case a.Name == DeleteSelected.Name:
		return false
	case a.Webhook != nil:
		return len(m.Key) > 0 && c.AuditProblem() == ""
	case a.SQL != nil:
		return canUpdate(c, m) && len(m.Key) == 1 // the rows are locked, for which a database wants UPDATE
	}
	return canUpdate(c, m)
}

// UnfitActions are the names of the model's declared actions that nobody can run, as its table or the endpoint does not allow them.
func UnfitActions(m *catalog.Model) (names []string) {
	for _, a := range m.Actions {
		if !actionFits(m.Catalog(), m, a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// ActionsOf are the actions that the scope's token may run.
func ActionsOf(c *catalog.Catalog, scope access.Scope) []*catalog.Action {
	m := scope.Model()
	var some []*catalog.Action
	if !scope.Has(access.View) {
		return nil
	}
	if MayDeleteSelected(scope) && actionFits(c, m, DeleteSelected) {
		some = append(some, DeleteSelected)
	}
	for _, a := range scope.Actions() {
		if actionFits(c, m, a) {
			some = append(some, a)
		}
	}
	return some
}

// hasActionsOrReports reports whether the model has anything that the tool actions can tell of.
func hasActionsOrReports(c *catalog.Catalog, m *catalog.Model) bool {
	return hasActions(c, m) || hasReports(c, m)
}

// AnyNames returns names as the values of an enum.
func AnyNames(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// BulkOperations are the operations that bulk_ of a model has; without a model, that any has.
func BulkOperations(m *catalog.Model) []string {
	var names []string
	for _, name := range []string{"create", "update", "delete"} {
		if m == nil || FindOperation(name).OfferedFor(m.Catalog(), m) {
			names = append(names, name)
		}
	}
	return names
}

// BulkOperationsFor are the operations that bulk_ of a model has for a token.
func BulkOperationsFor(scope access.Scope) []string {
	return slices.DeleteFunc(BulkOperations(scope.Model()), func(name string) bool { return !FindOperation(name).May(scope) })
}

// MayReadOrWrite reports whether the token may do anything with rows of the model.
func MayReadOrWrite(s access.Scope) bool { return s.Has(access.View) || MayWrite(s) }

// hasReports reports whether the model has any report.
func hasReports(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Reports) > 0 }

// mayReport reports whether the token may run any of them.
func mayReport(_ *catalog.Catalog, s access.Scope) bool { return len(s.Reports()) > 0 }

// HasInlines reports whether rows of the model are written with rows of others.
func HasInlines(m *catalog.Model) bool { return len(m.Inlines) > 0 }
