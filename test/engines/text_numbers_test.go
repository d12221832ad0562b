package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// plainDeals are the models of importedShop, whose exposures say nothing of what its texts hold.
func plainDeals() []contract.Model {
	return []contract.Model{
		{Name: "buyer", Table: "buyer", Expose: true},
		{Name: "deal", Table: "deal", Expose: true, Masked: []contract.MaskedField{{Name: "score"}},
			RowPolicies: []contract.RowPolicy{
				{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "total", Lookup: "in", Values: []string{"n/a", "10.5", "9"}}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			}},
	}
}

// textNumberCases compute with numbers in texts of importedShop.
var textNumberCases = []struct{ name, token, tool, arguments, want string }{
	{"sums and averages", "viewer", "aggregate_deal", `{"measures":{"s":{"sum":{"number":"total"}},"a":{"avg":{"number":"total"}},"n":{"count":{"number":"total"}},"m":{"median":{"number":"total"}}}}`,
		`[{"s":"119.500000","a":"39.833333333333","n":3,"m":"10.500000"}]`},
	{"the text beside it", "viewer", "aggregate_deal", `{"measures":{"text":{"max":"pieces"},"number":{"max":{"number":"pieces"}}}}`,
		`[{"text":"9","number":"10.000000"}]`},
	{"a sum of each group", "viewer", "aggregate_deal", `{"group_by":["region"],"measures":{"s":{"sum":{"number":"pieces"},"filters":{"total__ne":"9"}}}}`,
		`[{"region":"north","s":"11.000000"},{"region":"south","s":"1.000000"}]`},
	{"shown, ordered and filtered by its name", "viewer", "list_deal", `{"fields":["pieces",{"as":"n","number":"pieces"}],"order_by":["-n"],"filters":{"n__gte":2}}`,
		`[{"id":2,"pieces":"10","n":"10.000000"},{"id":3,"pieces":"9","n":"9.000000"},{"id":1,"pieces":"2","n":"2.000000"}]`},
	{"ordered as texts", "viewer", "list_deal", `{"fields":["pieces"],"order_by":["pieces"],"filters":{"pieces__isnull":false}}`,
		`[{"id":4,"pieces":"1"},{"id":2,"pieces":"10"},{"id":1,"pieces":"2"},{"id":3,"pieces":"9"}]`},
	{"in arithmetic", "viewer", "list_deal", `{"fields":[{"as":"all","mul":[{"number":"total"},{"number":"pieces"}]}],"filters":{"id__lte":3}}`,
		`[{"id":1,"all":"21.000000"},{"id":2,"all":"90.000000"},{"id":3,"all":null}]`},
	{"behind a relation", "viewer", "list_deal", `{"fields":[{"as":"age","number":"buyer__age"}],"filters":{"id__gt":{"number":"buyer__age"}}}`, `[]`},
	{"behind a relation, shown", "viewer", "list_deal", `{"fields":[{"as":"age","number":"buyer__age"}],"filters":{"age__lt":10},"order_by":["id"]}`,
		`[{"id":3,"age":"9.000000"},{"id":5,"age":"9.000000"}]`},
	{"groups", "viewer", "aggregate_deal", `{"group_by":[{"as":"n","number":"buyer__age"}],"measures":{"deals":{"count":"*"}},"having":{"n__isnull":false}}`,
		`[{"n":"9.000000","deals":2},{"n":"30.000000","deals":2}]`},
	{"compared with an average", "viewer", "list_buyer", `{"fields":[{"as":"n","number":"age"}],"filters":{"n__gt":{"_measure":{"avg":{"number":"age"}}}}}`,
		`[{"id":1,"n":"30.000000"}]`},
	{"of rows that the policy lets through", "clerk", "aggregate_deal", `{"measures":{"s":{"sum":{"number":"pieces"}}}}`, `[{"s":"19.000000"}]`},
}

func TestNumbersInTextsAreComputedWith(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, importedShop)
			s := &suite{engine, harness.Serve(t, database, related(engine, importedShop, plainDeals()), tokens(), withAudit), plain}
			for _, tc := range textNumberCases {
				s.check(t, tc.name, func(t *testing.T) { want(t, s.ok(t, tc.token, tc.tool, tc.arguments), tc.want, "results") })
			}
			s.check(t, "a masked field stays masked", func(t *testing.T) {
				s.fails(t, "viewer", "aggregate_deal", `{"measures":{"s":{"sum":{"number":"score"}}}}`, "invalid_argument")
				s.fails(t, "viewer", "list_deal", `{"fields":[{"as":"n","number":"score"}]}`, "invalid_argument")
			})
		})
	}
}

// A text is the number that it is where an exposure says reads: Decimal.
func TestNumbersInTextsAreThoseThatReadsReads(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			if engine.Name == contract.EnginePostgreSQL {
				b.WriteString(postgresTexts)
			}
			var models []contract.Model
			for i, column := range readColumns[engine.Name] {
				name := fmt.Sprintf("texts%d", i)
				fmt.Fprintf(&b, "create table %s (id int primary key, value %s);\n%s", name, column, insertReadTexts(name, column))
				models = append(models, contract.Model{Name: name, Table: name, Expose: true, MaxPageSize: 1000, DefaultPageSize: 1000})
			}
			opened, plain := engine.Open(t, b.String())
			s := &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
			for i, column := range readColumns[engine.Name] {
				name := fmt.Sprintf("texts%d", i)
				var expected []string
				for id, row := range readTexts {
					value := row.decimal
					if value == "" {
						value = "null"
					}
					expected = append(expected, fmt.Sprintf(`{"id":%d,"n":%s}`, id, value))
				}
				s.check(t, column, func(t *testing.T) {
					got := s.ok(t, "viewer", "list_"+name, `{"fields":["id",{"as":"n","number":"value"}],"order_by":["id"],"limit":1000}`)
					want(t, got, "["+strings.Join(expected, ",")+"]", "results")
				})
			}
		})
	}
}
