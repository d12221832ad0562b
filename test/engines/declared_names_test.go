package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// namedModels are the shop's models with names for measures and segments, of which some cannot be.
func namedModels() []contract.Model {
	names := func(list ...string) (all []contract.Declared) {
		for i := 0; i < len(list); i += 3 {
			all = append(all, contract.Declared{Name: list[i], Description: list[i+1], Means: json.RawMessage(list[i+2])})
		}
		return all
	}
	models := computedModels()
	models[0].Segments = names("buyers", "Customers who bought something.", `{"purchase_by_customer__count__gte":1}`)
	models[2].Synonyms = []string{"Bestellung"}
	models[2].Overrides = []contract.FieldOverride{{Name: "freight", Description: "What the carrier was paid", Synonyms: []string{"shipping", "postage"}}}
	models[2].Segments = names("shipped", "Purchases that have left the house.", `{"shipped__isnull":false}`, "dear", "", `{"freight__gte":"2.50"}`)
	models[3].Measures = names(
		"revenue", "What lines come to at today's prices, without discounts.", `{"sum":{"mul":["quantity","product__price"]}}`,
		"lines", "", `{"count":"*"}`,
		"per_line", "", `{"ratio":["revenue","lines"]}`,
		"shipped_revenue", "", `{"sum":{"mul":["quantity","product__price"]},"filters":{"purchase__shipped__isnull":false}}`,
		"below", "", `{"difference":["revenue","per_line"]}`,
		"weighed", "", `{"sum":"product__weight"}`,
		"grown", "", `{"change":"revenue"}`,
		"round_about", "", `{"ratio":["back","lines"]}`, "back", "", `{"ratio":["round_about","lines"]}`,
		"lost", "", `{"ratio":["found","lines"]}`,
	)
	models[3].Measures[0].Synonyms = []string{"turnover", "Umsatz"}
	models[3].Segments = names("many", "Lines of two pieces and more.", `{"quantity__gte":2}`, "nested", "", `{"_segment":"many"}`, "gone", "", `{"colour":"red"}`)
	models[1].Exclude = []string{"weight"}
	return models
}

func TestDeclaredNames(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			all := append(tokens(), contract.Token{Namespace: "test", Name: "liner", Hashes: []string{contract.HashToken(secret("liner"))}, Groups: []string{"staff"},
				Rules: []contract.Rule{{Models: []string{"line"}, Verbs: []string{"view"}}}})
			s := &suite{engine, harness.Serve(t, database, namedModels(), all, withAudit), plain}
			s.check(t, "measures by name", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":["revenue","lines"]}`), `[{"revenue":"56.25","lines":5}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":{"r":"revenue","n":{"count":"*"},"each":{"ratio":["r","n"]}}}`), `[{"r":"56.25","n":5,"each":"11.250000"}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":["shipped_revenue"],"group_by":["product__name"],"having":{"shipped_revenue__gt":0},"order_by":["-shipped_revenue"]}`),
					`[{"product__name":"ink","shipped_revenue":"36.75"},{"product__name":"pen","shipped_revenue":"4.50"}]`, "results")
			})
			s.check(t, "measures of measures show none of those that they are of", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":["per_line"]}`), `[{"per_line":"11.250000"}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":["below","per_line"]}`), `[{"below":"45.000000","per_line":"11.250000"}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_line", `{"measures":{"revenue":{"count":"*"},"per_line":"per_line"}}`), `[{"revenue":5,"per_line":"11.250000"}]`, "results")
			})
			s.check(t, "segments", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_purchase", `{"segments":["shipped","dear"],"fields":["id"]}`), `[{"id":1},{"id":3}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_line", `{"segments":["many"],"filters":{"id__lt":4},"measures":["lines"]}`), `[{"lines":2}]`, "results")
				want(t, s.ok(t, "viewer", "list_purchase", `{"filters":{"_not":{"_segment":["shipped","dear"]}},"fields":["id"]}`), `[{"id":2},{"id":4}]`, "results")
				want(t, s.ok(t, "viewer", "list_customer", `{"filters":{"purchase_by_customer__any":{"_segment":"dear"}},"fields":["id"]}`), `[{"id":1},{"id":2}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_purchase", `{"measures":{"n":{"count":"*","filters":{"_segment":"dear"}}}}`), `[{"n":2}]`, "results")
			})
			s.check(t, "row policies hold", func(t *testing.T) {
				want(t, s.ok(t, "clerk", "list_customer", `{"segments":["buyers"],"fields":["id"]}`), `[{"id":1},{"id":2}]`, "results")
				want(t, s.ok(t, "stranger", "list_customer", `{"segments":["buyers"]}`), `0`, "count")
			})
			s.check(t, "the caller's names mean nothing in them", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_line", `{"fields":[{"as":"quantity_","mul":["quantity",0]}],"segments":["many"]}`), `4`, "count")
			})
			s.check(t, "a cursor belongs to its segments", func(t *testing.T) {
				page := s.ok(t, "viewer", "list_line", `{"segments":["many"],"limit":1}`)
				s.ok(t, "viewer", "list_line", `{"segments":["many"],"limit":1,"cursor":"`+page["next_cursor"].(string)+`"}`)
				s.fails(t, "viewer", "list_line", `{"limit":1,"cursor":"`+page["next_cursor"].(string)+`"}`, "invalid_argument")
			})
			s.check(t, "what a token may not see takes its names along", func(t *testing.T) {
				for _, row := range []struct{ token, arguments, want string }{
					{"liner", `{"measures":["revenue"]}`, `"measures: revenue: line has no measure \"revenue\"; its measures are lines; a measure of your own is {\"count\": \"*\"} or {\"sum\": field}"`},
					{"viewer", `{"measures":["weighed"]}`, `"measures: weighed: line has no measure \"weighed\"; its measures are revenue, lines, per_line, shipped_revenue, below; a measure of your own is {\"count\": \"*\"} or {\"sum\": field}"`},
					{"viewer", `{"segments":["gone"]}`, `"segments: line has no segment \"gone\"; its segments are many"`},
					{"viewer", `{"filters":{"_segment":"nested"}}`, `"filters: _segment: line has no segment \"nested\"; its segments are many"`},
				} {
					want(t, s.fails(t, row.token, "aggregate_line", strings.TrimSuffix(row.arguments, "}")+`,"group_by":["id"]}`, "invalid_argument"), row.want, "error")
				}
			})
			s.check(t, "descriptions and find_models tell them", func(t *testing.T) {
				line := s.ok(t, "viewer", "describe_line", `{}`)
				if got := len(line["measures"].([]any)); got != 5 {
					t.Errorf("got %d measures, want those 5 that can be: %v", got, line["measures"])
				}
				want(t, line, `[{"name":"many","description":"Lines of two pieces and more.","means":{"quantity__gte":2}}]`, "segments")
				if _, there := s.ok(t, "liner", "describe_line", `{}`)["measures"]; !there {
					t.Error("the measure of lines is for everybody")
				}
				if got := s.ok(t, "viewer", "describe_purchase", `{}`); !strings.Contains(helpOf(t, got, "freight"), "Also called shipping, postage.") || got["synonyms"] == nil {
					t.Errorf("got %v, want the synonyms", got)
				}
				for query, model := range map[string]string{"turnover": "line", "umsatz": "line", "postage": "purchase", "bestellung": "purchase"} {
					found := s.ok(t, "viewer", "find_models", `{"query":"`+query+`"}`)
					if models := found["models"].([]any); len(models) == 0 || models[0].(object)["model_name"] != model {
						t.Errorf("%s: got %v, want %s", query, found["models"], model)
					}
				}
				want(t, s.ok(t, "liner", "find_models", `{"query":"umsatz"}`), `0`, "count")
			})
			s.check(t, "the status says what cannot be", func(t *testing.T) {
				var told []string
				for _, m := range s.endpoint.Status().Models {
					told = append(told, m.Notes...)
				}
				for _, note := range []string{
					`spec.measures[5] (weighed) is not offered: measures: weighed: product__weight: product has no field "weight"`,
					"spec.measures[6] (grown) is not offered: measures: grown: change is of the groups of a call, so it cannot be declared",
					"spec.measures[8] (back) is not offered: measures: back: round_about: it depends on itself by back",
					`spec.measures[9] (lost) is not offered: measures: lost: ratio is of other declared measures, and "found" is none`,
					"spec.segments[1] (nested) is not offered: _segment: nested: _segment: a segment names no other segment",
					`spec.segments[2] (gone) is not offered: _segment: gone: colour: line has no field "colour"`,
				} {
					if !strings.Contains(strings.Join(told, "\n"), note) {
						t.Errorf("the notes lack %q:\n%s", note, strings.Join(told, "\n"))
					}
				}
			})
		})
	}
}
