package engines

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// questions are calls with their answers, which are the same on every engine, byte for byte.
var questions = []struct{ name, token, tool, arguments, answer string }{
	{"fields and order by path", "viewer", "list_book", `{"fields":["title","author__country__name","editor__name"],"order_by":["author__name","-title"],"filters":{"id__lt":5}}`,
		`{"count":4,"total_count":4,"results":[{"id":4,"title":"Excession","author__country__name":"United Kingdom","editor__name":null},{"id":2,"title":"Solaris","author__country__name":"Poland","editor__name":null},{"id":3,"title":"The Left Hand of Darkness","author__country__name":"United States","editor__name":null},{"id":1,"title":"The Dispossessed","author__country__name":"United States","editor__name":"Iain Banks"}]}`},
	{"a row that is missing is null", "viewer", "list_book", `{"fields":["editor__name"]}`,
		`{"count":5,"total_count":5,"results":[{"id":1,"editor__name":"Iain Banks"},{"id":2,"editor__name":null},{"id":3,"editor__name":null},{"id":4,"editor__name":null},{"id":5,"editor__name":"Ursula K. Le Guin"}]}`},
	{"get_ takes paths", "viewer", "get_review", `{"id":1,"fields":["stars","book__author__name"]}`,
		`{"id":1,"stars":5,"book__author__name":"Ursula K. Le Guin"}`},
	{"related_ takes filters, order and paths", "viewer", "related_author", `{"id":1,"relation":"book_by_author","filters":{"price__gt":"5"},"order_by":["-title"],"fields":["title","editor__name"]}`,
		`{"relation":"book_by_author","type":"many","count":2,"total_count":2,"results":[{"id":3,"title":"The Left Hand of Darkness","editor__name":null},{"id":1,"title":"The Dispossessed","editor__name":"Iain Banks"}]}`},
	{"autocomplete_ takes filters", "viewer", "autocomplete_book", `{"term":"so","filters":{"author__country__name":"Poland","review_by_book__none":{}}}`,
		`{"model":"book","term":"so","count":1,"results":[{"id":5,"text":"solaris again"}]}`},
	{"one of several", "viewer", "list_book", `{"fields":["title"],"filters":{"_any":[{"author__country_id":"PL","price__lt":"9"},{"pages__gt":400}],"_not":{"title":"Solaris"}}}`,
		`{"count":2,"total_count":2,"results":[{"id":4,"title":"Excession"},{"id":5,"title":"solaris again"}]}`},
	{"not: unknown does not hold", "viewer", "list_book", `{"fields":["pages"],"filters":{"_not":{"pages__gt":300}}}`,
		`{"count":3,"total_count":3,"results":[{"id":2,"pages":204},{"id":3,"pages":286},{"id":5,"pages":null}]}`},
	{"one and the same related row", "viewer", "list_book", `{"fields":["title"],"filters":{"review_by_book__any":{"reader":"Bob","stars":5}}}`,
		`{"count":0,"total_count":0,"results":[]}`},
	{"two conditions, two related rows", "viewer", "list_book", `{"fields":["title"],"filters":{"review_by_book__reader":"Bob","review_by_book__stars":5}}`,
		`{"count":1,"total_count":1,"results":[{"id":1,"title":"The Dispossessed"}]}`},
	{"no related row", "viewer", "list_author", `{"fields":["name"],"filters":{"book_by_author__none":{}}}`,
		`{"count":1,"total_count":1,"results":[{"id":4,"name":"Nobody"}]}`},
	{"all related rows", "viewer", "list_author", `{"fields":["name"],"filters":{"book_by_author__count__gt":0,"book_by_author__none":{"in_stock":false}}}`,
		`{"count":2,"total_count":2,"results":[{"id":3,"name":"Iain Banks"},{"id":2,"name":"Stanisław Lem"}]}`},
	{"how many related rows", "viewer", "list_author", `{"fields":["name"],"filters":{"book_by_author__count__in":[1,2]}}`,
		`{"count":3,"total_count":3,"results":[{"id":3,"name":"Iain Banks"},{"id":2,"name":"Stanisław Lem"},{"id":1,"name":"Ursula K. Le Guin"}]}`},
	{"another field of the row, and of a related one", "viewer", "list_book", `{"fields":["title"],"filters":{"editor_id__gt":{"_field":"author_id"},"author__born__lt":{"_field":"published"}}}`,
		`{"count":1,"total_count":1,"results":[{"id":1,"title":"The Dispossessed"}]}`},
	{"measures of all rows", "viewer", "aggregate_book", `{"measures":{"n":{"count":"*"},"paged":{"count":"pages"},"authors":{"count_distinct":"author_id"},"sum":{"sum":"price"},"avg":{"avg":"pages"},"first":{"min":"published"},"last":{"max":"isbn"},"share":{"ratio":["paged","n"]}}}`,
		`{"count":1,"results":[{"n":5,"paged":4,"authors":3,"sum":"53.50","avg":"320.500000","first":"1961-01-01","last":"isbn-4","share":"0.800000"}]}`},
	{"measures of no rows", "viewer", "aggregate_book", `{"filters":{"id":99},"measures":{"n":{"count":"*"},"sum":{"sum":"price"},"avg":{"avg":"pages"},"r":{"ratio":["sum","n"]}}}`,
		`{"count":1,"results":[{"n":0,"sum":null,"avg":null,"r":null}]}`},
	{"groups by path, with null", "viewer", "aggregate_book", `{"group_by":["editor__name"],"measures":{"n":{"count":"*"},"sum":{"sum":"price"}},"order_by":["-n"]}`,
		`{"count":3,"results":[{"editor__name":null,"n":3,"sum":"33.00"},{"editor__name":"Iain Banks","n":1,"sum":"12.50"},{"editor__name":"Ursula K. Le Guin","n":1,"sum":"8.00"}]}`},
	{"filters of measures", "viewer", "aggregate_review", `{"group_by":["reader"],"measures":{"n":{"count":"*"},"good":{"count":"*","filters":{"stars__gte":4}},"share":{"ratio":["good","n"]}},"having":{"n__gt":1}}`,
		`{"count":1,"results":[{"reader":"Ann","n":3,"good":2,"share":"0.666666666667"}]}`},
	{"parts of dates", "viewer", "aggregate_book", `{"group_by":["published__year","published__quarter","published__month","published__week","published__weekday"],"filters":{"published__isnull":false}}`,
		`{"count":4,"results":[{"published__year":1961,"published__quarter":"1961-Q1","published__month":"1961-01","published__week":"1960-W52","published__weekday":7},{"published__year":1969,"published__quarter":"1969-Q1","published__month":"1969-03","published__week":"1969-W09","published__weekday":6},{"published__year":1974,"published__quarter":"1974-Q2","published__month":"1974-05","published__week":"1974-W18","published__weekday":3},{"published__year":1996,"published__quarter":"1996-Q2","published__month":"1996-06","published__week":"1996-W22","published__weekday":6}]}`},
	{"distinct values", "viewer", "aggregate_book", `{"group_by":["author__country__name"],"total":"exact"}`,
		`{"count":3,"total_groups":3,"results":[{"author__country__name":"Poland"},{"author__country__name":"United Kingdom"},{"author__country__name":"United States"}]}`},
	{"pages of groups", "viewer", "aggregate_book", `{"group_by":["title"],"order_by":["-title"],"limit":1,"offset":1,"total":"exact"}`,
		`{"count":1,"total_groups":5,"results":[{"title":"The Left Hand of Darkness"}],"next_offset":2,"notice":"more groups: offset 2"}`},
	{"search", "viewer", "aggregate_book", `{"search":"solaris","measures":{"n":{"count":"*"}}}`,
		`{"count":1,"results":[{"n":2}]}`},
	{"having by a group and another measure", "viewer", "aggregate_book", `{"group_by":["region"],"measures":{"n":{"count":"*"},"paged":{"count":"pages"}},"having":{"_any":[{"region":"apac"},{"paged__lt":{"_field":"n"}}]}}`,
		`{"count":2,"results":[{"region":"apac","n":1,"paged":1},{"region":"emea","n":3,"paged":2}]}`},
	// The policy of books holds on every way to them: clerk sees 1, 2 and 5.
	{"a policy in a path", "clerk", "list_review", `{"fields":["book__title"],"order_by":["reader"]}`,
		`{"count":5,"total_count":5,"rows":"policy","results":[{"id":1,"book__title":"The Dispossessed"},{"id":3,"book__title":"Solaris"},{"id":5,"book__title":null},{"id":2,"book__title":"The Dispossessed"},{"id":4,"book__title":null}]}`},
	{"a policy in an order", "clerk", "list_review", `{"fields":["stars"],"order_by":["-book__title"],"filters":{"stars":2},"format":"columns"}`,
		`{"count":1,"total_count":1,"limited":"policy","columns":["id","stars"],"rows":[[4,2]]}`},
	{"a policy in a comparison", "clerk", "list_review", `{"fields":["stars"],"filters":{"stars":2,"id__ne":{"_field":"book__id"}}}`,
		`{"count":1,"total_count":1,"rows":"policy","results":[{"id":4,"stars":2}]}`},
	{"a policy in a path of related rows", "clerk", "related_country", `{"id":"US","relation":"author_by_country","fields":["name"],"filters":{"book_by_author__none":{"id":99}}}`,
		`{"relation":"author_by_country","type":"many","count":1,"total_count":1,"rows":"policy","results":[{"id":1,"name":"Ursula K. Le Guin"}]}`},
	{"a policy in a measure", "clerk", "aggregate_review", `{"measures":{"n":{"count_distinct":"book__region"}}}`,
		`{"count":1,"rows":"policy","results":[{"n":1}]}`},
	{"a policy in the measure of another model", "clerk", "list_review", `{"fields":["stars"],"filters":{"stars":2,"id__gt":{"_measure":{"model":"book","min":"id"}}}}`,
		`{"count":1,"total_count":1,"rows":"policy","results":[{"id":4,"stars":2}]}`},
	{"values of another model", "viewer", "list_book", `{"fields":["title"],"filters":{"id__in":{"_values":{"model":"review","field":"book_id","filters":{"stars":5}}}}}`,
		`{"count":2,"total_count":2,"results":[{"id":1,"title":"The Dispossessed"},{"id":2,"title":"Solaris"}]}`},
	{"values of the same model, in a list of one field", "viewer", "list_author", `{"fields":["name"],"filters":{"id":{"_values":{"model":"book","field":"editor_id"}}}}`,
		`{"count":2,"total_count":2,"results":[{"id":3,"name":"Iain Banks"},{"id":1,"name":"Ursula K. Le Guin"}]}`},
	{"none of several values: null is no value", "viewer", "list_author", `{"fields":["name"],"filters":{"_not":{"id__in":{"_values":{"model":"book","field":"editor_id"}}}}}`,
		`{"count":2,"total_count":2,"results":[{"id":4,"name":"Nobody"},{"id":2,"name":"Stanisław Lem"}]}`},
	{"none of several values: null is none of them", "viewer", "aggregate_book", `{"measures":{"n":{"count":"*","filters":{"_not":{"editor_id__in":{"_values":{"field":"author_id"}}}}}}}`,
		`{"count":1,"results":[{"n":3}]}`},
	{"values at the end of a path", "viewer", "list_country", `{"filters":{"id__in":{"_values":{"model":"book","field":"author__country_id","filters":{"author__name__startswith":"I"}}}}}`,
		`{"count":1,"total_count":1,"results":[{"id":"GB","code":"GB","name":"United Kingdom"}]}`},
	{"values of another type", "viewer", "list_book", `{"fields":["title"],"filters":{"pages__in":{"_values":{"model":"book","field":"price"}}}}`,
		`{"count":0,"total_count":0,"results":[]}`},
	{"values of dates", "viewer", "aggregate_book", `{"measures":{"n":{"count":"*"}},"filters":{"published__in":{"_values":{"field":"published","filters":{"published":"1974"}}}}}`,
		`{"count":1,"results":[{"n":1}]}`},
	{"values in values", "viewer", "list_country", `{"filters":{"id__in":{"_values":{"model":"author","field":"country_id","filters":{"id__in":{"_values":{"model":"book","field":"author_id","filters":{"price__lt":"9"}}}}}}}}`,
		`{"count":1,"total_count":1,"results":[{"id":"PL","code":"PL","name":"Poland"}]}`},
	{"a policy in values", "clerk", "list_review", `{"fields":["stars"],"filters":{"book_id__in":{"_values":{"model":"book","field":"id"}}}}`,
		`{"count":3,"total_count":3,"rows":"policy","results":[{"id":1,"stars":5},{"id":2,"stars":4},{"id":3,"stars":5}]}`},
	{"a policy in values, and in what is none of them", "clerk", "list_review", `{"fields":["stars"],"filters":{"_not":{"book_id__in":{"_values":{"model":"book","field":"id"}}}}}`,
		`{"count":2,"total_count":2,"rows":"policy","results":[{"id":4,"stars":2},{"id":5,"stars":3}]}`},
	{"a policy at no end", "clerk", "list_review", `{"fields":["stars"],"filters":{"stars":2}}`,
		`{"count":1,"total_count":1,"results":[{"id":4,"stars":2}]}`},
	{"a policy in a group", "clerk", "aggregate_review", `{"group_by":["book__region"],"measures":{"n":{"count":"*"}},"order_by":["-n"]}`,
		`{"count":2,"rows":"policy","results":[{"book__region":"emea","n":3},{"book__region":null,"n":2}]}`},
	{"a policy in a count", "clerk", "list_author", `{"fields":["name"],"filters":{"book_by_author__count":1}}`,
		`{"count":1,"total_count":1,"rows":"policy","results":[{"id":1,"name":"Ursula K. Le Guin"}]}`},
	{"a policy in none", "clerk", "list_author", `{"fields":["name"],"filters":{"book_by_author__none":{}}}`,
		`{"count":2,"total_count":2,"rows":"policy","results":[{"id":3,"name":"Iain Banks"},{"id":4,"name":"Nobody"}]}`},
	{"a policy in aggregates", "clerk", "aggregate_book", `{"measures":{"n":{"count":"*"},"sum":{"sum":"price"}}}`,
		`{"count":1,"rows":"policy","results":[{"n":3,"sum":"28.50"}]}`},
}

func asking(s *suite, t *testing.T) {
	for _, q := range questions {
		s.check(t, q.name, func(t *testing.T) {
			text, _ := s.endpoint.Call(secret(q.token), q.tool, q.arguments)
			if s.skipRefused(t, text); text != q.answer {
				t.Errorf("%s %s:\n got %s\nwant %s", q.tool, q.arguments, text, q.answer)
			}
		})
	}
	s.check(t, "pages by a path hold each row once", func(t *testing.T) {
		for _, order := range []string{`["editor__name"]`, `["-editor__born","author__name"]`} {
			whole := column(t, s.ok(t, "viewer", "list_book", `{"order_by":`+order+`}`), "id")
			var walked []string
			page := s.ok(t, "viewer", "list_book", `{"limit":2,"order_by":`+order+`}`)
			for range 3 {
				walked = append(walked, column(t, page, "id"))
				if page["next_cursor"] == nil {
					break
				}
				page = s.ok(t, "viewer", "list_book", fmt.Sprintf(`{"limit":2,"order_by":%s,"cursor":%q}`, order, page["next_cursor"]))
			}
			if got := strings.Join(walked, " "); got != whole {
				t.Errorf("%s: pages hold %s, the list %s", order, got, whole)
			}
		}
	})
	s.check(t, "a cursor by a path is bound to the policy of the related rows", func(t *testing.T) {
		const list = `{"limit":1,"order_by":["book__title"]`
		cursor := s.ok(t, "clerk", "list_review", list+`}`)["next_cursor"]
		s.ok(t, "clerk", "list_review", fmt.Sprintf(`%s,"cursor":%q}`, list, cursor))
		for _, other := range []string{"viewer", "lost"} {
			s.fails(t, other, "list_review", fmt.Sprintf(`%s,"cursor":%q}`, list, cursor), "invalid_argument")
		}
	})
	s.check(t, "hidden fields, and models out of sight, look like names that do not exist", s.hiddenInQuestions)
}

// hiddenInQuestions puts names that a token must not learn of in every place of a question.
func (s *suite) hiddenInQuestions(t *testing.T) {
	places := []struct{ tool, form string }{
		{"list_", `{"filters":{"%s":"x"}}`}, {"list_", `{"filters":{"%s__gt":"x"}}`}, {"list_", `{"filters":{"_any":[{"_not":{"%s":"x"}}]}}`},
		{"list_", `{"filters":{"id__gt":{"_field":"%s"}}}`}, {"list_", `{"filters":{"id__in":{"_values":{"field":"%s"}}}}`}, {"list_", `{"order_by":["%s"]}`}, {"autocomplete_", `{"filters":{"%s":"x"}}`},
		{"aggregate_", `{"group_by":["%s"]}`}, {"aggregate_", `{"group_by":["%s__year"]}`}, {"aggregate_", `{"filters":{"%s__isnull":true}}`},
		{"aggregate_", `{"measures":{"n":{"count":"%s"}}}`}, {"aggregate_", `{"measures":{"n":{"max":"%s"}}}`},
		{"aggregate_", `{"measures":{"n":{"count":"*","filters":{"%s":"x"}}}}`},
		{"aggregate_", `{"measures":{"n":{"count":"*"}},"having":{"%s":1}}`}, {"aggregate_", `{"measures":{"n":{"count":"*"}},"order_by":["%s"]}`},
	}
	for _, hidden := range []struct{ token, model, path, name, none string }{
		{"root", "author", "%s", "password_hash", "passwort_hash"}, {"root", "book", "author__%s", "password_hash", "passwort_hash"},
		{"bookish", "book", "%s__name", "author", "autor"}, {"bookish", "book", "%s__stars", "review_by_book", "rewiew_by_book"},
	} {
		name := regexp.MustCompile(hidden.name + `(\b|__)`)
		for _, place := range places {
			tool, form := place.tool+hidden.model, fmt.Sprintf(place.form, hidden.path)
			told := s.fails(t, hidden.token, tool, fmt.Sprintf(form, hidden.name), "invalid_argument")
			none := s.fails(t, hidden.token, tool, fmt.Sprintf(form, hidden.none), "invalid_argument")
			if name.ReplaceAllString(fmt.Sprint(told), hidden.none+"$1") != fmt.Sprint(none) {
				t.Errorf("%s %s of %s: %v\nand %v differ", tool, form, hidden.name, told, none)
			}
		}
	}
}

// An exposure that leaves aggregate out of its operations offers it to nobody.
func TestAggregateIsAnOperation(t *testing.T) {
	s := start(t, harness.Engines[0], func(c *contract.Config) {
		for i := range c.Models {
			if c.Models[i].Name == "book" {
				c.Models[i].Operations = []string{"list", "get"}
			}
		}
	})
	told := s.fails(t, "root", "aggregate_book", `{"measures":{"n":{"count":"*"}}}`, "permission_denied")
	want(t, told, `"aggregate is not offered for book; its tools are list_book, get_book"`, "error")
	if _, body := s.endpoint.Post(secret("root"), `{"method":"tools/list"}`); strings.Contains(body, "aggregate_book") || !strings.Contains(body, "aggregate_author") {
		t.Error("tools/list has aggregate_book, or no aggregate_author")
	}
	s.ok(t, "root", "aggregate_review", `{"group_by":["book__title"]}`)
}
