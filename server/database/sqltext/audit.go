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
	{name: "call", kinds: []database.Kind{database.Text}, length: database.MaxCallID},
}

// AuditMismatch says, for an administrator, why a table cannot be the audit table; "" if it can.
func AuditMismatch(table *database.Table) string { return Audit.Mismatch(table) }
