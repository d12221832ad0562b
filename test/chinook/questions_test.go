package chinook

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// question is what an analyst asks of a music store, the one call that answers it, and plain SQL that does.
type question struct {
	ask, tool, arguments, sql string
	// ordered is set if the order of the rows is a part of the answer.
	ordered bool
}

// TestQuestions asks each question by one call, whose rows must be those of the SQL beside it.
func TestQuestions(t *testing.T) {
	e := onPostgreSQL(t)
	for _, q := range slices.Concat(questionsOfToday, questionsOfGroups, questionsOfRows) {
		t.Run(q.ask, func(t *testing.T) {
			got, want := e.answer(t, q), e.plain(t, q.sql)
			if !q.ordered {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s\n got %d rows: %.1500s\nwant %d rows: %.1500s", q.tool, q.arguments, len(got), strings.Join(got, " "), len(want), strings.Join(want, " "))
			}
			if len(want) == 0 && !strings.Contains(q.ask, "nobody") {
				t.Error("the answer has no rows, so that the question shows nothing")
			}
		})
	}
}

// answer calls a tool, and writes each row of its answer as a text.
func (e engine) answer(t *testing.T, q question) []string {
	t.Helper()
	var page struct {
		Columns []string
		Rows    [][]any
		Next    json.RawMessage `json:"next_cursor"`
		Offset  json.Number     `json:"next_offset"`
	}
	arguments := strings.TrimSuffix(q.arguments, "}") + `,"format":"columns","limit":1000,"max_bytes":1000000}`
	if strings.Contains(q.arguments, `"limit"`) {
		arguments = strings.TrimSuffix(q.arguments, "}") + `,"format":"columns"}`
	} else {
		defer func() {
			if page.Next != nil || page.Offset != "" {
				t.Errorf("the answer of %s has further pages", q.ask)
			}
		}()
	}
	e.call(t, q.tool, arguments, &page)
	rows := make([]string, len(page.Rows))
	for i, row := range page.Rows {
		rows[i] = written(row)
	}
	return rows
}

// plain runs SQL, and writes each row as answer does.
func (e engine) plain(t *testing.T, query string) []string {
	t.Helper()
	found, err := e.db.Query(query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for found.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, written(row))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// written is a row as a text, in which equal values look alike: numbers have six digits behind the point.
func written(row []any) string {
	texts := make([]string, len(row))
	for i, value := range row {
		if moment, ok := value.(time.Time); ok {
			value = moment.Format("2006-01-02T15:04:05")
		}
		texts[i] = fmt.Sprint(value)
		if number, ok := new(big.Rat).SetString(texts[i]); ok {
			texts[i] = number.FloatString(6)
		}
	}
	return "(" + strings.Join(texts, " | ") + ")"
}
