package database

// The bounds of Texts: how many values, and how many characters of each. If there is more, the last value is an ellipsis.
const (
	MostTexts  = 100
	TextLength = 200
)

// needsPlaces reports whether the measure is of the places that rows have among the others of their group.
func (m Measure) needsPlaces() bool { return m.Func == Percentile || m.Func == Texts }

// placed returns a grouping with the same columns whose rows know their places: they are read through a windowing. Whatever the keys
// and measures look at is computed there, and they themselves have no joins.
func (g *Grouping) placed() *Grouping {
	p := &placing{rows: &Windowing{From: g.From, Joins: g.Joins, Where: g.Where}, keys: g.Keys, known: map[placed]places{}}
	var finish []func(columns []*Column)
	groups := &Grouping{Keys: append([]GroupKey{}, g.Keys...), Measures: append([]Measure{}, g.Measures...), MinRows: g.MinRows}
	read := func(from Ref, to *Ref) {
		i := p.column(from)
		finish = append(finish, func(columns []*Column) { *to = Ref{Column: columns[i]} })
	}
	for i := range groups.Keys {
		read(groups.Keys[i].Ref, &groups.Keys[i].Ref)
	}
	for i := range groups.Measures {
		m := &groups.Measures[i]
		if m.needsPlaces() {
			finish = append(finish, p.place(m))
			continue
		}
		if m.Where != nil {
			var flag Ref
			read(Ref{Column: Chosen{Where: m.Where}.column()}, &flag)
			finish = append(finish, func([]*Column) { m.Where = Compare{Column: flag.Column, Op: Equal, Value: int64(1)} })
		}
		if m.Ref.Column != nil {
			read(m.Ref, &m.Ref)
		}
	}
	groups.From = p.rows.Source()
	for _, f := range finish {
		f(groups.From.table.Columns)
	}
	return groups
}

// placing makes the windowing of a grouping's rows.
type placing struct {
	rows *Windowing
	keys []GroupKey
	// known are the places of the windows of measures without a condition: percentiles of the same column share them.
	known map[placed]places
}

// placed is what places are of: Texts, or a Percentile of a column.
type placed struct {
	of    Ref
	texts bool
}

// places say where the value is among the columns of the rows, and the first of its two windows among the windows.
type places struct{ value, window int }

// column returns the place of a column among those of the rows.
func (p *placing) column(r Ref) int {
	for i, known := range p.rows.Columns {
		if known == r {
			return i
		}
	}
	p.rows.Columns = append(p.rows.Columns, r)
	return len(p.rows.Columns) - 1
}

// place gives the rows their places for a measure, and returns what tells the measure where they are.
func (p *placing) place(m *Measure) func([]*Column) {
	of := placed{m.Ref, m.Func == Texts}
	at, ok := p.known[of]
	if !ok || m.Where != nil {
		at = p.add(m)
	}
	if m.Where == nil {
		p.known[of] = at
	}
	return func(columns []*Column) {
		windows := columns[len(p.rows.Columns):]
		m.Ref, m.Place, m.Among = Ref{Column: columns[at.value]}, windows[at.window], windows[at.window+1]
		m.Where = Not{IsNull{columns[at.value]}}
	}
}

// add adds the value of a measure and its windows.
func (p *placing) add(m *Measure) places {
	chosen := Chosen{Of: m.Ref, Where: m.Where, As: Decimal}
	if m.Func == Texts {
		chosen.As = Text
	} else if m.Ref.Column.Kind == Float {
		chosen.As = Float
	}
	of := Ref{Column: chosen.column()}
	place := Window{Func: RowNumber, Per: p.keys, Order: []Order{{Column: of.Column, Descending: true, NullsLast: true}}}
	among := Window{Func: WholeCount, Of: of, Per: p.keys}
	if m.Func == Texts { // each value is wanted once
		place = Window{Func: DenseRank, Of: of, Per: p.keys}
		among = Window{Func: RowNumber, Per: append(append([]GroupKey{}, p.keys...), GroupKey{Ref: of})}
	}
	at := places{p.column(of), len(p.rows.Windows)}
	p.rows.Windows = append(p.rows.Windows, place, among)
	return at
}

// column is the column of the value.
func (e Chosen) column() *Column {
	c := derived(Integer)
	switch {
	case e.As == Text:
		c = derived(Text)
	case e.Of.Column != nil:
		own := *e.Of.Column
		c = &own
		c.Nullable, c.Computed = true, max(c.Computed, Picked)
	}
	c.Expression = e
	return c
}
