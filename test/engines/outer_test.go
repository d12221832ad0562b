package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// outerCases compare rows with the row outside, in the shop of computedShop.
var outerCases = []struct{ name, token, tool, arguments, member, want string }{
	{"above the average of its own group", "viewer", "list_line", `{"fields":["quantity"],"filters":{"quantity__gt":{"_measure":{"avg":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}}}`, "results",
		`[{"id":3,"quantity":10},{"id":5,"quantity":2}]`},
	{"the greatest of its group, by a text", "viewer", "list_purchase", `{"fields":["freight"],"filters":{"freight":{"_measure":{"max":"freight","filters":{"region":{"_outer":"region"}}}}}}`, "results",
		`[{"id":1,"freight":"4.00"},{"id":4,"freight":"1.00"}]`},
	{"among the rows that the token sees", "clerk", "list_purchase", `{"fields":["region"],"filters":{"freight":{"_measure":{"max":"freight","filters":{"region":{"_outer":"region"}}}}}}`, "results",
		`[{"id":1,"region":"north"}]`},
	{"by two fields, with a condition of its own", "viewer", "list_line", `{"fields":["id"],"filters":{"quantity__gte":{"_measure":{"max":"quantity","filters":{"product_id":{"_outer":"product_id"},"purchase__customer_id":{"_outer":"purchase__customer_id"},"id__gt":1}}}}}`, "results",
		`[{"id":2},{"id":3},{"id":4},{"id":5}]`},
	{"a median of its own group", "viewer", "list_line", `{"fields":["product_id"],"filters":{"quantity__gte":{"_measure":{"median":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}}}`, "results",
		`[{"id":3,"product_id":1},{"id":4,"product_id":3},{"id":5,"product_id":2}]`},
	{"a count of none is 0", "viewer", "list_purchase", `{"fields":["region"],"filters":{"id__gt":{"_measure":{"count":"*","filters":{"customer_id":{"_outer":"customer_id"}}}}}}`, "results",
		`[{"id":3,"region":"north"},{"id":4,"region":"south"}]`},
	{"what came before it", "viewer", "list_purchase", `{"fields":["region"],"filters":{"freight__gt":{"_measure":{"max":"freight","filters":{"placed__lt":{"_outer":"placed"},"region":{"_outer":"region"}}}}}}`, "results",
		`[{"id":4,"region":"south"}]`},
	{"of another model", "viewer", "list_product", `{"fields":["name"],"filters":{"price__lt":{"_measure":{"model":"line","sum":"quantity","filters":{"product_id":{"_outer":"id"}}}}}}`, "results",
		`[{"id":1,"name":"pen"}]`},
	{"rows of a relation", "viewer", "list_customer", `{"fields":["name"],"filters":{"purchase_by_customer__any":{"placed__gt":{"_outer":"joined"},"region":"north"}}}`, "results",
		`[{"id":1,"name":"Ann"},{"id":2,"name":"Ben"}]`},
	{"no row of a relation", "viewer", "list_purchase", `{"fields":["freight"],"filters":{"line_by_purchase__none":{"quantity__gt":{"_outer":"freight"}}}}`, "results",
		`[{"id":1,"freight":"4.00"},{"id":3,"freight":"2.50"},{"id":4,"freight":"1.00"}]`},
	{"a path behind a relation", "viewer", "list_purchase", `{"fields":["freight"],"filters":{"line_by_purchase__quantity__gt":{"_outer":"freight"}}}`, "results",
		`[{"id":2,"freight":"0.00"}]`},
	{"a value of related rows outside", "viewer", "list_purchase", `{"fields":["region"],"filters":{"line_by_purchase__any":{"quantity__gt":{"_outer":"customer__purchase_by_customer__count"}}}}`, "results",
		`[{"id":1,"region":"north"},{"id":2,"region":"south"},{"id":3,"region":"north"}]`},
	{"computed of the row outside", "viewer", "list_purchase", `{"fields":["region"],"filters":{"line_by_purchase__any":{"quantity__gt":{"mul":[{"_outer":"customer__purchase_by_customer__count"},2]}}}}`, "results",
		`[{"id":2,"region":"south"}]`},
	{"a named value of the row outside", "viewer", "list_purchase", `{"fields":[{"as":"twice","mul":["freight",2]}],"filters":{"line_by_purchase__any":{"quantity__gt":{"_outer":"twice"}}}}`, "results",
		`[{"id":2,"twice":"0.00"}]`},
	{"in the filters of a value", "viewer", "list_customer", `{"fields":[{"as":"early","count":"purchase_by_customer","filters":{"placed__lt":{"_outer":"joined"}}},{"as":"later","count":"purchase_by_customer","filters":{"placed__gt":{"_outer":"joined"}}}]}`, "results",
		`[{"id":1,"early":0,"later":2},{"id":2,"early":0,"later":1},{"id":3,"early":0,"later":0}]`},
	{"the row outside is the nearest one", "viewer", "list_customer", `{"fields":["name"],"filters":{"purchase_by_customer__any":{"line_by_purchase__any":{"quantity__gt":{"_outer":"freight"}}}}}`, "results",
		`[{"id":1,"name":"Ann"}]`},
	{"behind a relation to one row, it is the row that is asked about", "viewer", "list_line", `{"fields":["quantity"],"filters":{"product__line_by_product__any":{"quantity__lt":{"_outer":"quantity"}}}}`, "results",
		`[{"id":3,"quantity":10},{"id":5,"quantity":2}]`},
	{"a related row outside", "viewer", "list_line", `{"fields":["id"],"filters":{"product__line_by_product__any":{"quantity__gt":{"_outer":"purchase__freight"}}}}`, "results", `[{"id":1},{"id":3}]`},
	{"a related row outside that the token does not see", "clerk", "list_line", `{"fields":["id"],"filters":{"product__line_by_product__any":{"quantity__gt":{"_outer":"purchase__freight"}}}}`, "results", `[{"id":1}]`},
	{"in a measure's filters", "viewer", "aggregate_line", `{"measures":{"n":{"count":"*","filters":{"quantity__gt":{"_measure":{"avg":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}}}}}`, "results", `[{"n":2}]`},
	{"groups beside rows", "viewer", "aggregate_line", `{"group_by":["product_id","purchase_id"],"measures":{"n":{"sum":"quantity"}},"having":{"n__gt":{"_measure":{"avg":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}}}`, "results",
		`[{"product_id":1,"purchase_id":2,"n":10},{"product_id":2,"purchase_id":3,"n":2}]`},
	{"counted", "viewer", "list_line", `{"filters":{"quantity__gt":{"_measure":{"avg":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}},"total":"exact","limit":1}`, "total_count", `2`},
	{"in the first of each", "viewer", "list_line", `{"fields":["id"],"top":{"per":["purchase_id"]},"order_by":["-quantity"],"filters":{"quantity__lte":{"_measure":{"avg":"quantity","filters":{"product_id":{"_outer":"product_id"}}}}}}`, "results", `[{"id":1},{"id":4}]`},
}

func TestRowsAreComparedWithTheRowOutside(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			s := &suite{engine, harness.Serve(t, database, computedModels(), tokens(), withAudit), plain}
			for _, c := range outerCases {
				s.check(t, c.name, func(t *testing.T) { want(t, s.ok(t, c.token, c.tool, c.arguments), c.want, c.member) })
			}
		})
	}
}

// What is compared with the row outside keeps to the rights: masked and hidden fields of either row, and small groups.
func TestTheRowOutsideKeepsToRights(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			models := computedModels()
			models[1].Exclude = []string{"weight"}
			models[2].Masked = []contract.MaskedField{{Name: "freight"}}
			models[3].MinGroupSize = 2
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "a masked field", func(t *testing.T) {
				s.fails(t, "viewer", "list_purchase", `{"filters":{"line_by_purchase__any":{"quantity__gt":{"_outer":"freight"}}}}`, "invalid_argument")
			})
			s.check(t, "a hidden field", func(t *testing.T) {
				s.fails(t, "viewer", "list_product", `{"filters":{"line_by_product__any":{"quantity__gt":{"_outer":"weight"}}}}`, "invalid_argument")
			})
			s.check(t, "too few rows, of a group and of each", func(t *testing.T) {
				for _, filters := range []string{`{"product_id":{"_outer":"product_id"}}`, `{"product_id":{"_outer":"product_id"},"id__lte":{"_outer":"id"}}`} {
					got := s.ok(t, "viewer", "list_line", `{"fields":["id"],"filters":{"quantity__gte":{"_measure":{"min":"quantity","filters":`+filters+`}}},"total":"exact"}`)
					if filters == `{"product_id":{"_outer":"product_id"}}` {
						want(t, got, `[{"id":1},{"id":2},{"id":3},{"id":5}]`, "results") // product 3 has one line
					} else {
						want(t, got, `[{"id":3},{"id":5}]`, "results") // the first line of each product is alone
					}
				}
			})
		})
	}
}
