package database

// Schema is a database's tables as introspection found them. It is never changed once it is made.
type Schema struct {
	// Engine is the engine's name for people ("PostgreSQL"), Version its version ("15.18"), Database the database's name.
	Engine, Version, Database string
	// HasSchemas is whether tables lie in named schemas.
	HasSchemas bool
	// SearchPath are the schemas in which a table without a schema is looked for, in order.
	SearchPath []string
	// Tables are sorted by schema and name.
	Tables []*Table
	// Audit is the audit table that the settings name; nil where they name none, or where AuditProblem says why it cannot
	// be used.
	Audit        *Table
	AuditProblem string
}

// TableKind says what a table is.
type TableKind string

// The kinds of table.
const (
	BaseTable        TableKind = "table"
	View             TableKind = "view"
	MaterializedView TableKind = "materialized view"
	ForeignTable     TableKind = "foreign table"
)

// Table is a table or view.
type Table struct {
	// Schema is "" where the engine has none.
	Schema, Name string
	Kind         TableKind
	Comment      string
	// Columns are in the table's own order.
	Columns []*Column
	// PrimaryKey is empty where there is none.
	PrimaryKey []*Column
	// Unique are the unique constraints and indexes that hold for every row, beside the primary key.
	Unique      [][]*Column
	ForeignKeys []*ForeignKey
	// Constraints tell of which columns a violation speaks, by the name that the engine gives it: unique indexes that
	// hold for some rows only and checks too, where the engine tells their columns.
	Constraints []Constraint
	// Writable is whether rows can be written at all: not those of a materialised view, or of a view that no rule or
	// trigger makes writable.
	Writable bool
}

// Constraint is a constraint or unique index and the columns that it is about.
type Constraint struct {
	Name    string
	Columns []*Column
}

// String returns schema.table, or the table alone where there are no schemas.
func (t *Table) String() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Column returns the column of that exact name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	// NativeType is the type as the database writes it ("character varying(160)").
	NativeType string
	// Loose is whether the engine keeps values that are not of the column's type, so that only their writer checks them.
	Loose    bool
	Nullable bool
	// HasDefault is whether the database fills the column where a row gives none (default, identity, serial, rowid);
	// Default is the expression as the database writes it, "" where there is none to show.
	HasDefault bool
	Default    string
	// Generated is whether the database always computes the column.
	Generated bool
	// LooseCollation is whether the column's own comparison takes texts as equal that differ (citext, a collation that
	// ignores case or accents). SQLite does not tell, and does not need it.
	LooseCollation bool
	// MaxLength is the most characters that a text may have; 0 is no bound.
	MaxLength int
	// Scale is the number of digits after the point of a decimal, Precision that of all its digits; -1 where the column
	// declares none.
	Scale, Precision int
	// Bits is the size of an integer (8, 16, 24, 32, 64); 0 where it is not known. Unsigned is whether it is never
	// negative.
	Bits     int
	Unsigned bool
	// FractionDigits are those of the seconds of a time or timestamp; -1 where it is not known.
	FractionDigits int
	// Choices are an enum's values, in its order.
	Choices []string
	// Element is the kind of an array's elements.
	Element Kind
	Comment string
}

// ForeignKey says that a table's columns name a row of another.
type ForeignKey struct {
	Name    string
	Columns []*Column
	// References is the other table, ReferencedColumns its columns, one for each of Columns.
	References        *Table
	ReferencedColumns []*Column
	// OnDelete is what becomes of the row when the one that it names goes.
	OnDelete OnDelete
}

// OnDelete is what a foreign key does when the row that it names goes.
type OnDelete uint8

// What a foreign key does.
const (
	// Restrict forbids it, at once or at the end of the transaction.
	Restrict OnDelete = iota
	Cascade
	SetNull
	SetDefault
)

// Kind is what a column's values are, whatever the engine calls them. It decides their JSON form (decisions section 4,
// "Values"), the lookups that apply, and whether they have an order.
type Kind uint8

// The kinds. Decimals, dates, times, intervals, uuids and bytes (base64) are JSON strings; JSON columns are embedded.
const (
	Other Kind = iota
	Boolean
	Integer
	Decimal
	Float
	Text
	Date
	Time
	// Timestamp has no zone; TimestampTZ is an instant.
	Timestamp
	TimestampTZ
	Interval
	UUID
	Bytes
	JSON
	Enum
	Array
)

var kindNames = [...]string{"other", "boolean", "integer", "decimal", "float", "text", "date", "time", "datetime",
	"datetime", "interval", "uuid", "bytes", "json", "enum", "array"}

// String returns the kind as describe_ and tool schemas call it.
func (k Kind) String() string { return kindNames[k] }

// Ordered is whether values of the kind can be compared and sorted.
func (k Kind) Ordered() bool {
	switch k {
	case Other, JSON, Array, Bytes:
		return false
	}
	return true
}

// Textual is whether text lookups (contains, startswith, …) and search apply.
func (k Kind) Textual() bool { return k == Text || k == Enum }
