package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func listing(s *suite, t *testing.T) {
	s.check(t, "all rows, with the key's order", func(t *testing.T) {
		page := s.ok(t, "root", "list_book", `{}`)
		want(t, page, `5`, "count")
		want(t, page, `5`, "total_count")
		if got := column(t, page, "id"); got != "1 2 3 4 5" {
			t.Fatalf("got %q, want %q", got, "1 2 3 4 5")
		}
		if _, more := page["next_cursor"]; more {
			t.Fatal("there is no more, but a cursor")
		}
	})
	s.check(t, "a row's values", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_book", `{"limit":1}`), `{"id":1,"title":"The Dispossessed","author_id":1,"editor_id":3,"isbn":"isbn-1","price":"12.50",
			"pages":341,"in_stock":true,"published":"1974-05-01","tags":["utopia",1],"region":"emea","card_number":"****1111","notes":"100% fine_print","version":1}`, "results", 0)
	})
	s.check(t, "the model's own ordering", func(t *testing.T) {
		if got := column(t, s.ok(t, "root", "list_author", `{}`), "id"); got != "3 4 2 1" {
			t.Fatalf("got %q, want %q", got, "3 4 2 1")
		}
	})
	s.check(t, "nulls come first, or last on PostgreSQL and DuckDB", func(t *testing.T) {
		nullsLast := s.Name == contract.EnginePostgreSQL || s.Name == contract.EngineDuckDB
		for order, first := range map[string]bool{"editor_id": !nullsLast, "-editor_id": nullsLast} {
			editors := strings.Fields(column(t, s.ok(t, "root", "list_book", fmt.Sprintf(`{"order_by":[%q]}`, order)), "editor_id"))
			ends := map[bool]string{true: editors[0], false: editors[len(editors)-1]}
			if ends[first] != "<nil>" || ends[!first] == "<nil>" {
				t.Errorf("by %s the editors are %v", order, editors)
			}
		}
	})
	for _, tc := range []struct{ name, arguments, ids string }{
		{"order_by descending", `{"order_by":["-price"]}`, "4 1 3 5 2"},
		{"order_by two fields", `{"order_by":["author_id","-title"]}`, "3 1 5 2 4"},
		{"order_by the key", `{"order_by":["-id"]}`, "5 4 3 2 1"},
		{"limit and offset", `{"limit":2,"offset":1}`, "2 3"},
		{"offset beyond the end", `{"offset":99}`, ""},
		{"limit 0", `{"limit":0}`, ""},
		{"limit over the maximum is capped", `{"limit":1000000}`, "1 2 3 4 5"},
		{"search one word", `{"search":"solaris"}`, "2 5"},
		{"search two words, each somewhere", `{"search":"again lem"}`, "5"},
		{"search through a relation", `{"search":"Stanisław"}`, "2 5"},
		{"search an equal field", `{"search":"isbn-4"}`, "4"},
		{"an equal field is no piece", `{"search":"isbn"}`, ""},
		{"search nothing", `{"search":"  "}`, "1 2 3 4 5"},
		{"wildcards match themselves", `{"search":"%"}`, ""},
	} {
		s.check(t, tc.name, func(t *testing.T) {
			if got := column(t, s.ok(t, "root", "list_book", tc.arguments), "id"); got != tc.ids {
				t.Fatalf("got %q, want %q", got, tc.ids)
			}
		})
	}
	s.check(t, "a prefix field", func(t *testing.T) {
		if got := column(t, s.ok(t, "root", "list_author", `{"search":"stan"}`), "id"); got != "2" {
			t.Fatalf("got %q, want %q", got, "2")
		}
		if got := column(t, s.ok(t, "root", "list_author", `{"search":"lem"}`), "id"); got != "" {
			t.Fatalf("got %q, want nothing", got)
		}
	})
	s.check(t, "a subset of fields, and always the key", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_book", `{"limit":1,"fields":["title"]}`), `{"id":1,"title":"The Dispossessed"}`, "results", 0)
	})
	s.check(t, "total none", func(t *testing.T) {
		page := s.ok(t, "root", "list_book", `{"total":"none","limit":2}`)
		if total, there := page["total_count"]; there {
			t.Fatalf("got the total_count %v, want none", total)
		}
		want(t, page, `2`, "count")
	})
	s.check(t, "total exact beyond the page", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_book", `{"total":"exact","limit":2,"offset":1}`), `5`, "total_count")
		want(t, s.ok(t, "root", "list_book", `{"limit":0}`), `5`, "total_count")
		want(t, s.ok(t, "root", "list_book", `{"offset":77}`), `5`, "total_count")
	})
	for name, arguments := range map[string]string{
		"negative limit": `{"limit":-1}`, "limit no integer": `{"limit":1.5}`, "negative offset": `{"offset":-1}`,
		"unknown argument": `{"page":2}`, "unknown field": `{"fields":["nope"]}`, "order by nothing known": `{"order_by":["nope"]}`,
		"order by json": `{"order_by":["tags"]}`, "unknown total": `{"total":"roughly"}`, "eleven words": `{"search":"a b c d e f g h i j k"}`,
		"search no text": `{"search":5}`,
	} {
		s.check(t, name+" is refused", func(t *testing.T) { s.fails(t, "root", "list_book", arguments, "invalid_argument") })
	}
}

// misfit is the answer to a filter by a value of another type than the column's: an error, but not on SQLite, whose
// columns hold such values.
const misfit = "misfit"

func filtering(s *suite, t *testing.T) {
	for _, tc := range []struct{ filters, ids string }{
		{`{"id":1}`, "1"}, {`{"id":"2"}`, "2"}, {`{"title":"Solaris"}`, "2"},
		{`{"title__contains":"solaris"}`, "5"}, {`{"title__icontains":"SOLARIS"}`, "2 5"},
		{`{"title__startswith":"The"}`, "1 3"}, {`{"title__startswith":"the"}`, ""}, {`{"title__istartswith":"the"}`, "1 3"},
		{`{"title__endswith":"n"}`, "4 5"}, {`{"title__iendswith":"N"}`, "4 5"},
		{`{"title__iexact":"SOLARIS"}`, "2"}, {`{"notes__icontains":"STRASSENNAME"}`, ""}, {`{"notes__contains":"Straße"}`, "3"},
		{`{"notes__contains":"0%"}`, "1"}, {`{"notes__contains":"e_p"}`, "1"}, {`{"notes__contains":"%"}`, "1"}, {`{"notes__contains":"_f"}`, ""},
		{`{"price__gt":"10"}`, "1 4"}, {`{"price__gte":10}`, "1 3 4"}, {`{"price__lt":"8.01"}`, "2 5"}, {`{"price__lte":8}`, "2 5"},
		{`{"price__range":["8","10.00"]}`, "2 3 5"}, {`{"price":"12.5"}`, "1"}, {`{"pages__in":[204,341,7]}`, "1 2"}, {`{"pages__in":[]}`, ""},
		{`{"pages__isnull":true}`, "5"}, {`{"pages__isnull":false}`, "1 2 3 4"}, {`{"pages":null}`, "5"},
		{`{"pages__ne":204}`, "1 3 4 5"}, {`{"pages__ne":null}`, "1 2 3 4"},
		{`{"in_stock":false}`, "3"}, {`{"in_stock__ne":true}`, "3"}, {`{"in_stock__in":[true]}`, "1 2 4 5"},
		{`{"published__year":1974}`, "1"}, {`{"published__month":3}`, "3"}, {`{"published__day":1}`, "1 2 3 4"}, {`{"published__date":"1969-03-01"}`, "3"},
		{`{"id__gt":"2.500000"}`, "3 4 5"}, {`{"id__lt":2.5}`, "1 2"}, {`{"published__gte":"1969-03-01"}`, "1 3 4"}, {`{"published":"1961-01-01"}`, "2"},
		{`{"author__name":"Stanisław Lem"}`, "2 5"}, {`{"author__name__startswith":"Iain"}`, "4"}, {`{"author__country_id":"PL"}`, "2 5"},
		{`{"author_id":1}`, "1 3"}, {`{"author":1}`, "error"}, {`{"author__id__in":[2,3]}`, "2 4 5"},
		{`{"editor__name__isnull":false}`, "1 5"}, {`{"editor__name__ne":"Iain Banks"}`, "2 3 4 5"}, {`{"editor_id__isnull":true}`, "2 3 4"},
		{`{"review_by_book__stars":5}`, "1 2"}, {`{"review_by_book__reader__in":["Bob","Cy"]}`, "1 3"}, {`{"review_by_book__body__isnull":true}`, "1 2 4"},
		{`{"edition_by_book__label__contains":","}`, "2"},
		{`{"price__gt":9,"in_stock":true,"author__name__icontains":"le guin"}`, "1"},
		{`{"tags__isnull":false}`, "1 3"},
		{`{"tags__contains":"utopia"}`, "1"}, {`{"tags__contains":["utopia",1.0]}`, "1"}, {`{"tags__contains":"Utopia"}`, ""}, {`{"tags__contains":{"a":{}}}`, "3"},
		{`{"tags__has_key":"a"}`, "3"}, {`{"tags__has_key":"utopia"}`, ""}, {`{"tags__has_key":"a' or '1'='1"}`, ""}, {`{"tags__has_key":"\" or $.a"}`, ""},
		{`{"tags__overlap":["x",1]}`, "1"}, {`{"tags__overlap":[]}`, ""}, {`{"tags__contained_by":["utopia",1,2]}`, "1"}, {`{"tags__contained_by":["utopia"]}`, ""},
		{`{"published__quarter":2}`, "1 4"}, {`{"published__week":52}`, "2"}, {`{"published__weekday":6}`, "3 4"}, {`{"published__weekday":8}`, ""},
		{`{"nope":1}`, "error"}, {`{"title__near":"x"}`, "error"}, {`{"title__year":1}`, "error"}, {`{"pages":"many"}`, misfit},
		{`{"pages__range":[1]}`, "error"}, {`{"pages__in":[null]}`, "error"}, {`{"in_stock":"yes"}`, misfit}, {`{"published":"1.5.1974"}`, misfit},
		{`{"author__nope":1}`, "error"}, {`{"author__country__name":"Poland"}`, "2 5"}, {`{"author__country__nope":"x"}`, "error"}, {`{"tags":"x"}`, "error"}, {`{"title__contains":"\u0000"}`, "error"},
		{`{"pages":9007199254740993}`, "error"}, {`{"pages":"99999999999"}`, ""},
	} {
		s.check(t, tc.filters, func(t *testing.T) {
			if s.Gateway && !strings.Contains(tc.filters, "isnull") && strings.HasPrefix(tc.filters, `{"tags__`) {
				s.fails(t, "root", "list_book", `{"filters":`+tc.filters+`}`, "invalid_argument") // it has no JSON_TABLE
				return
			}
			arguments := `{"filters":` + tc.filters + `}`
			if tc.ids == misfit && s.Name == contract.EngineSQLite {
				tc.ids = ""
			}
			if tc.ids == misfit || tc.ids == "error" {
				s.fails(t, "root", "list_book", arguments, "invalid_argument")
				return
			}
			page := s.ok(t, "root", "list_book", arguments)
			if got := column(t, page, "id"); got != tc.ids {
				t.Fatalf("got %q, want %q", got, tc.ids)
			}
			want(t, page, fmt.Sprint(len(strings.Fields(tc.ids))), "total_count")
		})
	}
	s.check(t, "a composite key", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_edition", `{"filters":{"id":"1,2"}}`), `"second"`, "results", 0, "label")
		want(t, s.ok(t, "root", "list_edition", `{"filters":{"id__in":["1,1","2,1"]}}`), `2`, "total_count")
	})
	s.check(t, "65 conditions are too many", func(t *testing.T) {
		s.ok(t, "root", "list_book", `{"filters":{"_any":[`+numbered(64, `{"id__gt":%d}`)+`]}}`)
		s.fails(t, "root", "list_book", `{"filters":{"_any":[`+numbered(64, `{"id__gt":%d}`)+`],"pages__gt":1}}`, "invalid_argument")
	})
}

func paging(s *suite, t *testing.T) {
	for _, order := range []string{`[]`, `["-id"]`, `["price"]`, `["-price","title"]`, `["pages"]`, `["-pages"]`, `["published","-title"]`, `["editor_id"]`, `["in_stock","-editor_id","title"]`} {
		s.check(t, "cursors walk through all, ordered by "+order, func(t *testing.T) {
			all := column(t, s.ok(t, "root", "list_book", `{"order_by":`+order+`}`), "id")
			var walked []string
			cursor := ""
			for range 9 {
				arguments := `{"limit":2,"order_by":` + order
				if cursor != "" {
					arguments += `,"cursor":"` + cursor + `"`
				}
				page := s.ok(t, "root", "list_book", arguments+`}`)
				want(t, page, `5`, "total_count")
				walked = append(walked, column(t, page, "id"))
				next, more := page["next_cursor"].(string)
				if !more {
					break
				}
				cursor = next
			}
			if got := strings.Join(walked, " "); got != all {
				t.Fatalf("walked %q, want %q", got, all)
			}
		})
	}
	first := s.ok(t, "root", "list_book", `{"limit":2,"order_by":["price"]}`)
	cursor, _ := first["next_cursor"].(string)
	s.check(t, "a cursor takes another limit and other fields", func(t *testing.T) {
		page := s.ok(t, "root", "list_book", `{"limit":1,"order_by":["price"],"fields":["title"],"cursor":"`+cursor+`"}`)
		if got := column(t, page, "id"); got != "3" {
			t.Fatalf("got %q, want %q", got, "3")
		}
	})
	for name, arguments := range map[string]string{
		"another order":  `{"limit":2,"order_by":["-price"],"cursor":"` + cursor + `"}`,
		"no order":       `{"limit":2,"cursor":"` + cursor + `"}`,
		"another filter": `{"order_by":["price"],"filters":{"id__gt":0},"cursor":"` + cursor + `"}`,
		"a search":       `{"order_by":["price"],"search":"the","cursor":"` + cursor + `"}`,
		"an offset":      `{"order_by":["price"],"offset":1,"cursor":"` + cursor + `"}`,
		"a changed text": `{"order_by":["price"],"cursor":"A` + cursor + `"}`,
		"any text":       `{"order_by":["price"],"cursor":"nonsense"}`,
	} {
		s.check(t, "a cursor is refused with "+name, func(t *testing.T) { s.fails(t, "root", "list_book", arguments, "invalid_argument") })
	}
	s.check(t, "a cursor is refused on another model", func(t *testing.T) {
		s.fails(t, "root", "list_review", `{"cursor":"`+cursor+`"}`, "invalid_argument")
	})
	s.check(t, "a cursor is refused under another row policy", func(t *testing.T) {
		s.fails(t, "clerk", "list_book", `{"limit":2,"order_by":["price"],"cursor":"`+cursor+`"}`, "invalid_argument")
	})
	s.check(t, "a cursor tells nothing", func(t *testing.T) {
		if strings.Contains(cursor, "price") || len(cursor) < 20 {
			t.Fatalf("got the cursor %q, want a longer one without the field", cursor)
		}
	})
	s.check(t, "a row that came in between is not skipped over twice", func(t *testing.T) {
		s.writes(t)
		page := s.ok(t, "root", "list_category", `{"limit":2}`)
		if _, err := s.plain.Exec(`insert into category (id, name) values (0, 'before')`); err != nil {
			t.Fatal(err)
		}
		next := s.ok(t, "root", "list_category", `{"limit":2,"cursor":"`+page["next_cursor"].(string)+`"}`)
		if got := column(t, next, "id"); got != "3 4" {
			t.Fatalf("got %q, want %q", got, "3 4")
		}
	})
}

func reading(s *suite, t *testing.T) {
	s.check(t, "one row", func(t *testing.T) {
		for _, id := range []string{`2`, `"2"`} {
			want(t, s.ok(t, "root", "get_book", `{"id":`+id+`}`), `"Solaris"`, "title")
		}
	})
	s.check(t, "a text key", func(t *testing.T) {
		want(t, s.ok(t, "root", "get_country", `{"id":"PL"}`), `{"id":"PL","code":"PL","name":"Poland"}`)
	})
	s.check(t, "a composite key", func(t *testing.T) {
		want(t, s.ok(t, "root", "get_edition", `{"id":"2,1"}`), `{"id":"2,1","book_id":2,"number":1,"label":"polish, original"}`)
	})
	s.check(t, "json as it is, digits kept", func(t *testing.T) {
		want(t, s.ok(t, "root", "get_book", `{"id":3}`), `{"a":{"b":12345678901234567890}}`, "tags")
	})
	for arguments, code := range map[string]string{
		`{"id":99}`: "not_found", `{}`: "invalid_argument", `{"id":null}`: "invalid_argument", `{"id":"x"}`: "invalid_argument",
		`{"id":1.5}`: "invalid_argument", `{"id":[1]}`: "invalid_argument", `{"id":9007199254740993}`: "invalid_argument", `{"id":1,"nope":1}`: "invalid_argument",
	} {
		s.check(t, "get with "+arguments, func(t *testing.T) { s.fails(t, "root", "get_book", arguments, code) })
	}
	s.check(t, "a composite key with too few parts", func(t *testing.T) { s.fails(t, "root", "get_edition", `{"id":"2"}`, "invalid_argument") })
	s.check(t, "inlines", func(t *testing.T) {
		row := s.ok(t, "root", "get_book", `{"id":1,"include_inlines":true}`)
		want(t, row, `[{"id":1,"book_id":1,"reader":"Ann","stars":5,"body":"Superb."},{"id":2,"book_id":1,"reader":"Bob","stars":4,"body":null}]`, "_inlines", "review")
		want(t, row, `"1,2"`, "_inlines", "edition", 1, "id")
	})
	s.check(t, "related", func(t *testing.T) {
		row := s.ok(t, "root", "get_book", `{"id":1,"include_related":true}`)
		want(t, row, `"Ursula K. Le Guin"`, "_related", "author", 0, "name")
		want(t, row, `"Iain Banks"`, "_related", "editor", 0, "name")
		want(t, row, `2`, "_related", "review_by_book", 1, "id")
	})
	pieces(s, t)
	s.check(t, "nothing of it unless asked", func(t *testing.T) {
		row := s.ok(t, "root", "get_book", `{"id":1}`)
		if row["_inlines"] != nil || row["_related"] != nil {
			t.Fatalf("got %v, want no _inlines and no _related", row)
		}
	})
	s.check(t, "inlines only of what the token may view", func(t *testing.T) {
		row := s.ok(t, "bookish", "get_book", `{"id":1,"include_inlines":true,"include_related":true}`)
		want(t, row, `{}`, "_inlines")
		want(t, row, `{}`, "_related")
	})
	s.check(t, "autocomplete", func(t *testing.T) {
		want(t, s.ok(t, "root", "autocomplete_book", `{"term":"SOLAR"}`),
			`{"model":"book","term":"SOLAR","count":2,"results":[{"id":2,"text":"Solaris"},{"id":5,"text":"solaris again"}]}`)
		want(t, s.ok(t, "root", "autocomplete_book", `{"term":"sol","limit":1}`), `1`, "count")
		want(t, s.ok(t, "root", "autocomplete_country", `{"term":"pol"}`), `"PL"`, "results", 0, "id")
	})
	s.check(t, "describe", func(t *testing.T) {
		d := s.ok(t, "root", "describe_book", `{}`)
		fields := map[string]object{}
		for _, f := range d["fields"].([]any) {
			fields[f.(object)["name"].(string)] = f.(object)
		}
		want(t, fields["region"], `[{"value":"emea","label":"Europe"},{"value":"apac","label":"apac"},{"value":"amer","label":"amer"}]`, "choices")
		want(t, fields["region"], `"Where it is sold."`, "help_text")
		want(t, fields["title"], `200`, "max_length")
		want(t, fields["title"], `true`, "required")
		want(t, fields["pages"], `false`, "required")
		want(t, fields["published"], `false`, "editable")
		want(t, fields["card_number"], `null`, "editable") // masked: given to new rows, and never changed
		want(t, fields["id"], `true`, "primary_key")
		want(t, fields["isbn"], `true`, "unique")
		want(t, d, `["review","edition"]`, "admin_config", "inlines")
		if config := d["admin_config"].(object); len(config) != 6 {
			t.Fatalf("got %d: %v, want %d", len(config), config, 6)
		}
	})
	s.check(t, "find_models", func(t *testing.T) {
		found := s.ok(t, "bookish", "find_models", `{}`)
		want(t, found, `1`, "count")
		operations := s.operations(t, "bookish")["book"]
		for _, operation := range []string{"list", "get", "create", "update", "delete", "describe", "actions", "action", "bulk", "history", "autocomplete"} {
			if !strings.Contains(operations, operation) {
				t.Errorf("%s is not among %s", operation, operations)
			}
		}
	})
}

// pieces reads values piece by piece: texts by characters, bytes by bytes.
func pieces(s *suite, t *testing.T) {
	created := s.ok(t, "root", "create_sample", `{"data":{"words":"aé\"𝄞z","raw":"AP8Q","doc":{"a":[1,2]}}}`)
	id := fmt.Sprint(at(t, created, "id"))
	for _, test := range []struct{ name, arguments, want string }{
		{"the beginning of a text", `"field":"words","length":2`, `{"id":` + id + `,"field":"words","offset":0,"value":"aé","next_offset":2,"notice":"more characters: offset 2"}`},
		{"the middle of a text", `"field":"words","offset":2,"length":2`, `{"id":` + id + `,"field":"words","offset":2,"value":"\"𝄞","next_offset":4,"notice":"more characters: offset 4"}`},
		{"the end of a text", `"field":"words","offset":4,"length":2`, `{"id":` + id + `,"field":"words","offset":4,"value":"z"}`},
		{"a whole text", `"field":"words"`, `{"id":` + id + `,"field":"words","offset":0,"value":"aé\"𝄞z"}`},
		{"behind the end", `"field":"words","offset":9999999999`, `{"id":` + id + `,"field":"words","offset":9999999999,"value":""}`},
		{"the beginning of bytes", `"field":"raw","length":2`, `{"id":` + id + `,"field":"raw","offset":0,"value":"AP8=","next_offset":2,"notice":"more bytes: offset 2"}`},
		{"the end of bytes", `"field":"raw","offset":2,"length":2`, `{"id":` + id + `,"field":"raw","offset":2,"value":"EA=="}`},
	} {
		s.check(t, test.name, func(t *testing.T) {
			want(t, s.ok(t, "root", "get_sample", `{"id":`+id+`,`+test.arguments+`}`), test.want)
		})
	}
	s.check(t, "a piece of JSON", func(t *testing.T) {
		whole, text := at(t, s.ok(t, "root", "get_sample", `{"id":`+id+`,"field":"doc"}`), "value").(string), ""
		for offset := any(json.Number("0")); offset != nil; {
			page := s.ok(t, "root", "get_sample", fmt.Sprintf(`{"id":%s,"field":"doc","offset":%v,"length":3}`, id, offset))
			text, offset = text+page["value"].(string), page["next_offset"]
		}
		if text != whole || strings.ReplaceAll(whole, " ", "") != `{"a":[1,2]}` {
			t.Fatalf("the pieces are %q, the whole is %q", text, whole)
		}
	})
	s.check(t, "a piece of what is not there", func(t *testing.T) {
		if _, err := s.plain.Exec(`update sample set words = null where id = ` + id); err != nil {
			t.Fatal(err)
		}
		want(t, s.ok(t, "root", "get_sample", `{"id":`+id+`,"field":"words"}`), `{"id":`+id+`,"field":"words","offset":0,"value":null}`)
		s.fails(t, "root", "get_sample", `{"id":123456,"field":"words"}`, "not_found")
	})
}

func relations(s *suite, t *testing.T) {
	s.check(t, "forward", func(t *testing.T) {
		r := s.ok(t, "root", "related_book", `{"id":1,"relation":"author"}`)
		want(t, r, `"single"`, "type")
		want(t, r, `"Ursula K. Le Guin"`, "result", "name")
	})
	s.check(t, "forward to nothing", func(t *testing.T) {
		want(t, s.ok(t, "root", "related_book", `{"id":2,"relation":"editor"}`), `{"relation":"editor","type":"single","result":null}`)
	})
	s.check(t, "back", func(t *testing.T) {
		r := s.ok(t, "root", "related_book", `{"id":1,"relation":"review_by_book","limit":1,"offset":1}`)
		want(t, r, `"many"`, "type")
		want(t, r, `1`, "count")
		want(t, r, `2`, "total_count")
		want(t, r, `"Bob"`, "results", 0, "reader")
	})
	s.check(t, "back by another key", func(t *testing.T) {
		if got := column(t, s.ok(t, "root", "related_author", `{"id":3,"relation":"book_by_editor"}`), "id"); got != "1" {
			t.Fatalf("got %q, want %q", got, "1")
		}
	})
	s.check(t, "to oneself, both ways", func(t *testing.T) {
		want(t, s.ok(t, "root", "related_category", `{"id":2,"relation":"parent"}`), `"all"`, "result", "name")
		if got := column(t, s.ok(t, "root", "related_category", `{"id":1,"relation":"category_by_parent"}`), "id"); got != "2 4" {
			t.Fatalf("got %q, want %q", got, "2 4")
		}
	})
	s.check(t, "a row that is not there", func(t *testing.T) {
		s.fails(t, "root", "related_book", `{"id":77,"relation":"author"}`, "not_found")
	})
	s.check(t, "no such relation", func(t *testing.T) {
		s.fails(t, "root", "related_book", `{"id":1,"relation":"publisher"}`, "invalid_argument")
		s.fails(t, "root", "related_book", `{"id":1}`, "invalid_argument")
	})
	s.check(t, "a relation to what the token may not view does not exist", func(t *testing.T) {
		hidden, _ := s.call(t, "bookish", "related_book", `{"id":1,"relation":"author"}`)
		none, _ := s.call(t, "bookish", "related_book", `{"id":1,"relation":"nothing"}`)
		if strings.ReplaceAll(hidden["error"].(string), "author", "nothing") != none["error"] {
			t.Fatalf("%v and %v differ", hidden, none)
		}
	})
}
