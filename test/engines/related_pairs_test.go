package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// pairsScript has labels that lie on the shards of their parcels, and buyers on shards of their own.
const pairsScript = `create table buyer (id int primary key, region varchar(10) not null);
create table parcel (id int primary key, buyer_id int not null, weight int not null, seen int, foreign key (buyer_id) references buyer (id));
create index parcel_weight on parcel (weight);
create index parcel_seen on parcel (seen);
create table label (id int primary key, parcel_id int not null, color varchar(10) not null, foreign key (parcel_id) references parcel (id) on delete cascade)`

// pairsOf are statements that insert the rows: parcels of buyers of two regions, each with or without labels of two colors. There are
// enough of them for an index to be worth its use.
func pairsOf() (script string, parcels []parcelRow) {
	regions, colors := []string{"north", "south"}, []string{"red", "blue"}
	var buyers, rows, labels []string
	for id := 1; id <= 12; id++ {
		buyers = append(buyers, fmt.Sprintf("(%d, '%s')", id, regions[id%2]))
	}
	for id := 1; id <= 240; id++ {
		p := parcelRow{id: id, region: regions[(id%12+1)%2], weight: id % 50, seen: id % 60, colors: map[string]bool{}}
		seen := "null"
		if p.seen != 0 {
			seen = fmt.Sprint(p.seen)
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, %d, %s)", id, id%12+1, p.weight, seen))
		for n, color := range colors {
			if id%(n+2) == 0 {
				p.colors[color] = true
				labels = append(labels, fmt.Sprintf("(%d, %d, '%s')", len(labels)+1, id, color))
			}
		}
		parcels = append(parcels, p)
	}
	for _, into := range []struct {
		table string
		rows  []string
	}{{"buyer (id, region)", buyers}, {"parcel (id, buyer_id, weight, seen)", rows}, {"label (id, parcel_id, color)", labels}} {
		script += ";\ninsert into " + into.table + " values " + strings.Join(into.rows, ", ")
	}
	return script, parcels
}

// parcelRow is a parcel. seen is 0 if it is NULL.
type parcelRow struct {
	id, weight, seen int
	region           string
	colors           map[string]bool
}

// Conditions on related rows hold by themselves, joined and denied, with and without a row policy that goes through a relation, as they
// do for whoever looks at all rows. Over several shards a part of them is refused, and none is answered wrongly.
func TestPairsOfConditionsOnRelatedRows(t *testing.T) {
	conditions := []struct {
		filter string
		meets  func(parcelRow) bool
	}{
		{`"weight__gte":47`, func(p parcelRow) bool { return p.weight >= 47 }},
		{`"seen__lt":3`, func(p parcelRow) bool { return p.seen != 0 && p.seen < 3 }},
		{`"seen__isnull":true`, func(p parcelRow) bool { return p.seen == 0 }},
		{`"buyer__region":"south"`, func(p parcelRow) bool { return p.region == "south" }},
		{`"label_by_parcel__any":{"color":"red"}`, func(p parcelRow) bool { return p.colors["red"] }},
		{`"label_by_parcel__none":{"color":"blue"}`, func(p parcelRow) bool { return !p.colors["blue"] }},
		{`"id__in":{"_values":{"model":"label","field":"parcel_id","filters":{"color":"blue"}}}`, func(p parcelRow) bool { return p.colors["blue"] }},
		{`"buyer_id__in":{"_values":{"model":"buyer","field":"id","filters":{"region":"north"}}}`, func(p parcelRow) bool { return p.region == "north" }},
	}
	both := []struct {
		filters string
		meets   func(a, b bool) bool
	}{
		{`{"_all":[{%s},{%s}]}`, func(a, b bool) bool { return a && b }},
		{`{"_any":[{%s},{%s}]}`, func(a, b bool) bool { return a || b }},
		{`{"_not":{%s,%s}}`, func(a, b bool) bool { return !a || !b }},
		{`{"_not":{"_not":{"_any":[{%s},{%s}]}}}`, func(a, b bool) bool { return a || b }},
		{`{"_not":{"_any":[{%s},{"_not":{%s}}]}}`, func(a, b bool) bool { return !a && b }},
		{`{"_all":[{"buyer__region__isnull":false},{"_any":[{%s},{%s}]}]}`, func(a, b bool) bool { return a || b }},
		{`{"_all":[{"weight__lte":{"_measure":{"max":"id","model":"label"}}},{"_any":[{%s},{%s}]}]}`, func(a, b bool) bool { return a || b }},
	}
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			rows, parcels := pairsOf()
			database, plain := engine.Open(t, pairsScript+rows)
			s := &suite{engine, harness.Serve(t, database, pairsModels(), tokens()), plain}
			for _, token := range []string{"root", "clerk"} {
				answered, refused := 0, 0
				for i, a := range conditions {
					for j, b := range conditions {
						for _, pair := range both {
							if i >= j {
								continue
							}
							filters := fmt.Sprintf(pair.filters, a.filter, b.filter)
							var want []string
							for _, p := range parcels {
								if (token == "root" || p.region == "north") && pair.meets(a.meets(p), b.meets(p)) {
									want = append(want, fmt.Sprint(p.id))
								}
							}
							answer, isError := s.endpoint.Call(secret(token), "list_parcel", `{"fields":["id"],"order_by":["id"],"limit":1000,"filters":`+filters+`}`)
							if isError && engine.Shards && strings.Contains(answer, "several servers") {
								refused++
								continue
							}
							answered++
							var page object
							if err := json.Unmarshal([]byte(answer), &page); err != nil || isError {
								t.Fatalf("%s is answered for %s with %s", filters, token, answer)
							}
							if got := column(t, page, "id"); got != strings.Join(want, " ") {
								t.Errorf("%s is answered for %s with the parcels %s, want %s", filters, token, got, strings.Join(want, " "))
							}
							counted, isError := s.endpoint.Call(secret(token), "aggregate_parcel", `{"measures":{"n":{"count":"*","filters":`+filters+`}}}`)
							if isError && engine.Shards && strings.Contains(counted, "several servers") {
								continue
							}
							if n := fmt.Sprintf(`"n":%d`, len(want)); !strings.Contains(counted, n) {
								t.Errorf("%s is counted for %s as %s, want %s", filters, token, counted, n)
							}
						}
					}
				}
				if engine.Shards == (refused == 0) || 2*answered < refused {
					t.Errorf("%d answers and %d refusals", answered, refused)
				}
			}
			labelled := 0
			for _, p := range parcels {
				if p.region == "north" && len(p.colors) > 0 {
					labelled++
				}
			}
			for _, order := range []string{`"seen"`, `"-seen"`, `"-seen","weight"`, `"-weight","buyer_id"`} {
				if got := pagesOf(t, s, order); len(got) != labelled {
					t.Errorf("pages in the order of %s have %d different parcels of %d", order, len(got), labelled)
				}
			}
		})
	}
}

// pagesOf returns the parcels of all pages in an order.
func pagesOf(t *testing.T, s *suite, order string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for cursor := ""; ; {
		page := s.ok(t, "clerk", "list_parcel", `{"fields":["id"],"limit":37,"filters":{"label_by_parcel__any":{}},"order_by":[`+order+`]`+cursor+`}`)
		for id := range strings.FieldsSeq(column(t, page, "id")) {
			if seen[id] {
				t.Errorf("the parcel %s is on two pages in the order of %s", id, order)
			}
			seen[id] = true
		}
		next, more := page["next_cursor"]
		if !more {
			return seen
		}
		cursor = fmt.Sprintf(`,"cursor":%q`, next)
	}
}

// pairsModels gives clerks the parcels of northern buyers.
func pairsModels() []contract.Model {
	return []contract.Model{
		{Name: "buyer", Table: "buyer", Expose: true}, {Name: "label", Table: "label", Expose: true},
		{Name: "parcel", Table: "parcel", Expose: true, RowPolicies: []contract.RowPolicy{
			{Name: "north", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "buyer__region", Value: "north"}}},
			{Name: "staff", Groups: []string{"staff"}, AllRows: true},
		}},
	}
}
