package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// comesBack reports whether undo can bring back what the deletion takes, as things are now: the journal will have all of it,
// and the token may make it again.
func (d *deletion) comesBack() bool {
	req := d.cascade.req
	if whyNoUndo(req.catalog) != "" {
		return false
	}
	for _, a := range d.cascade.order {
		gone := a.along
		if a.table == d.scope.Model().Table {
			gone = slices.Concat(d.found, a.along)
		}
		changed := a.changedOnly()
		switch {
		case len(gone)+len(changed) == 0:
		case a.model == nil || !a.model.Served():
			return false
		case len(gone) > 0 && !canRecreate(req, a.model, gone), len(changed) > 0 && !canRestore(req, a.model, changed):
			return false
		}
	}
	return true
}

// canRecreate reports whether the token may create such rows anew with all that they hold.
func canRecreate(req *request, m *catalog.Model, rows []foundRow) bool {
	scope := req.token.Reach(m)
	if !scope.Has(access.View|access.Add) || !createOperation.offeredFor(req.catalog, m) || len(m.Key) == 0 || whyNoRecreation(scope) != "" {
		return false
	}
	for _, f := range scope.Fields() {
		if !f.Column.Generated && f != m.Version && whyNotWritable(f, purpose{creates: true}) != "" {
			return false
		}
	}
	return !slices.ContainsFunc(rows, func(r foundRow) bool { return isTooLongForJournal(scope, r) })
}

// isTooLongForJournal reports whether the journal will keep only the beginning of one of the row's values.
func isTooLongForJournal(scope access.Scope, r foundRow) bool {
	return slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool { return isShortened(shorten(r.members()[f.Name])) })
}

// canRestore reports whether the token may set the foreign keys of such rows again.
func canRestore(req *request, m *catalog.Model, rows []foundRow) bool {
	scope := req.token.Reach(m)
	if !scope.Has(access.View|access.Change) || !updateOperation.offeredFor(req.catalog, m) || len(m.Key) == 0 || hiddenChange(scope) != nil {
		return false
	}
	for _, r := range rows {
		for column := range r.nexts {
			f := fieldOf(scope, column)
			if f == nil || f.Masked || f.Secret || whyNotWritable(f, purpose{}) != "" {
				return false
			}
		}
	}
	return true
}

// hiddenChange is a field that a change may have set without a trace in the journal; nil if there is none.
func hiddenChange(scope access.Scope) *catalog.Field {
	if i := slices.IndexFunc(scope.Fields(), func(f *catalog.Field) bool { return f.Secret && whyNotWritable(f, purpose{}) == "" }); i >= 0 {
		return scope.Fields()[i]
	}
	return nil
}

// whyNoRecreation says why no row of the model comes back once it was deleted; "" if one may.
func whyNoRecreation(scope access.Scope) string {
	m := scope.Model()
	for _, c := range m.Table.Columns {
		if f := fieldOf(scope, c); !c.Generated && (f == nil || f.Masked || f.Secret) {
			return "the journal does not have all of the row: it keeps no hidden, masked or secret columns"
		}
	}
	for _, d := range m.Catalog().Dependents(m.Table) {
		if d.Key.OnDelete != database.Restrict && (d.Model == nil || d.Unreadable) {
			return "rows of other tables, which the journal does not know, may have gone or changed with it"
		}
	}
	return ""
}
