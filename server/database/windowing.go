package database

import "strconv"

// Windowing is the rows of a source, each with values that depend on its place among the others. It is read through its own Source,
// whose columns are Columns and then Windows.
type Windowing struct {
	From Source
	// Joins are the joins that Where, Columns and Windows use. Each comes after the join that it goes through.
	Joins []*Join
	// Where says which rows there are; nil is every row.
	Where   Condition
	Columns []Ref
	Windows []Window
}

// WindowFunc is a way to compute a Window.
type WindowFunc uint8

// The functions.
const (
	// RowNumber counts the rows from 1; Rank gives rows that are equal in Order the same number.
	RowNumber WindowFunc = iota
	Rank
	// DenseRank counts the values of Of from 1, in the order of their bytes.
	DenseRank
	// WindowSum and WindowCount are of the row and of those before it: of Last rows in all, or of all of them. WholeSum and WholeCount
	// are of all rows of the window, and have no Order.
	WindowSum
	WindowCount
	WholeSum
	WholeCount
	// Previous is the value of the row that is Last rows before, Next of the one behind.
	Previous
	Next
)

// Window is a value of a row that depends on the rows before it.
type Window struct {
	Func WindowFunc
	// Of is the column that is summed up, counted or looked up.
	Of Ref
	// Per are the values that the rows of a window have in common.
	Per []GroupKey
	// Order is the order of the rows.
	Order []Order
	// Last is a number of rows; see Func.
	Last int
}

// Source returns the rows as a source.
func (v *Windowing) Source() Source {
	t := &Table{Name: "windows", Kind: View}
	add := func(c Column) {
		c.Name, c.Expression = "c"+strconv.Itoa(len(t.Columns)), nil
		t.Columns = append(t.Columns, &c)
	}
	for _, of := range v.Columns {
		c := *of.Column
		c.Nullable = c.Nullable || of.Join != nil
		add(c)
	}
	for i := range v.Windows {
		add(*v.Windows[i].column())
	}
	return Source{table: t, groups: v.From.groups, windows: v}
}

// column describes the window's values.
func (w *Window) column() *Column {
	switch w.Func {
	case WindowSum, WholeSum:
		return (&Measure{Func: Sum, Ref: w.Of}).column()
	case Previous, Next:
		return (&Measure{Func: Max, Ref: w.Of}).column()
	}
	c := derived(Integer)
	c.Nullable = false
	return c
}
