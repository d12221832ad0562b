package planner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// library is a schema in which each name ends in ? if the column has NULLs, and begins with # if it holds numbers, with @ if it
// holds dates, with % if it is a text that the server reads as numbers though some are none, with $ if all have as many digits, and
// with & if it is a text whose numbers nothing declares, of which some are none.
func library() *planner.Schema {
	s := &planner.Schema{}
	table := func(name, columns string, unique ...string) *planner.Table {
		t := &planner.Table{Name: name, Model: name}
		for c := range strings.FieldsSeq(columns) {
			column := &planner.Column{Affinity: planner.TextAffinity, Served: planner.ServedText}
			c, column.Nulls = strings.CutSuffix(c, "?")
			if rest, isNumber := strings.CutPrefix(c, "#"); isNumber {
				c, column.Affinity, column.Served = rest, planner.NumericAffinity, planner.ServedNumber
			}
			if rest, isDate := strings.CutPrefix(c, "@"); isDate {
				c, column.Affinity, column.Served, column.Dates = rest, planner.NumericAffinity, planner.ServedOther, true
			}
			if rest, isRead := strings.CutPrefix(c, "%"); isRead {
				c, column.Served, column.Read, column.Others = rest, planner.ServedNumber, true, true
			}
			if rest, isRead := strings.CutPrefix(c, "$"); isRead {
				c, column.Served, column.Read, column.OneLength = rest, planner.ServedNumber, true, true
			}
			if rest, holds := strings.CutPrefix(c, "&"); holds {
				c, column.Numbers, column.SomeNone = rest, true, true
			}
			column.Name, column.Field = c, c
			t.Columns = append(t.Columns, column)
		}
		for _, key := range unique {
			t.Unique = append(t.Unique, columnsOf(t, key))
		}
		s.Tables = append(s.Tables, t)
		return t
	}
	author := table("author", "#id name country? #born?", "id")
	book := table("book", "#id title #author_id #year? price", "id")
	loan := table("loan", "#book_id #reader_id? day @due? %fine $kept")
	reader := table("reader", "#id name email?", "id", "email")
	table("car", "#id #cylinders &power &weight?", "id")
	table("branch", "#id #reader", "id") // no foreign key
	note := table("note", "word")
	note.ForeignKeys = []*planner.ForeignKey{{Table: note, Columns: columnsOf(note, "word"), References: reader, Referenced: columnsOf(reader, "email"), Relation: "reader", Reverse: "notes"}}
	key := func(from *planner.Table, column, relation string, to *planner.Table, holds bool) {
		from.ForeignKeys = append(from.ForeignKeys, &planner.ForeignKey{Table: from, Columns: columnsOf(from, column), References: to,
			Referenced: columnsOf(to, "id"), Relation: relation, Reverse: from.Model + "_by_" + relation, Holds: holds})
	}
	key(book, "author_id", "author", author, true)
	key(loan, "book_id", "book", book, false)
	key(loan, "reader_id", "reader", reader, true)
	return s
}

func columnsOf(t *planner.Table, names string) []*planner.Column {
	var found []*planner.Column
	for name := range strings.FieldsSeq(names) {
		for _, c := range t.Columns {
			if c.Name == name {
				found = append(found, c)
			}
		}
	}
	return found
}

// plan writes the calls of a query, or what it needs. A reference to an earlier answer is @ with its number.
func plan(t *testing.T, s *planner.Schema, sql string) string {
	t.Helper()
	tree, err := sqltree.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(s, tree)
	var needs *planner.Unable
	if errors.As(err, &needs) {
		return "needs " + needs.Needs
	}
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[*planner.Call]int{}
	var lines []string
	for i, c := range p.Calls {
		numbers[c] = i + 1
		text, err := json.Marshal(readable(c.Arguments, numbers))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf("%s_%s %s", c.Operation, c.Model, text), `,"limit":1000`, ""))
	}
	if len(p.Parts) > 1 {
		for _, part := range p.Parts {
			lines = append(lines, fmt.Sprintf("rows of %d", numbers[part.Call]))
		}
	}
	return strings.Join(lines, "\n")
}

func readable(v any, numbers map[*planner.Call]int) any {
	switch v := v.(type) {
	case planner.Object:
		all := planner.Object{}
		for name, member := range v {
			all[name] = readable(member, numbers)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = readable(v[i], numbers)
		}
		return all
	case planner.Reference:
		return fmt.Sprintf("@%d.%s", numbers[v.Call], v.Member)
	case planner.UnlessEmpty:
		return fmt.Sprintf("false unless @%d is empty", numbers[v.Call])
	}
	return v
}

func TestQueriesBecomeCalls(t *testing.T) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := plan(t, library(), tc.sql); got != tc.want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", tc.sql, got, tc.want)
			}
		})
	}
}

func TestNULLsFirstOnAnEngineThatPutsThemLast(t *testing.T) {
	s := library()
	s.NullsLast = true
	for sql, want := range map[string]string{
		"SELECT name FROM author ORDER BY born LIMIT 3":    `list_author {"fields":["name",{"as":"nulls_1","mul":["born",0]}],"limit":3,"order_by":["-nulls_1","born"]}`,
		"SELECT name FROM author ORDER BY name, born DESC": `list_author {"fields":["name",{"as":"nulls_2","mul":["born",0]}],"order_by":["name","nulls_2","-born"]}`,
		"SELECT name FROM author ORDER BY country LIMIT 3": `list_author {"fields":["name"],"filters":{"country__isnull":true},"limit":3}
list_author {"fields":["name"],"filters":{"country__isnull":false},"limit":3,"order_by":["country"]}
rows of 1
rows of 2`,
		"SELECT name FROM author ORDER BY name":                                 `list_author {"fields":["name"],"order_by":["name"]}`,
		"SELECT born, count(*) FROM author GROUP BY born ORDER BY born LIMIT 1": "needs NULLs first in an order",
	} {
		if got := plan(t, s, sql); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", sql, got, want)
		}
	}
}

func TestTablesWithLargerPages(t *testing.T) {
	s := library()
	s.Table("book").PageSize = 5000
	for sql, want := range map[string]string{
		"SELECT title FROM book":            `list_book {"fields":["title"],"limit":5000}`,
		"SELECT title FROM book LIMIT 7000": `list_book {"fields":["title"],"limit":5000}`,
		"SELECT name FROM author":           `list_author {"fields":["name"]}`,
	} {
		if got := plan(t, s, sql); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", sql, got, want)
		}
	}
}

func TestOrdersOfTextsOnAServerThatFoldsCase(t *testing.T) {
	s := library()
	s.FoldsFields = true
	const sql = "SELECT title FROM book WHERE price > (SELECT min(price) FROM book)"
	const two = `aggregate_book {"measures":{"min":{"min":"price"}}}
list_book {"fields":["title"],"filters":{"price__gt":"@1.min"}}`
	if got := plan(t, s, sql); got != two {
		t.Errorf("%s\ngot\n%s\nwant\n%s", sql, got, two)
	}
	columnsOf(s.Table("book"), "price")[0].Plain = true
	const one = `list_book {"fields":["title"],"filters":{"price__gt":{"_measure":{"min":"price"}}}}`
	if got := plan(t, s, sql); got != one {
		t.Errorf("%s\ngot\n%s\nwant\n%s", sql, got, one)
	}
}
