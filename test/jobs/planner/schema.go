package planner

import "slices"

// Schema has the planner's knowledge of a served database: what its schema declares, which foreign keys hold, and which
// columns have NULLs, and which have another value in each row.
type Schema struct {
	Tables []*Table
	// NullsLast reports whether the engine puts NULLs last in an ascending order. SQLite, whose answers are the right
	// ones, puts them first.
	NullsLast bool
	// FoldsFields reports whether the server compares the order of two text fields without regard to case. SQLite compares
	// bytes.
	FoldsFields bool
}

// Table is a table and the model that serves it.
type Table struct {
	Name, Model string
	Columns     []*Column
	// Unique are the primary key and the unique constraints.
	Unique      [][]*Column
	ForeignKeys []*ForeignKey
	// PageSize is the most rows of the table that a call answers; 0 is the planner's PageSize.
	PageSize int
}

// Column is a column and the field that shows it.
type Column struct {
	Name, Field string
	// Affinity is SQLite's for the column of the question's own database: it says how values are compared there.
	Affinity Affinity
	// Served is the kind of the served column's values.
	Served Served
	// Nulls reports whether a row has NULL here.
	Nulls bool
	// Folded reports whether SQLite takes texts that differ for equal in this column, by its collation.
	Folded bool
	// Distinct reports whether every row has another value here, declared or not.
	Distinct bool
	// Plain reports whether all texts are of small letters and digits of ASCII alone, which every collation orders as their bytes.
	Plain bool
	// Dates reports whether all values are dates, or dates with a time, and are served as such.
	Dates bool
	// Texts reports whether a row has a text here, whatever the declared type, and Mixed whether others have numbers.
	Texts, Mixed bool
	// Numbers reports whether SQLite computes with each text as {"number": field} does, or takes a text that is no number for 0.
	// SomeNone reports whether there are texts of the second kind.
	Numbers, SomeNone bool
	// Read reports whether the server reads the texts as numbers, Others whether there are texts that are none, which SQLite takes for 0.
	// OneLength reports whether all are whole numbers of equally many digits, so that their order is that of the texts.
	Read, Others, OneLength bool
}

// asNumber reports whether sums and averages take {"number": field}.
func (c *Column) asNumber() bool { return c.Numbers && !c.Read && c.Served == ServedText }

// Affinity is SQLite's way to compare and store values of a column.
type Affinity int

// The affinities. Numeric is also integer and real.
const (
	NoAffinity Affinity = iota
	TextAffinity
	NumericAffinity
)

// Served says which values the API has for a column.
type Served int

// What a served column holds. Other are dates, times and booleans.
const (
	ServedOther Served = iota
	ServedText
	ServedNumber
)

// ForeignKey is a foreign key between served tables that the engine declares.
type ForeignKey struct {
	Table      *Table
	Columns    []*Column
	References *Table
	Referenced []*Column
	// Relation leads from Table to References, Reverse from References to Table.
	Relation, Reverse string
	// Holds reports whether each row without NULLs leads to a row.
	Holds bool
}

// toOne reports whether the key leads to one row at most.
func (k *ForeignKey) toOne() bool { return k.References.isUnique(k.Referenced) }

// nulls reports whether a row leads nowhere because of a NULL.
func (k *ForeignKey) nulls() bool {
	return slices.ContainsFunc(k.Columns, func(c *Column) bool { return c.Nulls })
}

// total reports whether every row leads to one.
func (k *ForeignKey) total() bool { return k.Holds && !k.nulls() }

// isUnique reports whether no two rows are equal in these columns.
func (t *Table) isUnique(columns []*Column) bool {
	return slices.ContainsFunc(t.Unique, func(key []*Column) bool {
		return !slices.ContainsFunc(key, func(c *Column) bool { return !slices.Contains(columns, c) })
	})
}

// identifies reports whether no two rows have the same value in a column.
func (t *Table) identifies(c *Column) bool { return c.Distinct || t.isUnique([]*Column{c}) }

// number returns the first column that has a number in every row; nil if none has.
func (t *Table) number() *Column {
	i := slices.IndexFunc(t.Columns, func(c *Column) bool {
		return c.Served == ServedNumber && c.Affinity == NumericAffinity && !c.Nulls && !c.Read
	})
	if i < 0 {
		return nil
	}
	return t.Columns[i]
}

func (t *Table) column(name string) *Column {
	for _, c := range t.Columns {
		if sameName(c.Name, name) {
			return c
		}
	}
	return nil
}

// Table returns the table of a name, or nil.
func (s *Schema) Table(name string) *Table {
	for _, t := range s.Tables {
		if sameName(t.Name, name) {
			return t
		}
	}
	return nil
}

// sameName compares names as SQLite does, which folds the case of ASCII letters only.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
