package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// missing says why a served model has fewer tools than there are, where more than its exposure's own operations keeps
// them away.
func missing(c *catalog.Catalog, m *catalog.Model, tools []string) []string {
	var notes []string
	if why := unwritten(c, m); why != "" {
		notes = append(notes, why)
	}
	if m.Audits {
		return notes // its operations are not the exposure's own
	}
	columns := make([]string, len(m.Key))
	for i, f := range m.Key {
		columns[i] = f.Column.Name
	}
	switch {
	case len(m.Key) == 0:
		notes = append(notes, "rows have no ids, and so no tools that take one: there is no primary key; name columns that tell rows apart in key")
	case !m.UniqueKey && m.Table.Kind == database.BaseTable:
		notes = append(notes, fmt.Sprintf("rows have no update_ and delete_, and lists no cursor: the database does not keep the key (%s) unique and not null; "+
			"give the table a unique index of those columns", strings.Join(columns, ", ")))
	}
	for _, operation := range m.Operations {
		if !slices.Contains(tools, operation+"_"+m.Name) {
			notes = append(notes, fmt.Sprintf("operations names %s, which there is not for this model as it is", operation))
		}
	}
	return notes
}

// unwritten is why no row of the model's table is written; "" where rows are.
func unwritten(c *catalog.Catalog, m *catalog.Model) string {
	switch {
	case c.ReadOnly():
		return "nothing is written: the endpoint's database.access is ReadOnly"
	case c.AuditProblem() != "":
		return "nothing is written: the endpoint's audit table cannot be used; the endpoint's status says why"
	case m.Audits:
		return "the table is the audit's, which is only viewed"
	case m.Table.Kind == database.View, m.Table.Kind == database.MaterializedView:
		return "nothing is written: " + m.Table.String() + " is a " + string(m.Table.Kind) + ", which is only read"
	case !m.Table.Writable:
		return "nothing is written: the database takes no change of " + m.Table.String() + " that it could undo"
	}
	return ""
}
