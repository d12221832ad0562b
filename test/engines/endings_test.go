package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// endings are about answers that end before their rows do: each says so, and following what it says leads to all rows.
func endings(s *suite, t *testing.T) {
	const readers = 130
	var items []string
	for i := range readers {
		items = append(items, fmt.Sprintf(`{"data":{"book_id":1,"reader":"R%03d","stars":1}}`, i))
	}
	s.ok(t, "root", "bulk_review", `{"operation":"create","items":[`+strings.Join(items, ",")+`]}`)
	for i := range 55 {
		s.ok(t, "root", "update_book", fmt.Sprintf(`{"id":1,"data":{"pages":%d}}`, 1000+i))
	}
	reviews := s.number(t, "select count(*) from review")
	for _, c := range []struct {
		tool, arguments, rows string
		// first is how many the first answer has, all how many there are.
		first, all int
		says       string
	}{
		{"aggregate_review", `"group_by":["reader"],"measures":{"n":{"count":"*"}}`, "results", 100, s.number(t, "select count(distinct reader) from review"),
			"there are more groups: offset 100 leads to the rest, or ask for more with limit (at most 1000). total: exact counts them all"},
		{"aggregate_review", `"group_by":["reader"],"limit":40,"total":"exact"`, "results", 40, s.number(t, "select count(distinct reader) from review"), "more groups: offset 40"},
		{"aggregate_review", `"group_by":["reader"],"max_bytes":300,"format":"columns","total":"exact"`, "rows", -1, s.number(t, "select count(distinct reader) from review"), "the groups were cut off after 300 bytes: offset "},
		{"list_review", ``, "results", 100, reviews, "there are more rows: next_cursor leads to the rest, or ask for more with limit (at most 1000)"},
		{"list_review", `"offset":3,"fields":["id"]`, "results", 100, reviews - 3, "there are more rows: next_cursor leads to the rest, or ask for more with limit (at most 1000)"},
		{"list_review", `"max_bytes":3000`, "results", -1, reviews, "the rows were cut off after 3000 bytes: next_cursor leads to the rest"},
		{"related_book", `"id":1,"relation":"review_by_book"`, "results", 100, s.number(t, "select count(*) from review where book_id = 1"), "there are more rows: offset 100 leads to the rest, or ask for more with limit (at most 1000)"},
		{"autocomplete_review", ``, "results", 20, reviews, "there are more rows: offset 20 leads to the rest, or ask for more with limit (at most 1000)"},
		{"history_book", `"id":1`, "history", 50, 55, "there are more entries: offset 50 leads to the rest, or ask for more with limit (at most 1000)"},
	} {
		s.check(t, c.tool+" "+c.arguments, func(t *testing.T) {
			first := s.ok(t, "root", c.tool, "{"+c.arguments+"}")
			if shown := len(at(t, first, c.rows).([]any)); c.first >= 0 && shown != c.first || !strings.HasPrefix(fmt.Sprint(first["notice"]), c.says) {
				t.Fatalf("%d shown, notice %v\nwant %d and %s", shown, first["notice"], c.first, c.says)
			}
			if all := s.follow(t, c.tool, c.arguments, c.rows, first); all != c.all {
				t.Fatalf("%d in all pages, want %d", all, c.all)
			}
		})
	}
	s.check(t, "a piece of a text", func(t *testing.T) {
		piece := s.ok(t, "root", "get_book", `{"id":1,"field":"notes","length":4}`)
		want(t, piece, `4`, "next_offset")
		want(t, piece, `"more characters: offset 4"`, "notice")
		want(t, s.ok(t, "root", "get_book", `{"id":1,"field":"notes","offset":4}`), `null`, "notice")
	})
	s.check(t, "rows beside a row", func(t *testing.T) {
		notice := s.ok(t, "root", "get_book", `{"id":1,"include_related":true,"include_inlines":true}`)["_notice"].(string)
		if !strings.HasPrefix(notice, "there is more than is shown of review (relation review_by_book), ") || !strings.Contains(notice, "review_by_book (offset 10)") || !strings.HasSuffix(notice, "; related_book goes on with the rows of a relation") {
			t.Fatalf("got %q, want the notice of a part of review from offset 10", notice)
		}
	})
	s.check(t, "a page of a confirmation", func(t *testing.T) {
		var ids []string
		for _, review := range at(t, s.ok(t, "root", "list_review", `{"filters":{"reader__startswith":"R"},"limit":1000}`), "results").([]any) {
			ids = append(ids, fmt.Sprint(review.(object)["id"]))
		}
		asked := s.ok(t, "root", "action_review", fmt.Sprintf(`{"action":"delete_selected","ids":[%s]}`, strings.Join(ids, ",")))
		want(t, asked, fmt.Sprint(readers), "affected_count")
		want(t, asked, fmt.Sprintf(`"the page names the first 100 of %d reviews: ask with fewer ids to see each of them"`, readers), "notice")
	})
	s.check(t, "an answer that has everything says nothing", func(t *testing.T) {
		for tool, arguments := range map[string]string{
			"list_book": `{}`, "list_category": `{"limit":0}`, "aggregate_book": `{"measures":{"n":{"count":"*"}}}`, "related_book": `{"id":2,"relation":"review_by_book"}`,
			"autocomplete_book": `{}`, "history_book": `{"id":1,"limit":55}`, "find_models": `{}`,
		} {
			answer := s.ok(t, "root", tool, arguments)
			for _, member := range []string{"next_cursor", "next_offset", "notice"} {
				if said, there := answer[member]; there {
					t.Errorf("%s %s: %s is %v", tool, arguments, member, said)
				}
			}
		}
	})
	s.check(t, "a number that is not exact has a name of its own", func(t *testing.T) {
		capped := start(t, s.Engine, func(c *contract.Config) {
			for i := range c.Models {
				c.Models[i].TotalCount = contract.TotalCapped
			}
		})
		for _, statement := range []string{
			`insert into review (book_id, reader, stars, body) values ` + strings.TrimSuffix(strings.Repeat(`(1, 'x', 1, ''),`, 110), ","),
			`insert into review (book_id, reader, stars, body) select 1, a.reader, 1, '' from review a cross join review b`,
		} {
			if _, err := capped.plain.ExecContext(context.Background(), statement); err != nil {
				t.Fatal(err)
			}
		}
		list := capped.ok(t, "root", "list_review", `{"limit":1}`)
		want(t, list, `10000`, "total_count_at_least")
		want(t, list, `null`, "total_count")
		exact := capped.ok(t, "root", "list_review", `{"limit":1,"total":"exact"}`)
		want(t, exact, fmt.Sprint(capped.number(t, "select count(*) from review")), "total_count")
		want(t, exact, `null`, "total_count_at_least")
	})
}

// follow makes the calls that a first answer and those after it name, and returns how many rows all answers have. The
// last answer names no next call.
func (s *suite) follow(t *testing.T, tool, arguments, rows string, page object) int {
	t.Helper()
	all := len(at(t, page, rows).([]any))
	for range 1000 {
		cursor, byCursor := page["next_cursor"]
		offset, byOffset := page["next_offset"]
		if ends := !byCursor && !byOffset; ends != (page["notice"] == nil) || byCursor && byOffset {
			t.Fatalf("next_cursor %v, next_offset %v, notice %v", cursor, offset, page["notice"])
		} else if ends {
			return all
		}
		var next object
		if err := json.Unmarshal([]byte("{"+arguments+"}"), &next); err != nil {
			t.Fatal(err)
		}
		delete(next, "offset")
		if byCursor {
			next["cursor"] = cursor
		} else {
			next["offset"] = offset
		}
		text, err := json.Marshal(next)
		if err != nil {
			t.Fatal(err)
		}
		page = s.ok(t, "root", tool, string(text))
		all += len(at(t, page, rows).([]any))
	}
	t.Fatal("the pages do not end")
	return 0
}

// number is the one number that a query answers.
func (s *suite) number(t *testing.T, query string) int {
	t.Helper()
	n, err := strconv.Atoi(s.sql(t, query))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
