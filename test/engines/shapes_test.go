package engines

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// otherShapes are questions as callers write them who know other programs: if one can mean one thing only it is
// answered, else the error says what to send.
func otherShapes(s *suite, t *testing.T) {
	for _, c := range []struct{ name, tool, given, means string }{
		{"a lookup inside", "list_book", `{"filters":{"title":{"icontains":"SOLARIS"}}}`, `{"filters":{"title__icontains":"SOLARIS"}}`},
		{"two lookups inside", "list_book", `{"filters":{"pages":{"gte":204,"lt":300}}}`, `{"filters":{"pages__gte":204,"pages__lt":300}}`},
		{"a lookup inside, behind a relation", "list_book", `{"filters":{"author__name":{"startswith":"S"}}}`, `{"filters":{"author__name__startswith":"S"}}`},
		{"a list", "list_book", `{"filters":{"id":[1,3]}}`, `{"filters":{"id__in":[1,3]}}`},
		{"an order as SQL has it", "list_book", `{"order_by":["author__name desc","title ASC"]}`, `{"order_by":["-author__name","title"]}`},
		{"groups", "aggregate_book", `{"group_by":["author_id"],"measures":{"n":{"count":"*"}},"having":{"n":{"gte":2}},"order_by":["n desc"]}`,
			`{"group_by":["author_id"],"measures":{"n":{"count":"*"}},"having":{"n__gte":2},"order_by":["-n"]}`},
	} {
		s.check(t, c.name, func(t *testing.T) {
			given, meant := s.ok(t, "viewer", c.tool, c.given), s.ok(t, "viewer", c.tool, c.means)
			want(t, given, fmt.Sprint(meant["count"]), "count")
			if fmt.Sprint(given["results"]) != fmt.Sprint(meant["results"]) || fmt.Sprint(given["count"]) == "0" {
				t.Fatalf("got %v\nwant %v", given, meant)
			}
		})
	}
	const masked = "card_number is masked for you, so nothing can filter, group, order or compute by it; tell your user so"
	for _, c := range []struct{ tool, arguments, says string }{
		{"list_book", `{"filters":{"title__not_in":["x"]}}`, `filters: title__not_in: there is no lookup "not_in"; send "_not": {"title__in": […]}`},
		{"list_book", `{"filters":{"author__name__like":"x"}}`, `filters: author__name__like: there is no lookup "like"; send "author__name__icontains"`},
		{"list_book", `{"filters":{"OR":[{"id":1}]}}`, `filters: OR: conditions are joined by _any: [{…}, {…}]`},
		{"list_book", `{"filters":{"$and":[{"id":1}]}}`, `filters: $and: conditions are joined by _all: [{…}, {…}]`},
		{"list_book", `{"filters":{"card_number__icontains":"4"}}`, masked},
		{"list_review", `{"filters":{"book__card_number":"4"}}`, masked},
		{"list_book", `{"order_by":["-card_number"]}`, masked},
		{"aggregate_book", `{"group_by":["card_number"]}`, masked},
		{"aggregate_book", `{"measures":{"n":{"count_distinct":"card_number"}}}`, masked},
		{"list_book", `{"filters":{"price__gt":{"_field":"price"}}}`, "each row would be compared with itself"},
		{"list_book", `{"filters":{"pages__ne":{"_field":"pages"}}}`, "each row would be compared with itself"},
		{"list_review", `{"filters":{"book__price__lt":{"_field":"book__price"}}}`, "each row would be compared with itself"},
	} {
		s.check(t, c.tool+" "+c.arguments, func(t *testing.T) {
			if said := fmt.Sprint(s.fails(t, "viewer", c.tool, c.arguments, "invalid_argument")["error"]); !strings.Contains(said, c.says) {
				t.Fatalf("got %s\nwant %s", said, c.says)
			}
		})
	}
	s.check(t, "a condition on a sum beyond 64 bits", func(t *testing.T) {
		s.execute(t, `insert into sample (id, big) values (900, 9223372036854775807)`)
		const both = "18446744073709551614"
		for having, count := range map[string]string{
			`{"s":"` + both + `"}`: "1", `{"s__gt":"` + both + `"}`: "0", `{"s__gte":"` + both + `"}`: "1", `{"s__lt":"18446744073709551615"}`: "1", `{"s__lt":5}`: "0", `{"s__in":["` + both + `",1]}`: "1",
		} {
			groups := s.ok(t, "viewer", "aggregate_sample", `{"filters":{"id__in":[1,900]},"measures":{"s":{"sum":"big"}},"having":`+having+`}`)
			if fmt.Sprint(groups["count"]) != count {
				t.Errorf("having %s: %v", having, groups)
			}
		}
	})
	s.check(t, "a ratio with an average is rounded once", func(t *testing.T) {
		s.execute(t, `insert into review (book_id, reader, stars, body) values (1, 'r', 2, ''), `+strings.TrimSuffix(strings.Repeat(`(1, 'r', 1, ''), `, 300), ", "))
		ratio := s.ok(t, "viewer", "aggregate_review", `{"filters":{"reader":"r"},"measures":{"a":{"avg":"stars"},"s":{"sum":"stars"},"n":{"ratio":["s","a"]},"one":{"ratio":["a","a"]},"part":{"ratio":["a","s"]}}}`)
		want(t, ratio, `[{"a":"1.003322259136","s":302,"n":"301.000000","one":"1.000000","part":"0.003322259136"}]`, "results")
	})
	s.check(t, "rows that are called the same are told apart", func(t *testing.T) {
		s.execute(t, `insert into author (id, name, bio) values (90, 'Twin', 'The elder.'), (91, 'Twin', 'The younger.'), (92, 'Twins', 'Alone.')`)
		found := s.ok(t, "viewer", "autocomplete_author", `{"term":"twin"}`)
		want(t, found, `[{"id":90,"text":"Twin (The elder.)"},{"id":91,"text":"Twin (The younger.)"},{"id":92,"text":"Twins"}]`, "results")
	})
	s.check(t, "rows without a name are called by what they refer to, and found by it", func(t *testing.T) {
		found := s.ok(t, "viewer", "autocomplete_review", `{"term":"dispo","limit":2}`)
		want(t, found, `[{"id":1,"text":"1 (Ann, The Dispossessed)"},{"id":2,"text":"2 (Bob, The Dispossessed)"}]`, "results")
		s.execute(t, `insert into author (id, name, country_id) values (93, 'Sam', 'PL'), (94, 'Sam', 'US'), (95, 'Sam', null)`)
		found = s.ok(t, "viewer", "autocomplete_author", `{"term":"Sam"}`)
		want(t, found, `[{"id":93,"text":"Sam (Poland)"},{"id":94,"text":"Sam (United States)"},{"id":95,"text":"Sam"}]`, "results")
	})
	s.check(t, "a name that a token may not see names nothing", func(t *testing.T) {
		s.execute(t, `insert into review (id, book_id, reader, stars, body) values (950, 4, 'Zoe', 1, '')`) // a book of no region of the clerk's
		want(t, s.ok(t, "clerk", "autocomplete_review", `{"term":"950"}`), `[{"id":950,"text":"950 (Zoe)"}]`, "results")
		want(t, s.ok(t, "clerk", "autocomplete_review", `{"term":"excession"}`), `0`, "count")
	})
	s.check(t, "a long name is cut", func(t *testing.T) {
		s.execute(t, `insert into book (id, title, author_id) values (950, '`+strings.Repeat("ä", 100)+`', 1)`)
		s.execute(t, `insert into review (id, book_id, reader, stars) values (951, 950, '`+strings.Repeat("ü", 50)+`', 1)`)
		want(t, s.ok(t, "viewer", "autocomplete_review", `{"term":"951"}`), `"951 (`+strings.Repeat("ü", 50)+", "+strings.Repeat("ä", 80)+`…)"`, "results", 0, "text")
	})
	s.check(t, "describe_ says that texts hold numbers", func(t *testing.T) {
		note := func(token, field string) bool {
			for _, f := range at(t, s.ok(t, token, "describe_review", `{}`), "fields").([]any) {
				if f.(object)["name"] == field {
					return strings.Contains(fmt.Sprint(f.(object)["help_text"]), "Text that holds numbers")
				}
			}
			t.Fatalf("no field %s", field)
			return false
		}
		if note("viewer", "body") || note("viewer", "reader") || note("viewer", "stars") {
			t.Error("of texts that are no numbers")
		}
		s.execute(t, `delete from review`)
		s.execute(t, `insert into review (id, book_id, reader, stars, body) values (1, 1, '007', 2, '10'), (2, 1, '010', 2, '-9.5'), (3, 1, '100', 2, null), (4, 1, '100', 2, 'null')`)
		if !note("viewer", "body") || note("viewer", "reader") || note("viewer", "stars") {
			t.Error("the texts 10 and -9.5 are numbers, and 007 is none")
		}
	})
}

// execute runs a statement beside the server.
func (s *suite) execute(t *testing.T, statement string) {
	t.Helper()
	s.writes(t)
	if _, err := s.plain.ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}
