package rights

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestARowPolicyInWordsAndAsACondition(t *testing.T) {
	for _, row := range []struct {
		policy           contract.RowPolicy
		of, words, short string
	}{
		{contract.RowPolicy{Everyone: true, AllRows: true}, "everyone", "all rows", "true"},
		{contract.RowPolicy{Groups: []string{"a", "b"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
			"group a, b", "rows in which region is the token's attribute region", "region = token.region"},
		{contract.RowPolicy{Groups: []string{"a"}, Filters: []contract.Filter{
			{Field: "customer__country", Lookup: "in", Values: []string{"de", "fr"}},
			{Any: []contract.Filter{{Field: "total", Lookup: "lt", Value: "10"}, {Field: "paid", Lookup: "isnull", Value: "true"}}},
		}}, "group a", `rows in which country of customer is one of "de", "fr", and total is less than "10", or paid is empty: "true"`,
			`customer.country IN ("de", "fr") AND (total < "10" OR paid IS NULL = "true")`},
		{contract.RowPolicy{Everyone: true, Filters: []contract.Filter{{Field: "made", Lookup: "range", Values: []string{"1", "2"}}, {Field: "made", Lookup: "year", Value: "2026"}}},
			"everyone", `rows in which made is between "1" and "2", and made has the year "2026"`, `made BETWEEN "1" AND "2" AND made year = "2026"`},
	} {
		got := policyOf(&row.policy)
		if got.For != row.of || got.Words != row.words || got.Condition != row.short {
			t.Errorf("got %+v, want %s, %s, %s", got, row.of, row.words, row.short)
		}
	}
}
