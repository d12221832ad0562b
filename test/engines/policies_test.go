package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// withRelatedPolicies gives clerks policies that go through one or two relations in both directions, and that any of several
// filters meets.
func withRelatedPolicies(c *contract.Config) {
	region := func(field string) contract.Filter { return contract.Filter{Field: field, TokenAttribute: "region"} }
	filters := map[string][]contract.Filter{
		"vote":     {region("review__book__region")},
		"review":   {{Any: []contract.Filter{{Field: "reader", TokenAttribute: "nickname"}, {Field: "stars", Lookup: "gte", Value: "5"}}}},
		"author":   {{Any: []contract.Filter{region("book_by_author__region"), {Field: "name", Value: "Nobody"}}}},
		"country":  {region("author_by_country__book_by_author__region")},
		"category": {{Any: []contract.Filter{{Field: "parent__parent__name", Value: "all"}, {Field: "category_by_parent__name", Value: "space"}}}},
	}
	vote := contract.Model{Name: "vote", Exposure: "vote", Table: "vote", Expose: true, VerboseName: "vote", VerboseNamePlural: "votes", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000}
	c.Models = append(c.Models, vote)
	for i := range c.Models {
		m := &c.Models[i]
		if own := filters[m.Name]; own != nil {
			m.RowPolicies = []contract.RowPolicy{{Name: "own", Groups: []string{"clerks"}, Filters: own}, {Name: "staff", Groups: []string{"staff"}, AllRows: true}}
		}
	}
}

func relatedPolicies(s *suite, t *testing.T) {
	s = start(t, s.Engine, withRelatedPolicies)
	if s.OnlyReads {
		t.Skip(noWrites)
	}
	if _, err := s.plain.Exec("insert into vote (id, review_id, up) values (4, 4, true)"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ token, model, ids string }{
		{"root", "vote", "1 2 3 4"}, {"clerk", "vote", "1 2 3"}, {"lost", "vote", ""}, {"stranger", "vote", ""},
		{"clerk", "review", "1 3"}, {"lost", "review", "1 3"}, {"stranger", "review", ""},
		{"clerk", "author", "1 2 4"}, {"lost", "author", "4"},
		{"clerk", "category", "2 3"}, {"lost", "category", "2 3"},
	} {
		s.check(t, tc.token+" sees of "+tc.model, func(t *testing.T) {
			page := s.ok(t, tc.token, "list_"+tc.model, `{"order_by":["id"]}`)
			if got := column(t, page, "id"); got != tc.ids {
				t.Fatalf("got %q, want %q", got, tc.ids)
			}
		})
	}
	s.check(t, "through two relations back", func(t *testing.T) {
		if got := column(t, s.ok(t, "clerk", "list_country", `{"order_by":["code"]}`), "code"); got != "PL US" {
			t.Fatalf("got %q, want %q", got, "PL US")
		}
		s.ok(t, "clerk", "update_country", `{"id":"PL","data":{"name":"Polska"}}`)
		s.fails(t, "clerk", "update_country", `{"id":"GB","data":{"name":"x"}}`, "not_found")
		s.fails(t, "clerk", "create_country", `{"data":{"code":"DE","name":"Germany"}}`, "validation_error")
		s.holds(t, "select name from country where code in ('DE', 'GB', 'PL') order by code", "United Kingdom Polska")
	})
	s.check(t, "what is written must meet one of the filters", func(t *testing.T) {
		s.failsOn(t, "clerk", "create_review", `{"data":{"book_id":1,"stars":5}}`, "reader")
		s.fails(t, "clerk", "create_review", `{"data":{"book_id":1,"reader":"Di","stars":4}}`, "validation_error")
		s.ok(t, "clerk", "create_review", `{"data":{"id":90,"book_id":1,"reader":"Di","stars":5}}`)
		s.fails(t, "clerk", "update_review", `{"id":90,"data":{"stars":1}}`, "validation_error")
		s.ok(t, "clerk", "update_review", `{"id":90,"data":{"reader":"Ed"}}`)
		s.ok(t, "clerk", "delete_review", `{"id":90}`)
		s.holds(t, "select count(*) from review", "5")
	})
	s.check(t, "a row must stay related", func(t *testing.T) {
		s.fails(t, "clerk", "update_vote", `{"id":1,"data":{"review_id":4}}`, "validation_error")
		s.ok(t, "clerk", "update_vote", `{"id":1,"data":{"review_id":3}}`)
		s.fails(t, "clerk", "delete_vote", `{"id":4}`, "not_found")
	})
	s.check(t, "a table that its own policy reads is written", func(t *testing.T) {
		s.ok(t, "clerk", "update_category", `{"id":3,"data":{"name":"spaces"}}`)
		s.fails(t, "clerk", "update_category", `{"id":3,"data":{"parent_id":1}}`, "validation_error")
		s.fails(t, "clerk", "get_category", `{"id":2}`, "not_found")
		s.ok(t, "clerk", "delete_category", `{"id":3}`)
	})
}
