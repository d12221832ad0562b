package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// measureCases are calls about the shop of computedShop and the results that they have on every engine.
var measureCases = []struct{ name, token, tool, arguments, member, want string }{
	{"medians and percentiles", "viewer", "aggregate_line", `{"measures":{"m":{"median":"quantity"},"p":{"percentile":["quantity",0.9]},"least":{"percentile":["quantity",0]},"most":{"percentile":["quantity",1]},"d":{"median":"discount"},"n":{"count":"*"}}}`, "results",
		`[{"m":"2.000000","p":"7.200000","least":"1.000000","most":"10.000000","d":"0.052500","n":5}]`},
	{"of each group, with filters, of expressions, of related rows", "viewer", "aggregate_line", `{"group_by":["purchase__region"],"measures":{"m":{"median":"quantity"},"f":{"median":"quantity","filters":{"quantity__gt":2}},"x":{"percentile":[{"mul":["quantity","product__price"]},0.25]},"n":{"count":"*","filters":{"quantity__gt":2}},"s":{"sum":"quantity"},"r":{"ratio":["m","s"]},"names":{"count_distinct":"product__name"}}}`, "results",
		`[{"purchase__region":"north","m":"2.000000","f":"3.000000","x":"8.375000","n":1,"s":8,"r":"0.250000","names":3},{"purchase__region":"south","m":"10.000000","f":"10.000000","x":"15.000000","n":1,"s":10,"r":"1.000000","names":1}]`},
	{"a median of floats", "viewer", "aggregate_product", `{"measures":{"m":{"median":"weight"},"p":{"percentile":["weight",0.9]},"none":{"median":"weight","filters":{"id":3}}}}`, "results",
		`[{"m":1.25,"p":1.85,"none":null}]`},
	{"by the parts of a moment, in a zone", "viewer", "aggregate_purchase", `{"group_by":["placed__month"],"time_zone":"America/New_York","measures":{"m":{"median":"freight"}}}`, "results",
		`[{"placed__month":"2026-01","m":"2.000000"},{"placed__month":"2026-02","m":"1.750000"}]`},
	{"beside other groups", "viewer", "aggregate_purchase", `{"group_by":["region"],"measures":{"m":{"median":"freight"},"all":{"running":"m"},"part":{"share":"m"}},"having":{"m__gt":1},"order_by":["-m"]}`, "results",
		`[{"region":"north","m":"3.250000","all":"3.250000","part":"1.857142857143"}]`},
	{"standard deviations", "viewer", "aggregate_line", `{"measures":{"q":{"stddev":"quantity"},"d":{"stddev":"discount"},"one":{"stddev":"quantity","filters":{"id":1}},"two":{"stddev":"quantity","filters":{"id__in":[4,5]}},"x":{"stddev":{"mul":["quantity","product__price"]}}}}`, "results",
		`[{"q":3.646916505762094,"d":0.15594122824534462,"one":null,"two":0,"x":8.257256909329312}]`},
	{"standard deviations of floats", "viewer", "aggregate_product", `{"measures":{"d":{"stddev":"weight"},"r":{"ratio":["d","d"]}}}`, "results",
		`[{"d":1.0606601717798212,"r":1}]`},
	{"standard deviations of related rows", "viewer", "list_customer", `{"fields":["purchase_by_customer__stddev__freight","purchase_by_customer__avg__placed"]}`, "results",
		`[{"id":1,"purchase_by_customer__stddev__freight":2.8284271247461903,"purchase_by_customer__avg__placed":"2026-01-16T17:00:00"},{"id":2,"purchase_by_customer__stddev__freight":null,"purchase_by_customer__avg__placed":"2026-02-03T12:30:00"},{"id":3,"purchase_by_customer__stddev__freight":null,"purchase_by_customer__avg__placed":null}]`},
	{"averages of dates and moments", "viewer", "aggregate_customer", `{"measures":{"d":{"avg":"joined"},"m":{"avg":"purchase_by_customer__max__placed"},"least":{"min":"joined"},"none":{"avg":"joined","filters":{"id":3}}}}`, "results",
		`[{"d":"2025-12-31","m":"2026-02-02T06:15:00","least":"2025-12-30","none":null}]`},
	{"an average of moments is rounded down to a second", "viewer", "aggregate_purchase", `{"measures":{"m":{"avg":"shipped"}},"having":{"m__year":2026,"m__gte":"2026-01-24"}}`, "results",
		`[{"m":"2026-01-24T11:30:00"}]`},
	{"texts", "viewer", "aggregate_line", `{"group_by":["purchase__customer__name"],"measures":{"all":{"texts":"product__name"},"few":{"texts":"product__name","filters":{"quantity__gt":2}}}}`, "results",
		`[{"purchase__customer__name":"Ann","all":"ink, pen","few":"pen"},{"purchase__customer__name":"Ben","all":"ink, pad","few":null}]`},
	{"a condition on texts, and none", "viewer", "aggregate_purchase", `{"group_by":["customer_id"],"measures":{"r":{"texts":"region"}},"having":{"r__contains":","},"order_by":["-r"]}`, "results",
		`[{"customer_id":1,"r":"north, south"}]`},
	{"rows above the median of all", "viewer", "list_line", `{"fields":["quantity"],"filters":{"quantity__gt":{"_measure":{"median":"quantity"}}}}`, "results",
		`[{"id":1,"quantity":3},{"id":3,"quantity":10}]`},
	{"a policy holds in medians and texts", "clerk", "aggregate_purchase", `{"measures":{"m":{"median":"freight"},"r":{"texts":"region"},"d":{"stddev":"freight"}}}`, "results",
		`[{"m":"3.250000","r":"north","d":1.0606601717798212}]`},
	{"a policy limits what they show", "clerk", "aggregate_line", `{"measures":{"m":{"median":"purchase__freight"}}}`, "rows", `"policy"`},
	{"a policy limits what they show in a condition", "clerk", "aggregate_line", `{"measures":{"m":{"median":"quantity","filters":{"purchase__region":"north"}}}}`, "rows", `"policy"`},
	{"weeks without rows", "viewer", "aggregate_purchase", `{"group_by":["placed__week"],"fill":true,"measures":{"n":{"count":"*"},"f":{"sum":"freight"},"d":{"count_distinct":"region"},"m":{"max":"freight"},"mean":{"ratio":["f","n"]},"open":{"difference":["n","d"]}},"total":"exact"}`, "results",
		`[{"placed__week":"2026-W01","n":1,"f":"4.00","d":1,"m":"4.00","mean":"4.000000","open":0},{"placed__week":"2026-W02","n":0,"f":"0.00","d":0,"m":null,"mean":null,"open":0},{"placed__week":"2026-W03","n":0,"f":"0.00","d":0,"m":null,"mean":null,"open":0},{"placed__week":"2026-W04","n":0,"f":"0.00","d":0,"m":null,"mean":null,"open":0},{"placed__week":"2026-W05","n":1,"f":"0.00","d":1,"m":"0.00","mean":"0.000000","open":0},{"placed__week":"2026-W06","n":2,"f":"3.50","d":2,"m":"2.50","mean":"1.750000","open":0}]`},
	{"their number", "viewer", "aggregate_purchase", `{"group_by":["placed__week"],"fill":true,"total":"exact","limit":2,"offset":1}`, "total_groups", `6`},
	{"days without rows, of each region, from the first to the last of all", "viewer", "aggregate_purchase", `{"group_by":["region","placed__day"],"fill":true,"measures":{"n":{"count":"*"},"q":{"sum":"id"}},"filters":{"id__gte":2}}`, "results",
		`[{"region":"north","placed__day":"2026-02-01","n":0,"q":0},{"region":"north","placed__day":"2026-02-02","n":0,"q":0},{"region":"north","placed__day":"2026-02-03","n":1,"q":3},{"region":"north","placed__day":"2026-02-04","n":0,"q":0},{"region":"north","placed__day":"2026-02-05","n":0,"q":0},{"region":"south","placed__day":"2026-02-01","n":1,"q":2},{"region":"south","placed__day":"2026-02-02","n":0,"q":0},{"region":"south","placed__day":"2026-02-03","n":0,"q":0},{"region":"south","placed__day":"2026-02-04","n":0,"q":0},{"region":"south","placed__day":"2026-02-05","n":1,"q":4}]`},
	{"filled groups beside each other", "viewer", "aggregate_purchase", `{"group_by":["placed__day"],"fill":true,"measures":{"n":{"count":"*"},"f":{"sum":"freight"},"all":{"running":"f"},"before":{"previous":"n"},"mean":{"moving":"f","last":2},"part":{"share":"n"},"median":{"median":"freight"}},"filters":{"id__gte":2},"order_by":["placed__day"]}`, "results",
		`[{"placed__day":"2026-02-01","n":1,"f":"0.00","all":"0.00","before":null,"mean":"0.000000","part":"0.333333333333","median":"0.000000"},{"placed__day":"2026-02-02","n":0,"f":"0.00","all":"0.00","before":1,"mean":"0.000000","part":"0.000000","median":null},{"placed__day":"2026-02-03","n":1,"f":"2.50","all":"2.50","before":0,"mean":"1.250000","part":"0.333333333333","median":"2.500000"},{"placed__day":"2026-02-04","n":0,"f":"0.00","all":"2.50","before":1,"mean":"1.250000","part":"0.000000","median":null},{"placed__day":"2026-02-05","n":1,"f":"1.00","all":"3.50","before":0,"mean":"0.500000","part":"0.333333333333","median":"1.000000"}]`},
	{"having and top among filled groups", "viewer", "aggregate_purchase", `{"group_by":["region","placed__month"],"fill":true,"measures":{"n":{"count":"*"}},"having":{"n":0},"top":{"per":["region"]},"filters":{"id__ne":1}}`, "results", `[]`},
	{"groups without rows by having", "viewer", "aggregate_purchase", `{"group_by":["placed__week"],"fill":true,"measures":{"n":{"count":"*"}},"having":{"n":0},"order_by":["-placed__week"],"limit":2}`, "results", `[{"placed__week":"2026-W04","n":0},{"placed__week":"2026-W03","n":0}]`},
	{"a group without a date", "viewer", "aggregate_purchase", `{"group_by":["shipped__year"],"fill":true,"measures":{"n":{"count":"*"}},"order_by":["n"]}`, "results", `[{"shipped__year":null,"n":1},{"shipped__year":2026,"n":3}]`},
	{"years of two dates", "viewer", "aggregate_line", `{"group_by":["purchase__customer__joined__year"],"fill":true,"measures":{"n":{"sum":"quantity"}}}`, "results", `[{"purchase__customer__joined__year":2025,"n":14},{"purchase__customer__joined__year":2026,"n":4}]`},
	{"hours in a zone", "viewer", "aggregate_purchase", `{"group_by":["shipped__hour"],"fill":true,"time_zone":"Europe/Berlin","measures":{"n":{"count":"*"}},"filters":{"id__gte":3},"limit":3,"offset":9}`, "results",
		`[{"shipped__hour":"2026-02-03T22","n":0},{"shipped__hour":"2026-02-03T23","n":0},{"shipped__hour":"2026-02-04T00","n":0}]`},
	{"no rows", "viewer", "aggregate_purchase", `{"group_by":["placed__month"],"fill":true,"measures":{"n":{"count":"*"}},"filters":{"id":99}}`, "results", `[]`},
	{"a policy holds in what is filled", "clerk", "aggregate_purchase", `{"group_by":["placed__month"],"fill":true,"measures":{"n":{"count":"*"}}}`, "results", `[{"placed__month":"2026-01","n":1},{"placed__month":"2026-02","n":1}]`},
}

func TestMeasuresAreComputedAlikeOnEveryEngine(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			s := &suite{engine, harness.Serve(t, database, computedModels(), tokens(), withAudit), plain}
			for _, c := range measureCases {
				s.check(t, c.name, func(t *testing.T) { want(t, s.ok(t, c.token, c.tool, c.arguments), c.want, c.member) })
			}
		})
	}
}

// Medians and texts keep to what the token may see: fields that are not masked or hidden, and groups that are large enough.
func TestMeasuresKeepToRights(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			models := computedModels()
			models[1].Exclude = []string{"weight"}
			models[2].Masked, models[2].MinGroupSize = []contract.MaskedField{{Name: "region"}}, 2
			models[3].MinGroupSize = 2
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "masked and hidden fields", func(t *testing.T) {
				for _, arguments := range []string{`{"measures":{"m":{"median":"weight"}}}`, `{"measures":{"m":{"percentile":["weight",0.5]}}}`, `{"measures":{"m":{"stddev":"weight"}}}`} {
					s.fails(t, "viewer", "aggregate_product", arguments, "invalid_argument")
				}
				s.fails(t, "clerk", "aggregate_customer", `{"measures":{"m":{"max":"purchase_by_customer__max__region"}}}`, "invalid_argument")
				s.fails(t, "clerk", "aggregate_line", `{"measures":{"m":{"texts":"purchase__region"}}}`, "invalid_argument")
			})
			s.check(t, "too few values", func(t *testing.T) {
				got := s.ok(t, "viewer", "aggregate_line", `{"group_by":["purchase_id"],"measures":{"m":{"median":"quantity"},"f":{"median":"discount"},"n":{"count":"*"},"p":{"percentile":["quantity",0.5],"filters":{"quantity__gt":1}}}}`)
				want(t, got, `[{"purchase_id":1,"m":"2.000000","f":null,"n":2,"p":null},{"purchase_id":3,"m":"2.000000","f":"0.166500","n":2,"p":"2.000000"}]`, "results")
			})
			s.check(t, "texts", func(t *testing.T) {
				told := s.fails(t, "viewer", "aggregate_line", `{"measures":{"m":{"texts":"product__name"}}}`, "invalid_argument")
				want(t, told, `"measures: m: texts is not offered for line, as it would show values that too few rows have; group_by the field"`, "error")
			})
		})
	}
}

// Filled groups keep their order over the ends of years and the changes of clocks, and dates that have no text of four digits are refused.
func TestGroupsAreFilledOverTheEndsOfYears(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop+`;
insert into purchase values (5, null, 'east', '2020-12-27 23:00:00', null, null), (6, null, 'east', '2021-01-12 00:00:00', null, null), (7, null, 'spring', '2026-03-29 00:30:00', null, null), (8, null, 'spring', '2026-03-29 03:30:00', null, null), (9, null, 'autumn', '2026-10-24 23:30:00', null, null), (10, null, 'autumn', '2026-10-25 02:30:00', null, null), (11, null, 'old', '0900-01-01 00:00:00', null, null);`))
			s := &suite{engine, harness.Serve(t, database, computedModels(), tokens(), withAudit), plain}
			for _, c := range []struct{ key, region, zone, want string }{
				{"placed__week", "east", "UTC", `[["2020-W52",1],["2020-W53",0],["2021-W01",0],["2021-W02",1]]`},
				{"placed__quarter", "east", "UTC", `[["2020-Q4",1],["2021-Q1",1]]`},
				{"placed__hour", "spring", "Europe/Berlin", `[["2026-03-29T01",1],["2026-03-29T03",0],["2026-03-29T04",0],["2026-03-29T05",1]]`},
				{"placed__hour", "autumn", "Europe/Berlin", `[["2026-10-25T01",1],["2026-10-25T02",0],["2026-10-25T03",1]]`},
			} {
				s.check(t, c.key+" "+c.region, func(t *testing.T) {
					got := s.ok(t, "viewer", "aggregate_purchase", `{"group_by":["`+c.key+`"],"fill":true,"format":"columns","measures":{"n":{"count":"*"}},"filters":{"region":"`+c.region+`"},"time_zone":"`+c.zone+`"}`)
					want(t, got, c.want, "rows")
				})
			}
			s.check(t, "a year of three digits", func(t *testing.T) {
				told := s.fails(t, "viewer", "aggregate_purchase", `{"group_by":["placed__month"],"fill":true}`, "invalid_argument")
				want(t, told, `"fill: the dates are from 0900-01 to 2026-10, and only the years 1000 to 9999 are filled; filter them"`, "error")
			})
		})
	}
}

// Texts of many values end with an ellipsis, and each has a bound.
func TestTextsOfManyValues(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			var rows, expected []string
			for i := range 120 {
				name := fmt.Sprintf("Zoë %03d", i)
				rows = append(rows, fmt.Sprintf("(%d, '%s', 1), (%d, '%s', 2)", 2*i, name, 2*i+1, name))
				if i < 100 {
					expected = append(expected, name)
				}
			}
			database, plain := engine.Open(t, `create table word (id int primary key, name varchar(300), part int);
insert into word values `+strings.Join(rows, ", ")+`, (1000, null, 2), (1001, '`+strings.Repeat("x", 250)+`', 3), (1002, 'b', 4), (1003, 'B', 4), (1004, 'a', 4)`)
			s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "word", Table: "word", Expose: true}}, tokens(), withAudit), plain}
			got := at(t, s.ok(t, "viewer", "aggregate_word", `{"group_by":["part"],"measures":{"t":{"texts":"name"}},"filters":{"part__gt":1},"format":"columns"}`), "rows")
			for i, want := range []string{strings.Join(expected, ", ") + ", …", strings.Repeat("x", 200), "B, a, b"} {
				if row := got.([]any)[i].([]any); row[1] != want {
					t.Errorf("got %v, want %s", row, want)
				}
			}
		})
	}
}

// What looks at other rows of a group is the same beside measures that need the rows in another order.
func TestMeasuresAreTheSameBesideOthers(t *testing.T) {
	var bills, parts []string
	for i := range 50 {
		bills = append(bills, fmt.Sprintf("(%d, '%s')", i, []string{"open", "Paid", "back", "sent", "paid"}[i*3%5]))
	}
	for i := range 2000 { // amounts and bills in no order
		parts = append(parts, fmt.Sprintf("(%d, %d, %d, %d.%d)", i, i*i%97%50, i%4, i*i*i%1013, i%10))
	}
	script := `create table bill (id int primary key, status varchar(20));
create table part (id int primary key, bill_id int, line int, amount decimal(8,2), foreign key (bill_id) references bill (id));
insert into bill values ` + strings.Join(bills, ", ") + `;
insert into part values ` + strings.Join(parts, ", ")
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, script)
			models := []contract.Model{{Name: "bill", Table: "bill", Expose: true}, {Name: "part", Table: "part", Expose: true}}
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			for _, beside := range []string{`{"median":"amount"}`, `{"percentile":["amount",0.5]}`, `{"texts":"bill__status","filters":{"line__gt":0}}`} {
				s.check(t, "texts beside "+beside, func(t *testing.T) {
					got := s.ok(t, "viewer", "aggregate_part", `{"group_by":["line"],"measures":{"t":{"texts":"bill__status"},"m":`+beside+`},"limit":1}`)
					want(t, got, `"Paid, back, open, paid, sent"`, "results", 0, "t")
				})
			}
			s.check(t, "shares and ranks", func(t *testing.T) {
				ask := func(measures string) any {
					return at(t, s.ok(t, "viewer", "aggregate_part", `{"group_by":["line","bill__status","bill_id"],"measures":{"n":{"sum":"amount"},`+measures+`},"limit":100}`), "results")
				}
				const wide, narrow, rank = `"wide":{"share":"n","per":["line"]}`, `"narrow":{"share":"n","per":["line","bill__status"]}`, `"rank":{"rank":"n","per":["line"]}`
				all := ask(narrow + "," + rank + "," + wide)
				for name, measure := range map[string]string{"wide": wide, "narrow": narrow, "rank": rank} {
					alone := ask(measure)
					for i := range alone.([]any) {
						if got, want := at(t, all, i, name), at(t, alone, i, name); got != want {
							t.Fatalf("%s of group %d is %v beside others, and %v alone", name, i, got, want)
						}
					}
				}
			})
		})
	}
}
