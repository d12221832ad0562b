package sqltext

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// AuditTable returns the statements that make the audit table if it is missing; schema is "" on an engine without
// schemas.
func AuditTable(d Dialect, schema, name string) []string {
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
var auditColumns = []struct {
	name  string
	kinds []database.Kind
}{
	{"id", []database.Kind{database.Integer}},
	{"at", []database.Kind{database.TimestampTZ, database.Timestamp}},
	{"token", []database.Kind{database.Text}},
	{"action", []database.Kind{database.Text}},
	{"model", []database.Kind{database.Text}},
	{"table_schema", []database.Kind{database.Text}},
	{"table_name", []database.Kind{database.Text}},
	{"object_id", []database.Kind{database.Text}},
	{"object_repr", []database.Kind{database.Text}},
	{"message", []database.Kind{database.Text}},
	{"changes", []database.Kind{database.JSON, database.Text}},
}

// AuditMismatch says, for an administrator, why a table cannot be the audit table; "" if it can.
func AuditMismatch(table *database.Table) string {
	if !table.Writable {
		return "the audit table " + table.String() + " cannot be written to"
	}
	known := map[string]bool{auditCall: database.AuditCall(table) != nil}
	var wrong []string
	for _, want := range auditColumns {
		known[want.name] = true
		c := table.Column(want.name)
		if c == nil {
			wrong = append(wrong, want.name+" is missing")
			continue
		}
		fits := false
		for _, kind := range want.kinds {
			fits = fits || c.Kind == kind
		}
		if !fits {
			wrong = append(wrong, want.name+" is of the type "+c.NativeType)
		}
	}
	for _, c := range table.Columns {
		if !known[c.Name] && c.NeedsValue() {
			wrong = append(wrong, c.Name+" is not one of its columns, and needs a value")
		}
	}
	for _, name := range []string{"id", "at"} {
		if c := table.Column(name); c != nil && !c.HasDefault && !c.Generated {
			wrong = append(wrong, name+" has no default")
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "the table " + table.String() + " is no audit table: " + strings.Join(wrong, ", ") + "; name another one, or drop it and it is made anew"
}
