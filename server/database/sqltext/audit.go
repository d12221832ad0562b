package sqltext

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// AuditTable returns the statements that make the audit table if it is missing; schema is "" on an engine without
// schemas.
func AuditTable(d Dialect, schema, name string) []string {
	w := writer{dialect: d}
	w.table(&database.Table{Schema: schema, Name: name})
	for len(name)+len(auditIndex) > maxIdentifier {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return d.auditTable(string(w.buf), string(d.quote(nil, name+auditIndex)))
}

// auditIndex is the suffix of the name of an audit table's index. maxIdentifier is the longest name, in bytes, that
// every engine takes uncut.
const (
	auditIndex    = "_object"
	maxIdentifier = 63
)

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
	known := map[string]bool{}
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
