package database

import "slices"

// WithKinds returns a copy of the schema in which some columns have another kind: integers become booleans, or booleans
// that are stored as integers become integers. If there are none, it returns the schema itself.
func (s *Schema) WithKinds(kinds map[*Column]Kind) *Schema {
	if len(kinds) == 0 {
		return s
	}
	c := copier{kinds: kinds, tables: map[*Table]*Table{}, columns: map[*Column]*Column{}}
	all := *s
	all.Tables, all.Outside, all.Audit, all.Idempotency = c.list(s.Tables), c.list(s.Outside), c.table(s.Audit), c.table(s.Idempotency)
	return &all
}

// copier copies tables and columns, each once.
type copier struct {
	kinds   map[*Column]Kind
	tables  map[*Table]*Table
	columns map[*Column]*Column
}

func (c copier) list(tables []*Table) []*Table {
	all := slices.Clone(tables)
	for i, t := range all {
		all[i] = c.table(t)
	}
	return all
}

func (c copier) keys(keys []*ForeignKey) []*ForeignKey {
	all := slices.Clone(keys)
	for i, key := range all {
		to := *key
		to.Columns, to.References, to.ReferencedColumns = c.all(key.Columns), c.table(key.References), c.all(key.ReferencedColumns)
		all[i] = &to
	}
	return all
}

func (c copier) table(t *Table) *Table {
	if t == nil || c.tables[t] != nil {
		return c.tables[t]
	}
	own := *t
	c.tables[t] = &own // before its keys, which may lead back to it
	own.Columns, own.PrimaryKey, own.RowID = c.all(t.Columns), c.all(t.PrimaryKey), c.column(t.RowID)
	own.Unique = slices.Clone(t.Unique)
	for i, columns := range own.Unique {
		own.Unique[i] = c.all(columns)
	}
	own.ForeignKeys, own.PartitionKeys = c.keys(t.ForeignKeys), c.keys(t.PartitionKeys)
	own.TextIndexes = slices.Clone(t.TextIndexes)
	for i, index := range own.TextIndexes {
		own.TextIndexes[i] = c.textIndex(index)
	}
	own.Constraints = slices.Clone(t.Constraints)
	for i := range own.Constraints {
		own.Constraints[i].Columns = c.all(own.Constraints[i].Columns)
	}
	own.Checks = slices.Clone(t.Checks)
	for i := range own.Checks {
		c.check(&own.Checks[i])
	}
	return &own
}

func (c copier) textIndex(index *TextIndex) *TextIndex {
	own := *index
	own.Columns, own.Vector, own.Row, own.Table = c.all(index.Columns), c.column(index.Vector), c.column(index.Row), c.table(index.Table)
	own.Pieces = slices.Clone(index.Pieces)
	for i := range own.Pieces {
		own.Pieces[i].Column = c.column(own.Pieces[i].Column)
	}
	return &own
}

func (c copier) all(columns []*Column) []*Column {
	all := slices.Clone(columns)
	for i, column := range all {
		all[i] = c.column(column)
	}
	return all
}

func (c copier) column(column *Column) *Column {
	if column == nil || c.columns[column] != nil {
		return c.columns[column]
	}
	own := *column
	c.columns[column] = &own
	if kind, ok := c.kinds[column]; ok {
		own.Kind = kind
		if own.Default != nil {
			value := asKind(*own.Default, kind)
			own.Default = &value
		}
	}
	return &own
}

// check gives a check the column's new kind. Only a number keeps its bounds.
func (c copier) check(check *Check) {
	kind, changed := c.kinds[check.Column]
	check.Column = c.column(check.Column)
	if !changed {
		return
	}
	check.Choices = slices.Clone(check.Choices)
	for i, choice := range check.Choices {
		check.Choices[i] = asKind(choice, kind)
	}
	if kind == Boolean {
		check.Minimum, check.Maximum, check.ExclusiveMinimum, check.ExclusiveMaximum = "", "", false, false
	}
}

// asKind turns the text of a number into a boolean's, or the reverse.
func asKind(text string, kind Kind) string {
	forms := [][2]string{{"0", "false"}, {"1", "true"}}
	for _, form := range forms {
		switch {
		case kind == Boolean && text == form[0]:
			return form[1]
		case kind == Integer && text == form[1]:
			return form[0]
		}
	}
	return text
}

// Comparable reports whether values of two columns can be compared with each other.
func Comparable(a, b *Column) bool {
	family := func(c *Column) Kind {
		switch c.Kind {
		case Integer, Decimal:
			return Float
		case Enum:
			return Text
		case Date, TimestampTZ:
			return Timestamp
		}
		return c.Kind
	}
	return family(a) == family(b) && !b.Incomparable && (a.Kind != Other || a.NativeType == b.NativeType)
}
