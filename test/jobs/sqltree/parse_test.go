package sqltree

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

func TestStatementsAreRead(t *testing.T) {
	q, err := Parse(`SELECT DISTINCT T1."größe", t1.näme AS n, count(DISTINCT x) FROM Läden AS T1 LEFT JOIN b ON T1.id = b.a
WHERE a = 1 OR b <> 'it''s' AND NOT c IN (SELECT d FROM e UNION SELECT f FROM g) GROUP BY n HAVING count(*) BETWEEN 1 AND 2
EXCEPT SELECT 1, -2.5, NULL FROM h, (SELECT * FROM i) ORDER BY n DESC, 2 LIMIT 3 OFFSET 4;`)
	if err != nil {
		t.Fatal(err)
	}
	s := q.Selects[0]
	if !s.Distinct || len(s.Columns) != 3 || *s.Columns[0].Expr.(*Name) != (Name{"T1", "größe", false}) || s.Columns[1].Alias != "n" {
		t.Errorf("the columns are %+v", s.Columns)
	}
	if !slices.Equal(q.Operations, []Operation{Except}) || q.Limit != 3 || q.Offset != 4 || len(q.Order) != 2 || !q.Order[0].Descending {
		t.Errorf("the query is %+v", q)
	}
	if len(s.From) != 2 || s.From[0].Table != "Läden" || s.From[1].Outer != "LEFT" || s.From[1].On == nil {
		t.Errorf("the sources are %+v", s.From)
	}
	if want := "(a = 1) OR ((b <> it's) AND (NOT (c IN 2)))"; show(s.Where) != want {
		t.Errorf("the condition is %s, want %s", show(s.Where), want)
	}
	if last := q.Selects[1]; *last.Columns[1].Expr.(*Literal) != (Literal{-2.5}) || last.From[1].Query == nil {
		t.Errorf("the last select is %+v", last)
	}
	if got := Tables(q); !slices.Equal(got, []string{"Läden", "b", "h", "e", "g", "i"}) {
		t.Errorf("the tables are %q", got)
	}
}

// show writes a condition with all of its parentheses.
func show(e Expr) string {
	switch e := e.(type) {
	case *Binary:
		side := func(e Expr) string {
			if _, inner := e.(*Binary); inner {
				return "(" + show(e) + ")"
			}
			return show(e)
		}
		return side(e.Left) + " " + e.Operator + " " + side(e.Right)
	case *Unary:
		return "(" + e.Operator + " (" + show(e.Operand) + "))"
	case *Name:
		return e.Column
	case *Literal:
		return fmt.Sprint(e.Value)
	case *In:
		return fmt.Sprintf("%s IN %d", show(e.Operand), len(e.Query.Selects))
	}
	text, _ := json.Marshal(e)
	return string(text)
}

func TestStatementsOtherThanSelectAreRefused(t *testing.T) {
	for _, sql := range []string{"", "DELETE FROM a", "SELECT", "SELECT a FROM", "SELECT a FROM b WHERE", "SELECT a FROM b c d", "SELECT 'a", "SELECT a FROM b LIMIT x", "SELECT a ? b"} {
		if q, err := Parse(sql); err == nil {
			t.Errorf("%q is read as %+v", sql, q)
		}
	}
}
