package sqltext

import (
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// AuditTable returns the statements that make the audit table if it is missing; schema is "" on an engine without
// schemas.
func AuditTable(d Dialect, schema, name string) []string {
	return Audit.Statements(d, schema, name)
}

func auditStatements(d Dialect, schema, name string) []string {
	return d.auditTable(quotedTable(d, schema, name), indexName(d, name, "_object"), indexName(d, name, "_call"))
}

// AddAuditCall returns the statement that gives an audit table, which an earlier version or an administrator made, the
// column call.
func AddAuditCall(d Dialect, schema, name string) string {
	return d.addAuditCall(quotedTable(d, schema, name))
}

func quotedTable(d Dialect, schema, name string) string {
	w := writer{dialect: d}
	w.table(&database.Table{Schema: schema, Name: name})
	return string(w.buf)
}

// maxIdentifier is the longest name, in bytes, that every engine takes uncut.
const maxIdentifier = 63

// indexName is the quoted name of an index of a table: the table's name, cut if need be, and a suffix.
func indexName(d Dialect, table, suffix string) string {
	for len(table)+len(suffix) > maxIdentifier {
		_, size := utf8.DecodeLastRuneInString(table)
		table = table[:len(table)-size]
	}
	return string(d.quote(nil, table+suffix))
}

// auditCall is the column with the id of the call that made a change. An audit table serves without it.
const auditCall = "call"

// LacksAuditCall reports whether an audit table has no column call. One of that name that something else uses counts as
// the column: the server cannot add another.
func LacksAuditCall(table *database.Table) bool { return table.Column(auditCall) == nil }

// AuditCallNote says, for an administrator, what is not possible with an audit table in which no calls can be stored, and
// what helps; "" if they can.
func AuditCallNote(d Dialect, table *database.Table) string {
	c := table.Column(auditCall)
	switch {
	case database.AuditCall(table) != nil:
		return ""
	case c == nil:
		return "changes cannot be undone by their call: the audit table " + table.String() + " has no column call; let its owner run: " +
			AddAuditCall(d, table.Schema, table.Name)
	case !c.Privileges.Has(database.MayInsert):
		return "changes cannot be undone by their call: the database user may not INSERT into the column call of the audit table " + table.String()
	}
	return "changes cannot be undone by their call: the column call of the audit table " + table.String() + " is of the type " + c.NativeType +
		"; it must be a text of at least 32 characters"
}

// auditColumns are the columns of the audit table, with the kinds that each may have.
var auditColumns = []ownColumn{
	{name: "id", kinds: []database.Kind{database.Integer}, filled: true},
	{name: "at", kinds: []database.Kind{database.TimestampTZ, database.Timestamp}, filled: true},
	{name: "token", kinds: []database.Kind{database.Text}},
	{name: "action", kinds: []database.Kind{database.Text}},
	{name: "model", kinds: []database.Kind{database.Text}},
	{name: "table_schema", kinds: []database.Kind{database.Text}},
	{name: "table_name", kinds: []database.Kind{database.Text}},
	{name: "object_id", kinds: []database.Kind{database.Text}},
	{name: "object_repr", kinds: []database.Kind{database.Text}},
	{name: "message", kinds: []database.Kind{database.Text}},
	{name: "changes", kinds: []database.Kind{database.JSON, database.Text}},
}

// AuditMismatch says, for an administrator, why a table cannot be the audit table; "" if it can.
func AuditMismatch(table *database.Table) string { return Audit.Mismatch(table) }
