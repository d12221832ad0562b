package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The rows of kinds are a tree: 2 and 3 are below 1, 4 and 5 below 2, 6 below 4.
func TestConditionsOnEachEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for filters, want := range map[string]string{
			`{"parent__parent__id":1}`:                                          "[4 5]",
			`{"parent__name__isnull":true}`:                                     "[1]",
			`{"parent__id__ne":1}`:                                              "[1 4 5 6]",
			`{"parent__parent__parent__parent":9,"id":1}`:                       "[]",
			`{"kinds_by_parent__any":{"big__gt":5,"name":"a","parent_id":2}}`:   "[2]",
			`{"kinds_by_parent__big__gt":5,"kinds_by_parent__price__lt":1}`:     "[1 2]",
			`{"kinds_by_parent__none":{}}`:                                      "[3 5 6]",
			`{"kinds_by_parent__none":{"parent__parent__id":1}}`:                "[1 3 4 5 6]",
			`{"kinds_by_parent__any":{}}`:                                       "[1 2 4]",
			`{"kinds_by_parent__count":2}`:                                      "[1 2]",
			`{"kinds_by_parent__count__gte":1}`:                                 "[1 2 4]",
			`{"kinds_by_parent__count__ne":0}`:                                  "[1 2 4]",
			`{"kinds_by_parent__count__in":[0,1]}`:                              "[3 4 5 6]",
			`{"kinds_by_parent__count__in":[]}`:                                 "[]",
			`{"parent__kinds_by_parent__count__gt":1}`:                          "[2 3 4 5]",
			`{"kinds_by_parent__kinds_by_parent__id":4}`:                        "[1]",
			`{"_any":[{"id":1},{"id":3,"name__isnull":true},{"id":5,"big":1}]}`: "[1 3]",
			`{"_all":[{"id__gt":1},{"id__lt":4}],"_not":{"id":2}}`:              "[3]",
			`{"_not":{"big__gt":0}}`:                                            "[3 6]",
			`{"_not":{"parent__big__lt":"9007199254740993"}}`:                   "[1 2 3 6]",
			`{"_not":{}}`:   "[]",
			`{"_any":[{}]}`: "[1 2 3 4 5 6]",
			`{"_any":[{"_all":[{"_not":{"_any":[{"id":2}]}}]}]}`:                 "[1 3 4 5 6]",
			`{"id__gt":{"_field":"parent_id"}}`:                                  "[2 3 4 5 6]",
			`{"id__ne":{"_field":"parent__id"}}`:                                 "[1 2 3 4 5 6]",
			`{"parent__id":{"_field":"parent_id"}}`:                              "[2 3 4 5 6]",
			`{"big__lt":{"_field":"parent__big"}}`:                               "[2]",
			`{"price__lt":{"_field":"ratio"}}`:                                   "[1 2 4 5]",
			`{"price__gte":{"_field":"big"}}`:                                    "[]",
			`{"day__lt":{"_field":"moment"}}`:                                    "[1 2 5]",
			`{"big__gt":{"_measure":{"avg":"big"}}}`:                             "[4]",
			`{"price__lte":{"_measure":{"avg":"price","filters":{"id__ne":4}}}}`: "[1 5]",
			`{"ratio":{"_measure":{"max":"ratio"}}}`:                             "[4]",
			`{"id":{"_measure":{"count":"*"}}}`:                                  "[6]",
			`{"parent__day":{"_measure":{"min":"day"}}}`:                         "[2 3]",
			`{"kinds_by_parent__any":{"big__gte":{"_measure":{"max":"parent__big","filters":{"parent__id__lt":4}}}}}`: "[2]",
			`{"id__lt":{"_measure":{"avg":"id","model":"kinds"}}}`:                                                    "[1 2 3]",
			`{"id__gt":{"_measure":{"max":"id","filters":{"id":99}}}}`:                                                "[]",
			`{"moment":{"_field":"instant"}}`:                                                                         "[1 2 4 5]",
			`{"kinds_by_parent__any":{"id__gt":{"_field":"parent__parent_id"}}}`:                                      "[2 4]",
		} {
			got := ids(l.must(readerText, "list_kinds", `{"order_by":["id"],"filters":`+filters+`}`))
			if fmt.Sprint(got) != want {
				t.Errorf("%s: %v, want %s", filters, got, want)
			}
			if n := l.must(readerText, "aggregate_kinds", `{"measures":{"n":{"count":"*"}},"filters":`+filters+`}`); fmt.Sprint(n["results"]) != fmt.Sprintf("[map[n:%d]]", len(got)) {
				t.Errorf("%s: aggregate_ counts %v, list_ has %v", filters, n["results"], got)
			}
		}
	})
}

func TestPathsOnEachEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for _, c := range []struct{ tool, arguments, want string }{
			{"list_kinds", `{"limit":2,"offset":3,"fields":["name","parent__price","parent__parent__id"],"order_by":["id"]}`,
				`[{"id":4,"name":"ä","parent__price":"0.000002","parent__parent__id":1},{"id":5,"name":"a","parent__price":"0.000002","parent__parent__id":1}]`},
			{"related_kinds", `{"id":2,"relation":"kinds_by_parent","fields":["parent__name"],"order_by":["-id"],"filters":{"parent__parent__id":1}}`,
				`[{"id":5,"parent__name":"A"},{"id":4,"parent__name":"A"}]`},
			{"aggregate_kinds", `{"group_by":["parent__id"],"measures":{"n":{"count":"*"},"b":{"count":"big"},"d":{"count_distinct":"big","filters":{"id__lt":5}}},"order_by":["-n"],"having":{"parent__id__isnull":false}}`,
				`[{"parent__id":1,"n":2,"b":1,"d":1},{"parent__id":2,"n":2,"b":2,"d":1},{"parent__id":4,"n":1,"b":0,"d":0}]`},
			{"aggregate_kinds", `{"group_by":["moment__year","moment__month","day__weekday"],"filters":{"id__in":[1,3]},"order_by":["moment__year"],"having":{"moment__year__isnull":false}}`,
				`[{"moment__year":2026,"moment__month":"2026-01","day__weekday":3}]`},
			{"aggregate_kinds", `{"measures":{"s":{"sum":"price"},"a":{"avg":"price"},"m":{"max":"day"},"all":{"count":"*"},"some":{"count":"price"},"r":{"ratio":["some","all"]}},"filters":{"id__ne":4}}`,
				`[{"s":"0.000004","a":"0.000001333333","m":"1970-01-01","all":5,"some":3,"r":"0.600000"}]`},
			{"aggregate_kinds", `{"measures":{"s":{"sum":"price"},"a":{"avg":"big"},"n":{"count":"*"},"r":{"ratio":["s","n"]}},"filters":{"id":99}}`,
				`[{"s":null,"a":null,"n":0,"r":null}]`},
			{"aggregate_kinds", `{"group_by":["parent__id"],"measures":{"most":{"max":"big"}},"having":{"most__gte":{"_measure":{"max":"big"}}}}`,
				`[{"parent__id":2,"most":"9223372036854775807"}]`},
			{"aggregate_kinds", `{"group_by":["name"],"having":{"_any":[{"name":"ä"},{"name__isnull":true}]}}`, ``},
		} {
			r := l.call(readerText, c.tool, c.arguments)
			var got struct{ Results json.RawMessage }
			if err := json.Unmarshal(r.Text, &got); err != nil || r.IsError || c.want != "" && string(got.Results) != c.want {
				t.Errorf("%s %s: %s (%v)\nwant %s", c.tool, c.arguments, r.Text, r.Cause, c.want)
			}
		}
		if r := l.call(readerText, "get_kinds", `{"id":6,"fields":["parent__parent__name"]}`); string(r.Text) != `{"id":6,"parent__parent__name":"A"}` {
			t.Errorf("get_ of a path: %s", r.Text)
		}
	})
}

func TestBoundsOfConditions(t *testing.T) {
	l := newLibrary(t)
	for arguments, want := range map[string]string{
		`{"filters":{"_any":[]}}`:                                                                        `filters: _any: must be a list of at least one condition object, not []`,
		`{"filters":{"_any":{"id":1}}}`:                                                                  `filters: _any: must be a list of at least one condition object, not {\"id\":1}`,
		`{"filters":{"_not":[1]}}`:                                                                       `filters: _not must be an object of field name to value, not [1]`,
		`{"filters":{"_any":[{"titel":1}]}}`:                                                             `filters: _any[0]: titel: book has no field \"titel\" to filter by; it has id, title`,
		`{"filters":{"chapter_by_book__any":{"numer":1}}}`:                                               `filters: chapter_by_book__any: numer: chapter has no field \"numer\"`,
		`{"filters":{"chapter_by_book__any__gt":{}}}`:                                                    `no lookup follows any; its value is a condition object`,
		`{"filters":{"chapter_by_book":1}}`:                                                              `chapter_by_book is a relation to chapter, and only fields have values; use chapter_by_book__id or chapter_by_book__any or chapter_by_book__none or chapter_by_book__count`,
		`{"filters":{"chapter_by_book__count":"many"}}`:                                                  `filters: chapter_by_book__count: must be an integer, or a string of its digits, not \"many\"`,
		`{"filters":{"title":{"_field":"autor"}}}`:                                                       `filters: title: _field: book has no field \"autor\"`,
		`{"filters":{"price__gt":{"_measure":{"mean":"price"}}}}`:                                        `filters: price__gt: _measure: there is no \"mean\"; send \"avg\"`,
		`{"filters":{"price__gt":{"_measure":{"avg":"prize"}}}}`:                                         `filters: price__gt: _measure: book has no field \"prize\"`,
		`{"filters":{"price__gt":{"_measure":{"avg":"price","model":"stock"}}}}`:                         `_measure: model: there is no model \"stock\" that you may view`,
		`{"filters":{"price__gt":{"_measure":{"max":"title"}}}}`:                                         `a field of type decimal cannot be compared with _measure of type text`,
		`{"filters":{"price__gt":{"_measure":{"avg":"price","filters":{"x":1}}}}}`:                       `filters: price__gt: _measure: filters: x: book has no field`,
		`{"filters":{"title":{"_field":"price"}}}`:                                                       `a field of type text cannot be compared with _field of type decimal`,
		`{"filters":{"title__icontains":{"_field":"isbn"}}}`:                                             `_field goes with the lookups exact, ne, gt, gte, lt and lte`,
		`{"filters":{"title":{"_field":"author__book_by_author__title"}}}`:                               `book_by_author leads to many rows of book`,
		`{"filters":` + strings.Repeat(`{"_not":`, 5) + `{}` + strings.Repeat(`}`, 5) + `}`:              `at most 5 levels deep`,
		`{"filters":{"_any":[` + strings.TrimSuffix(strings.Repeat(`{"id":1},`, 64), ",") + `],"id":1}}`: `filters: at most 64 conditions`,
		`{"filters":{"author__book_by_author__author__book_by_author__author__name":"x"}}`:               `a path may go through at most 4 relations`,
		`{"fields":["author__nam"]}`:                                                                     `fields: author__nam: author has no field \"nam\"; the fields are id, name, branch`,
		`{"fields":["chapter_by_book__title"]}`:                                                          `chapter_by_book leads to many rows of chapter, so it has no single value here; send chapter_by_book__count, or chapter_by_book__sum__field (also avg, min, max)`,
		`{"order_by":["-author__nam"]}`:                                                                  `order_by: cannot order by \"author__nam\"; the fields of author to order by are id, name, branch`,
	} {
		if r := l.call(ownerText, "list_book", arguments); r.Code != call.CodeInvalidArgument || !strings.Contains(string(r.Text), want) {
			t.Errorf("%s: %s\nwant %s", arguments, r.Text, want)
		}
	}
	conditions, havings := strings.Repeat(`{"id":1},`, 31)+`{"id":1}`, strings.Repeat(`{"n":1},`, 31)+`{"n":1}`
	for arguments, want := range map[string]string{
		`{}`:                                  `measures or group_by must be there`,
		`{"measures":{}}`:                     `measures or group_by must be there`,
		`{"measures":[1]}`:                    `measures must be an object of name to measure`,
		`{"measures":{"n":{"count":1}}}`:      `measures: n must be {\"count\": \"*\"}`,
		`{"measures":{"n":{"mean":"price"}}}`: `measures: n: mean is of other measures, and \"price\" is none; add it to measures; for the average of a field send {\"avg\": \"price\"}`,
		`{"measures":{"a b":{"count":"*"}}}`:  `measures: a b cannot be a name`,
		`{"measures":{"n":{"count":"*"},"n":{"count":"id"}}}`:                                                                 `measures: the name n is taken`,
		`{"filters":{"_any":[{},` + conditions + `]},"measures":{"n":{"count":"*","filters":{"_any":[` + conditions + `]}}}}`: `measures: at most 64 conditions in one call`,
		`{"filters":{"_any":[{},` + conditions + `]},"measures":{"n":{"count":"*"}},"having":{"_any":[` + havings + `]}}`:     `having: at most 64 conditions in one call`,
		`{"measures":{"n":{"sum":"title"}}}`:                                                                                  `measures: n: sum does not take title, of type text`,
		`{"measures":{"n":{"sum":"*"}}}`:                                                                                      `measures: n: book has no field \"*\"`,
		`{"measures":{"n":{"count":"chapter_by_book__id"}}}`:                                                                  `start from the model chapter`,
		`{"measures":{"r":{"ratio":["a","b"]}}}`:                                                                              `ratio is of other measures, and \"a\" is none`,
		`{"measures":{"r":{"ratio":["r","r"]}}}`:                                                                              `it depends on itself by r`,
		`{"measures":{"r":{"ratio":["a","a"],"filters":{}}}}`:                                                                 `ratio takes no filters`,
		`{"measures":{"n":{"count":"*","filters":{"x":1}}}}`:                                                                  `measures: n: filters: x: book has no field`,
		`{"group_by":["internal"]}`:                                                                                           `group_by: book has no field \"internal\" to group by; the fields are id`,
		`{"group_by":["title","title"]}`:                                                                                      `group_by: title is there twice`,
		`{"group_by":["printed__hour"]}`:                                                                                      `group_by: printed__hour: printed has no part \"hour\"; its parts are day, month, month_of_year, quarter, quarter_of_year, week, weekday, year`,
		`{"group_by":["a","b","c","d","e","f","g"]}`:                                                                          `group_by: at most 6 members, not 7`,
		`{"group_by":["title"],"having":{"n":1}}`:                                                                             `having: n: there is no measure or group \"n\"; there are title`,
		`{"group_by":["title"],"order_by":["n"]}`:                                                                             `order_by: cannot order by \"n\"; the measures and groups to order by are title`,
		`{"group_by":["title"],"total":"all"}`:                                                                                `total must be \"exact\" or \"none\"`,
	} {
		if r := l.call(ownerText, "aggregate_book", arguments); r.Code != call.CodeInvalidArgument || !strings.Contains(string(r.Text), want) {
			t.Errorf("%s: %s\nwant %s", arguments, r.Text, want)
		}
	}
}

func TestGroupsThatAreTooSmall(t *testing.T) {
	l := newLibrary(t, on("chapter", func(m *contract.Model) { m.MinGroupSize = 2 }))
	got := l.must(ownerText, "aggregate_chapter", `{"group_by":["book__id"],"measures":{"n":{"count":"*"},"ones":{"count":"*","filters":{"number":1}},"r":{"ratio":["ones","n"]}}}`)
	if fmt.Sprint(got["results"]) != "[map[book__id:1 n:2 ones:<nil> r:<nil>]]" {
		t.Errorf("got %v", got)
	}
	if got := l.must(ownerText, "aggregate_chapter", `{"measures":{"n":{"count":"*"}},"filters":{"id":1}}`); len(got["results"].([]any)) != 0 {
		t.Errorf("one row: %v", got)
	}
}

// A having that asks for groups that are left out is refused, and does not look as if there were none.
func TestHavingBelowTheSmallestGroup(t *testing.T) {
	l := newLibrary(t, on("chapter", func(m *contract.Model) { m.MinGroupSize = 3 }))
	call := func(having string) (text string, refused bool) {
		r := l.call(ownerText, "aggregate_chapter", `{"group_by":["book__id"],"measures":{"n":{"count":"*"},"ones":{"count":"*","filters":{"number":1}},"s":{"sum":"number"}},"having":`+having+`}`)
		return string(r.Text), r.IsError
	}
	for _, having := range []string{
		`{"n":2}`, `{"n":0}`, `{"n":-1}`, `{"n__lt":3}`, `{"n__lt":1}`, `{"n__lte":2}`, `{"n__in":[5,2]}`, `{"n__range":[1,2]}`, `{"n__range":[-5,2]}`,
		`{"_not":{"n__gte":3}}`, `{"_not":{"n__gt":2}}`, `{"_any":[{"s":1},{"n":1}]}`, `{"_all":[{"_not":{"_not":{"n":2}}}]}`,
	} {
		const want = `{"error":"having: n: n is at least 3 in every answer, as smaller groups are left out; ask for 3 or more","code":"invalid_argument"}`
		if text, _ := call(having); text != want {
			t.Errorf("%s: %s", having, text)
		}
	}
	for _, having := range []string{
		`{"n":3}`, `{"n__lt":4}`, `{"n__lte":3}`, `{"n__in":[3,4]}`, `{"n__range":[1,5]}`, `{"n__gt":0}`, `{"n__ne":2}`, `{"_not":{"n__lt":3}}`,
		`{"_not":{"n":1}}`, `{"_not":{"n__gt":3}}`, `{"s__lt":2}`, `{"ones__lt":2}`, `{"n__lt":{"_field":"s"}}`,
	} {
		if text, refused := call(having); refused {
			t.Errorf("%s: %s", having, text)
		}
	}
}

func TestManyKeysOfSeveralColumns(t *testing.T) {
	l := newLibrary(t)
	keys := []string{`"1,sand"`}
	for i := range 999 {
		keys = append(keys, fmt.Sprintf(`"%d,sand"`, i+100))
	}
	if answer := l.must(ownerText, "list_tag", `{"filters":{"id__in":[`+strings.Join(keys, ",")+`]}}`); answer["count"] != 1.0 {
		t.Errorf("got %v", answer)
	}
	if answer := l.must(ownerText, "list_tag", `{"filters":{"id__in":[]}}`); answer["count"] != 0.0 {
		t.Errorf("of none: %v", answer)
	}
}
