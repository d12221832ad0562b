package database

import "slices"

// Schema is a database's tables as introspection found them. It never changes once it is made.
type Schema struct {
	// Engine is the engine's name for people ("PostgreSQL"), Version its version ("15.18"), Database the database's name.
	Engine, Version, Database string
	// HasSchemas reports whether tables lie in named schemas.
	HasSchemas bool
	// SearchPath are the schemas, in order, in which a table without a schema is looked for.
	SearchPath []string
	// MissingSchemas are the schemas of the settings that do not exist, or that the user may not use.
	MissingSchemas []string
	// Sharded are the schemas that were read whose tables need a rule that says on which of several servers a row lies, before anybody can use them.
	Sharded []string
	// LeftOut are tables and views that are there, and that nobody can be served. They are sorted by schema and name.
	LeftOut []LeftOut
	// Tables are sorted by schema and name.
	Tables []*Table
	// Outside are tables that are not served because the settings do not list their schemas, but that have foreign keys
	// to Tables. A deletion must follow those keys too.
	Outside []*Table
	// Audit is the audit table that the settings name; nil if they name none, or if AuditProblem says why it cannot
	// be used.
	Audit        *Table
	AuditProblem string
	// Idempotency is the table of kept answers that the settings name, as Audit is the audit table.
	Idempotency        *Table
	IdempotencyProblem string
	// ReadOnly says, in a sentence, why nothing in the database is ever written, whatever the settings say; "" if it can be.
	ReadOnly string
	// Notes are sentences about what the server lacks and what is not possible because of it. They name nothing that lies in the database.
	Notes []string
	// Unserved has a note for each thing of the database that callers do not get, or not all of it.
	Unserved []Unserved
}

// Unserved is something of the database that is left out, or not served as a whole.
type Unserved struct {
	// Note is a sentence about it, with its name. Why says the same of any such thing, and names nothing: a report to others has it.
	Note, Why string
	// Count is how many things the note is about; 0 is one.
	Count int
}

// AllNotes are the notes, and those about what is not served.
func (s *Schema) AllNotes() []string {
	all := slices.Clone(s.Notes)
	for _, u := range s.Unserved {
		all = append(all, u.Note)
	}
	return all
}

// LeftOut is a table that is not served. Why continues a sentence that begins with its name.
type LeftOut struct{ Schema, Name, Why string }

// Note adds a sentence to the notes; "" adds none.
func (s *Schema) Note(sentence string) {
	if sentence != "" {
		s.Notes = append(s.Notes, sentence)
	}
}

// MaxCallID is the most characters of a call's id.
const MaxCallID = 32

// GrantAll gives the database's user every privilege, as on an engine that has no users. It returns s.
func (s *Schema) GrantAll() *Schema {
	for _, t := range s.Tables {
		t.Privileges = MayAll
		for _, c := range t.Columns {
			c.Privileges = MaySelect | MayInsert | MayUpdate
		}
	}
	return s
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
	// Schema is "" if the engine has none.
	Schema, Name string
	Kind         TableKind
	Comment      string
	// Columns are in the table's own order.
	Columns []*Column
	// PrimaryKey is empty if there is none.
	PrimaryKey []*Column
	// KeyApart is the declared primary key if each of several servers keeps it unique for itself alone: two rows may have the same one,
	// so that PrimaryKey is empty.
	KeyApart []*Column
	// Unique are the unique constraints and indexes that hold for every row, without the primary key.
	Unique      [][]*Column
	ForeignKeys []*ForeignKey
	// PartitionKeys are foreign keys to partitioned tables once more, as they lead to the rows of one partition: by them a
	// deletion from the partition alone is followed.
	PartitionKeys []*ForeignKey
	// TextIndexes are the full-text indexes, in the order in which search tries them.
	TextIndexes []*TextIndex
	// Constraints tell which columns a violation is about, by the name that the engine gives it. They include checks,
	// if the engine tells their columns, and unique indexes that hold for some rows only.
	Constraints []Constraint
	// Checks are the simple CHECK constraints, including the checks of a column's domain.
	Checks []Check
	// Writable reports whether rows can be written at all. The rows of a materialized view cannot, nor the rows of a view
	// that no rule or trigger makes writable. Privileges says what the database's user may do.
	Writable bool
	// Mismatch says why SQLite refuses each change of the table's rows: a foreign key does not fit the table that it names.
	// NamedMismatch says why it refuses new rows and deletions: a key of another table, which names this one, does not fit.
	Mismatch, NamedMismatch string
	// InsertTrigger reports whether a trigger runs before a row is inserted that may fill columns without a default. SQLite's
	// triggers cannot, and MySQL shows triggers only to a user with the right TRIGGER.
	InsertTrigger bool
	// InsertReturns and UpdateReturns report whether such a statement can return the row as a read after it shows it: nothing of
	// the database (a trigger, a rule) can change the row after that, or hide it.
	InsertReturns, UpdateReturns bool
	// RowSecurity reports whether the database itself may show a row that it lets nobody change or lock.
	RowSecurity bool
	// Privileges say what the database's user may do with the table. Each except MayDelete holds if it holds for at least
	// one column; Column.Privileges says for which.
	Privileges Privileges
	// Elsewhere reports whether the server itself may get the rows of the table, or of tables that a view shows, from other servers.
	Elsewhere bool
	// Partition reports whether the table is a part of another one, which has its rows too.
	Partition bool
	// ForeignParts reports whether partitions of the table are foreign tables: then it can have no key.
	ForeignParts bool
	// RowID is a pseudo-column by which the engine tells rows apart, for tables without a key; nil if the engine has
	// none for this table. It puts rows in an order, and cannot be the key: VACUUM changes SQLite's rowid, and each
	// update changes PostgreSQL's ctid.
	RowID *Column
}

// Privileges say what the database's user may do.
type Privileges uint8

// The privileges.
const (
	MaySelect Privileges = 1 << iota
	MayInsert
	MayUpdate
	MayDelete
	// MayAll is every privilege, as on an engine that has no users.
	MayAll = MaySelect | MayInsert | MayUpdate | MayDelete
)

// Has reports whether p includes all of the privileges.
func (p Privileges) Has(all Privileges) bool { return p&all == all }

// Check is a CHECK constraint that is simple enough to be told to callers: it bounds the values of one column. A bound
// that it does not set is empty.
type Check struct {
	Name   string
	Column *Column
	// Choices are the only values that are allowed, in the text form of the column's kind.
	Choices []string
	// Minimum and Maximum are bounds in the text form of the column's kind. The bound itself is allowed unless it is
	// Exclusive.
	Minimum, Maximum                   string
	ExclusiveMinimum, ExclusiveMaximum bool
	// MinLength and MaxLength bound the characters of a text.
	MinLength, MaxLength int
}

// Constraint is a constraint or unique index and the columns that it is about.
type Constraint struct {
	Name    string
	Columns []*Column
}

// String returns schema.table, or the table alone if there are no schemas.
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
	// Loose reports whether the engine also stores values that are not of the column's type. Only their writer then
	// checks them.
	Loose    bool
	Nullable bool
	// HoldsNull reports that rows may hold NULL although they should not: SQLite takes NULLs in most primary
	// keys. An order must take them into account.
	HoldsNull bool
	// HasDefault reports whether the database fills the column if a row gives no value (default, identity, serial, rowid).
	// Default is that value if it is a constant, in the text form that the column's kind has in filters ("draft", not
	// 'draft'); nil if the database computes it.
	HasDefault bool
	Default    *string
	// Generated reports whether the database always computes the column.
	Generated bool
	// LooseCollation reports whether the column's own comparison treats some different texts as equal (citext, a
	// collation that ignores case or accents). SQLite does not tell it, and does not need it.
	LooseCollation bool
	// Collation names the collation of a text as SQL has it, quotes included; "" if it is not known, or if the engine's comparisons
	// do not need it (SQLite).
	Collation string
	// Padded reports whether the engine fills texts up with blanks that are not part of the value (PostgreSQL's
	// character(n)).
	Padded bool
	// MaxLength is the most characters that a text may have; 0 is no bound.
	MaxLength int
	// SortedLength is how many characters of a text the engine looks at when it sorts (MariaDB, and MySQL with a collation that
	// pads), so that an order is by these only; 0 is all of them. A column of the key has none: its index has whole values.
	SortedLength int
	// Scale is the number of digits after the point of a decimal, Precision the number of all its digits; both are -1
	// if the column declares none. With a precision, a negative scale is the number of zeros before the point.
	Scale, Precision int
	// Bits is the size of an integer (8, 16, 24, 32, 64, 128); 0 if it is not known. Unsigned reports whether it is never
	// negative.
	Bits     int
	Unsigned bool
	// FractionDigits is the number of digits of a second's fraction in a time or timestamp; -1 if it is not known.
	FractionDigits int
	// Choices are an enum's values, in its order.
	Choices []string
	// Element is the kind of an array's elements.
	Element Kind
	// Contains reports whether the engine can look into the column's arrays or JSON documents (see Holds).
	Contains bool
	// Incomparable reports that the type has no equality (PostgreSQL's xml, json, point, polygon): only isnull can be
	// asked of it.
	Incomparable bool
	// ByText reports that values are equal if the engine writes them alike, as an equality of the type's own reads no such text
	// (PostgreSQL's regclass and composite types).
	ByText bool
	// Vector is set if the column holds vectors, which no row shows.
	Vector *Vector
	// Computed says how a column that no table has comes by its values, and Expression how to compute them in a statement; nil if
	// they have been computed in the source that is read.
	Computed   Computed
	Expression Expression
	Comment    string
	// Privileges say what the database's user may do with the column: MaySelect, MayInsert, MayUpdate.
	Privileges Privileges
	// Places reports whether the column says on which of several servers a row lies, so that it never changes.
	Places bool
	// Restorable reports whether a row that is brought back gets the value that it had, although no caller may give one: the number
	// of a sequence that nothing else keeps unique.
	Restorable bool
}

// Ordered reports whether the column's values can be compared and sorted. A Loose column of an unknown kind always can.
func (c *Column) Ordered() bool { return c.Kind.Ordered() || c.Kind == Other && c.Loose }

// HasMean reports whether Avg has a meaning for the column's values.
func (c *Column) HasMean() bool { return c.Summable() || c.Kind == Date || c.Kind.IsMoment() }

// Summable reports whether Sum has a meaning for the column's values.
func (c *Column) Summable() bool {
	return c.Kind == Integer || c.Kind == Decimal || c.Kind == Float
}

// HasExtremes reports whether Min and Max have a meaning for the column's values.
func (c *Column) HasExtremes() bool { return c.Kind.Ordered() && c.Kind != Boolean }

// Exact reports whether the column is computed in decimal digits, not as a float.
func (c *Column) Exact() bool { return c.Computed >= Digits }

// NeedsValue reports whether a new row must give the column a value.
func (c *Column) NeedsValue() bool { return !c.Nullable && !c.HasDefault && !c.Generated }

// ForeignKey says that columns of a table name a row of another table.
type ForeignKey struct {
	Name    string
	Columns []*Column
	// References is the other table, ReferencedColumns its columns, one for each of Columns.
	References        *Table
	ReferencedColumns []*Column
	// OnDelete says what happens to the row when the row that it names is deleted. OnUpdate says what happens when that
	// row's referenced columns change.
	OnDelete, OnUpdate ReferentialAction
	// Inherited reports whether a partition has the key from the partitioned table, whose key is about its rows too.
	Inherited bool
}

// ReferentialAction says what a foreign key does to its rows when the row that they name is deleted or changed.
type ReferentialAction uint8

// What a foreign key does.
const (
	// Restrict forbids the change, at once or at the end of the transaction.
	Restrict ReferentialAction = iota
	Cascade
	SetNull
	SetDefault
)

// Kind is the kind of a column's values, independent of the engine's names for types. It decides their JSON form
// (docs/design/values.md, "JSON forms"), the lookups that apply, and whether they have an order.
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

// Ordered reports whether values of the kind can be compared and sorted.
func (k Kind) Ordered() bool {
	switch k {
	case Other, JSON, Array, Bytes:
		return false
	}
	return true
}

// IsMoment reports whether values of the kind are a day and a time.
func (k Kind) IsMoment() bool { return k == Timestamp || k == TimestampTZ }

// Textual reports whether text lookups (contains, startswith, …) and search apply.
func (k Kind) Textual() bool { return k == Text || k == Enum }
