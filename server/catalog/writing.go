package catalog

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// missingTools says why a served model lacks an operation, in a sentence for admins; "" means that it has the
// operation. It decides which tools are offered, and the exposure's status quotes it.
type missingTools struct{ write, create, update, remove string }

// findMissing computes once what every request asks.
func (m *Model) findMissing() {
	m.missing = missingTools{m.whyNoWrite(), m.whyNoCreate(), m.whyNoUpdate(), m.whyNoDelete()}
}

// WhyNoWrite says why no row of the model's table can be written; "" if rows can.
func (m *Model) WhyNoWrite() string { return m.missing.write }

// WhyNoCreate says why no row can be added; "" if rows can.
func (m *Model) WhyNoCreate() string { return m.missing.create }

// WhyNoUpdate says why no single row can be changed; "" if rows can.
func (m *Model) WhyNoUpdate() string { return m.missing.update }

// WhyNoDelete says why no single row can be deleted; "" if rows can.
func (m *Model) WhyNoDelete() string { return m.missing.remove }

func (m *Model) whyNoWrite() string {
	switch {
	case m.catalog.ReadOnly():
		if m.catalog.NeverWrites() {
			return m.catalog.schema.ReadOnly
		}
		return "the endpoint's database.access is ReadOnly."
	case m.catalog.AuditProblem() != "":
		return "the endpoint's audit table cannot be used. The endpoint's status says why."
	case m.Audits && m.Table == m.catalog.Audit():
		return "this is the audit table."
	case m.Audits:
		return "this is the table of idempotency keys."
	case !m.IsTable():
		return m.Table.String() + " is a " + string(m.Table.Kind) + "."
	case m.Table.Mismatch != "":
		return m.Table.Mismatch
	case !m.Table.Writable && m.Table.Kind == database.ForeignTable:
		return "the foreign table " + m.Table.String() + " takes no changes (its option updatable, or what its wrapper can do)."
	case !m.Table.Writable:
		return "the database cannot undo a change of " + m.Table.String() + ", because its storage engine has no transactions, or no savepoints in them."
	}
	return ""
}

func (m *Model) whyNoCreate() string {
	if why := m.whyNoWrite(); why != "" {
		return why
	}
	if m.Table.NamedMismatch != "" {
		return m.Table.NamedMismatch
	}
	if !m.Table.Privileges.Has(database.MayInsert) {
		return notGranted(m, "INSERT")
	}
	if len(m.Unfilled) > 0 {
		return "a new row needs " + joined(m.Unfilled) + ", which callers cannot set. Give it a default in the database, or show it as a writable field."
	}
	return ""
}

func (m *Model) whyNoUpdate() string {
	if why := m.whyNoRow(); why != "" {
		return why
	}
	if !m.Table.Privileges.Has(database.MayUpdate) {
		return notGranted(m, "UPDATE")
	}
	if m.Version != nil && !m.Version.Column.Privileges.Has(database.MayUpdate) {
		return "the database user lacks UPDATE on column " + m.Version.Column.Name + " of " + m.Table.String() + ", the versionField."
	}
	return ""
}

// whyNoDelete asks for UPDATE too: a deletion first locks the row while it looks for dependent rows, and PostgreSQL
// locks a row only for a user with that right.
func (m *Model) whyNoDelete() string {
	if why := m.whyNoRow(); why != "" {
		return why
	}
	if m.Table.NamedMismatch != "" {
		return m.Table.NamedMismatch
	}
	if !m.Table.Privileges.Has(database.MayDelete) {
		return notGranted(m, "DELETE")
	}
	if !m.Table.Privileges.Has(database.MayUpdate) {
		return notGranted(m, "UPDATE") + " The database locks a row only for a user who has it."
	}
	return m.whyNoDeletionAlong()
}

// whyNoDeletionAlong says by which hidden foreign key the database would pass a deletion on: which rows go along or change
// would tell its values.
func (m *Model) whyNoDeletionAlong() string {
	for _, d := range m.catalog.pointing[m.Table] {
		if d.Hidden && d.Key.OnDelete != database.Restrict {
			return fmt.Sprintf("the database would delete or change rows of %s along with it by a hidden or masked foreign key (%s), which callers may learn nothing of. Show the key, or delete rows in an action of your own.",
				d.Table, joined(d.Key.Columns))
		}
	}
	return ""
}

// whyNoRow says why no single row can be written by its id.
func (m *Model) whyNoRow() string {
	if why := m.whyNoWrite(); why != "" {
		return why
	}
	switch {
	case !m.UniqueKey && (m.Table.Kind == database.ForeignTable || m.Table.ForeignParts):
		return "the database cannot keep a key of foreign tables unique, also where they are partitions. Rows are changed through an endpoint on the server that has them."
	case len(m.Key) == 0:
		return m.WhyNoKey()
	case !m.UniqueKey && len(m.Table.KeyApart) > 0:
		return m.keyApart() + "."
	case !m.UniqueKey:
		return "the database does not keep the key (" + m.keyColumns() + ") unique and not null. Give the table a primary key."
	}
	return ""
}

// NoKey says why rows have no ids.
const NoKey = "the table has no primary key. List the columns that identify a row in spec.key."

// WhyNoKey says why rows have no ids.
func (m *Model) WhyNoKey() string {
	if len(m.Table.KeyApart) > 0 {
		return m.keyApart() + "; to read rows by their key, list it in spec.key."
	}
	return NoKey
}

// keyApart says why the primary key does not identify a row, and what to do.
func (m *Model) keyApart() string {
	return "each shard keeps the primary key (" + joined(m.Table.KeyApart) + ") unique for itself alone. Have a sequence of the VSchema fill it, or shard the table by it"
}

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
