package database

// Filling is the groups of a source, with an empty group for each piece of time that has none. It is read through its own
// Source, which has the same columns as the groups.
type Filling struct {
	// From are groups. The column Key is a piece of a date; those before Keys are their keys.
	From      Source
	Key, Keys int
	// Pieces are the pieces of time, in their order: texts or int64s.
	Pieces []Value
}

// Source returns the groups as a source.
func (f *Filling) Source() Source {
	t := &Table{Name: "filled", Kind: View}
	for _, c := range f.From.table.Columns {
		own := *c
		own.Expression = nil
		t.Columns = append(t.Columns, &own)
	}
	return Source{table: t, groups: f.From.groups, filling: f}
}

// Beside is the groups, each with the pieces of time before and behind it that have one, as the last two columns. Groups that have the
// other keys in common follow each other.
func (f *Filling) Beside() Source {
	key := Ref{Column: f.From.table.Columns[f.Key]}
	var per []GroupKey
	for i, c := range f.From.table.Columns[:f.Keys] {
		if i != f.Key {
			per = append(per, GroupKey{Ref: Ref{Column: c}})
		}
	}
	order := []Order{{Column: key.Column}}
	return (&Windowing{
		From: f.From, Columns: Refs(f.From.table.Columns...),
		Windows: []Window{{Func: Previous, Of: key, Per: per, Order: order, Last: 1}, {Func: Next, Of: key, Per: per, Order: order}},
	}).Source()
}

// IsZero reports whether the i-th column is 0 in an empty group: a count or a sum. Others are NULL.
func (f *Filling) IsZero(i int) bool {
	if i < f.Keys {
		return false
	}
	switch f.From.groups.Measures[i-f.Keys].Func {
	case CountRows, Count, CountDistinct, Sum:
		return true
	}
	return false
}
