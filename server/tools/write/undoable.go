package write

import (
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// whyNotRecreated says why the token cannot create such rows anew with all that they hold; "" if it can.
func whyNotRecreated(req *call.Request, m *catalog.Model, rows []foundRow) string {
	scope := req.Token.Reach(m)
	switch {
	case !scope.Has(access.View|access.Add) || !CreateOperation.OfferedFor(req.Catalog, m):
		return "you may not create all of these rows again"
	case len(m.Key) == 0:
		return "the rows have no id"
	}
	if why := WhyNoRecreation(scope); why != "" {
		return why
	}
	for _, f := range scope.Fields() {
		if !f.Column.Generated && f != m.Version && WhyNotWritable(f, Purpose{Creates: true, Restores: true}) != "" {
			return "you may not set its " + f.Name
		}
	}
	if slices.ContainsFunc(rows, func(r foundRow) bool { return isTooLongForJournal(scope, r) }) {
		return fmt.Sprintf("a value is longer than the %d bytes that the journal keeps of one", MaxJournalValue)
	}
	return ""
}

// isTooLongForJournal reports whether the journal will keep only the beginning of one of the row's values.
func isTooLongForJournal(scope access.Scope, r foundRow) bool {
	return slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool { return IsShortened(shorten(r.Value(f.Name))) })
}

// mayRestore reports whether the token may set the foreign keys of such rows again.
func mayRestore(req *call.Request, m *catalog.Model, rows []foundRow) bool {
	scope := req.Token.Reach(m)
	if !scope.Has(access.View|access.Change) || !UpdateOperation.OfferedFor(req.Catalog, m) || len(m.Key) == 0 || HiddenChange(scope) != nil {
		return false
	}
	for _, r := range rows {
		for column := range r.nexts {
			f := call.FieldOf(scope, column)
			if f == nil || f.Masked || f.Secret || WhyNotWritable(f, Purpose{}) != "" {
				return false
			}
		}
	}
	return true
}

// HiddenChange is a field that a change may have set without a trace in the journal; nil if there is none.
func HiddenChange(scope access.Scope) *catalog.Field {
	if i := slices.IndexFunc(scope.Fields(), func(f *catalog.Field) bool { return f.Secret && WhyNotWritable(f, Purpose{}) == "" }); i >= 0 {
		return scope.Fields()[i]
	}
	return nil
}

const noneOfOurs = "rows of other tables, which the journal does not know, may have gone or changed with it"

// WhyNoRecreation says why no row of the model comes back once it was deleted; "" if one may.
func WhyNoRecreation(scope access.Scope) string {
	m := scope.Model()
	for _, c := range m.Table.Columns {
		if f := call.FieldOf(scope, c); !c.Generated && (f == nil || f.Masked || f.Secret) {
			return "the journal does not have all of the row: it keeps no hidden, masked or secret columns"
		}
	}
	for _, d := range m.Catalog().Dependents(m.Table) {
		if d.Key.OnDelete != database.Restrict && (d.Model == nil || d.Unreadable) {
			return noneOfOurs
		}
	}
	return ""
}

// WhyNoUndo says why nothing can be taken back; "" if it can.
func WhyNoUndo(c *catalog.Catalog) string {
	switch table := c.Audit(); {
	case table == nil:
		return "the endpoint has no audit table, so that nothing tells what a call changed"
	case !table.Privileges.Has(database.MaySelect):
		return "the endpoint's user may not read the audit table"
	}
	return ""
}
