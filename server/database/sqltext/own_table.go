package sqltext

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// OwnTable is a kind of table that the server itself writes in the endpoint's database. The server makes it if it is
// missing, or an administrator makes it with the same columns.
type OwnTable struct {
	// What it is called in messages.
	What string
	// Needs are the rights that the database's user needs on it, and Grants their names.
	Needs      database.Privileges
	Grants     string
	columns    []ownColumn
	statements func(d Dialect, schema, name string) []string
	// unique is the column that must be unique; "" if none must.
	unique string
	// named returns the name that the settings give it, and place where a schema has it.
	named func(*database.Settings) *contract.AuditTable
	place func(*database.Schema) (table **database.Table, problem *string)
}

// ownColumn is a column with the kinds that it may have. length is how many characters a text must take at least.
type ownColumn struct {
	name   string
	kinds  []database.Kind
	length int
	// filled is set if the database must give a value.
	filled bool
}

// The tables.
var (
	Audit = &OwnTable{
		What: "audit table", Needs: database.MaySelect | database.MayInsert, Grants: "SELECT, INSERT",
		columns: auditColumns, statements: auditStatements,
		named: func(s *database.Settings) *contract.AuditTable { return s.Audit },
		place: func(s *database.Schema) (**database.Table, *string) { return &s.Audit, &s.AuditProblem },
	}
	Idempotency = &OwnTable{
		What: "idempotency table", Needs: database.MaySelect | database.MayInsert | database.MayUpdate | database.MayDelete,
		Grants: "SELECT, INSERT, UPDATE, DELETE", columns: idempotencyColumns, statements: idempotencyStatements, unique: "id",
		named: func(s *database.Settings) *contract.AuditTable { return s.Idempotency },
		place: func(s *database.Schema) (**database.Table, *string) { return &s.Idempotency, &s.IdempotencyProblem },
	}
)

// idempotencyColumns are the columns of the idempotency table. An answer may be as large as an answer can be.
var idempotencyColumns = []ownColumn{
	{name: "id", kinds: []database.Kind{database.Text}, length: 64},
	{name: "at", kinds: []database.Kind{database.TimestampTZ, database.Timestamp}},
	{name: "token", kinds: []database.Kind{database.Text}},
	{name: "call", kinds: []database.Kind{database.Text}, length: database.MaxCallID},
	{name: "request", kinds: []database.Kind{database.Text}, length: 64},
	{name: "answer", kinds: []database.Kind{database.Text}, length: 1 << 20},
}

func idempotencyStatements(d Dialect, schema, name string) []string {
	return d.idempotencyTable(quotedTable(d, schema, name), indexName(d, name, "_at"))
}

// OwnTables returns the tables that the settings name.
func OwnTables(s *database.Settings) []*OwnTable {
	return slices.DeleteFunc([]*OwnTable{Audit, Idempotency}, func(o *OwnTable) bool { return o.named(s) == nil })
}

// Named is the name that the settings give the table; nil if they name none.
func (o *OwnTable) Named(s *database.Settings) *contract.AuditTable { return o.named(s) }

// Statements returns the statements that make the table if it is missing; schema is "" on an engine without schemas.
func (o *OwnTable) Statements(d Dialect, schema, name string) []string {
	return o.statements(d, schema, name)
}

// Found sets the table in a schema, or why it cannot be used.
func (o *OwnTable) Found(s *database.Schema, table *database.Table, problem string) {
	at, why := o.place(s)
	if *why = problem; problem != "" {
		return
	}
	*at = table
}

// Mismatch says, for an administrator, why a table cannot be the table; "" if it can.
func (o *OwnTable) Mismatch(table *database.Table) string {
	if !table.Writable {
		return "the " + o.What + " " + table.String() + " cannot be written to"
	}
	known := map[string]bool{}
	var wrong []string
	for _, want := range o.columns {
		known[want.name] = true
		switch c := table.Column(want.name); {
		case c == nil:
			wrong = append(wrong, want.name+" is missing")
		case !slices.Contains(want.kinds, c.Kind):
			wrong = append(wrong, want.name+" is of the type "+c.NativeType)
		case c.MaxLength > 0 && c.MaxLength < want.length:
			wrong = append(wrong, want.name+" is too short")
		case want.filled && !c.HasDefault && !c.Generated:
			wrong = append(wrong, want.name+" has no default")
		}
	}
	for _, c := range table.Columns {
		if !known[c.Name] && c.NeedsValue() {
			wrong = append(wrong, c.Name+" is not one of its columns, and needs a value")
		}
	}
	if o.unique != "" && !isUnique(table, o.unique) {
		wrong = append(wrong, o.unique+" is not unique")
	}
	if len(wrong) == 0 {
		return ""
	}
	return "the table " + table.String() + " is no " + o.What + ": " + strings.Join(wrong, ", ") + "; name another one, or drop it and it is made anew"
}

// isUnique reports whether no two rows have the same value in the column.
func isUnique(table *database.Table, column string) bool {
	alone := func(key []*database.Column) bool { return len(key) == 1 && key[0].Name == column }
	return alone(table.PrimaryKey) || slices.ContainsFunc(table.Unique, alone)
}
