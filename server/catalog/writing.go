package catalog

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The functions of this file say why a served model goes without an operation, in a sentence for admins; "" means that it
// has the operation. Tools are offered by them, and the exposure's status quotes them.

// WhyNoWrite says why no row of the model's table can be written.
func (m *Model) WhyNoWrite() string {
	switch {
	case m.catalog.ReadOnly():
		return "the endpoint's database.access is ReadOnly."
	case m.catalog.AuditProblem() != "":
		return "the endpoint's audit table cannot be used. The endpoint's status says why."
	case m.Audits:
		return "this is the audit table."
	case !m.IsTable():
		return m.Table.String() + " is a " + string(m.Table.Kind) + "."
	case !m.Table.Writable:
		return "the database cannot undo a change of " + m.Table.String() + ", because its storage engine has no transactions."
	}
	return ""
}

// WhyNoCreate says why no row can be added.
func (m *Model) WhyNoCreate() string {
	if why := m.WhyNoWrite(); why != "" {
		return why
	}
	if !m.Table.Privileges.Has(database.MayInsert) {
		return notGranted(m, "INSERT")
	}
	if len(m.Unfilled) > 0 {
		return "a new row needs " + joined(m.Unfilled) + ", which callers cannot set. Give it a default in the database, or show it as a writable field."
	}
	return ""
}

// WhyNoUpdate says why no single row can be changed: its key must be its own alone.
func (m *Model) WhyNoUpdate() string {
	if why := m.whyNoRow(); why != "" {
		return why
	}
	if !m.Table.Privileges.Has(database.MayUpdate) {
		return notGranted(m, "UPDATE")
	}
	return ""
}

// WhyNoDelete says why no single row can be deleted. PostgreSQL locks a row only for whoever may UPDATE it, and a row must
// be locked while what depends on it is looked for.
func (m *Model) WhyNoDelete() string {
	if why := m.whyNoRow(); why != "" {
		return why
	}
	if !m.Table.Privileges.Has(database.MayDelete) {
		return notGranted(m, "DELETE")
	}
	if !m.Table.Privileges.Has(database.MayUpdate) {
		return notGranted(m, "UPDATE") + " The database locks a row only for a user who has it."
	}
	return ""
}

// whyNoRow says why no single row can be written by its id.
func (m *Model) whyNoRow() string {
	if why := m.WhyNoWrite(); why != "" {
		return why
	}
	switch {
	case len(m.Key) == 0:
		return NoKey
	case !m.UniqueKey:
		return "the database does not keep the key (" + m.keyColumns() + ") unique and not null. Give the table a primary key."
	}
	return ""
}

// NoKey says why rows have no ids.
const NoKey = "the table has no primary key. List the columns that identify a row in spec.key."

func notGranted(m *Model, privilege string) string {
	return "the database user lacks " + privilege + " on " + m.Table.String() + "."
}

// IsTable reports whether the model is a table: a view is read-only, even if the database could write through it.
func (m *Model) IsTable() bool {
	return m.Table.Kind == database.BaseTable || m.Table.Kind == database.ForeignTable
}

func (m *Model) keyColumns() string {
	names := make([]string, len(m.Key))
	for i, f := range m.Key {
		names[i] = f.Column.Name
	}
	return strings.Join(names, ", ")
}
