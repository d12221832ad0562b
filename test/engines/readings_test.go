package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// readTexts are texts, and what each is read as by kind; "" is null, and other values are as rows of groups show them.
var readTexts = []struct{ text, integer, decimal, boolean, date, timestamp string }{
	{"12", "12", `"12.000000"`, "", "", ""},
	{"1", "1", `"1.000000"`, "true", "", ""},
	{" 0 ", "0", `"0.000000"`, "false", "", ""},
	{"-7", "-7", `"-7.000000"`, "", "", ""},
	{"+007", "7", `"7.000000"`, "", "", ""},
	{"999999999999999999", `"999999999999999999"`, `"999999999999999999.000000"`, "", "", ""},
	{"1000000000000000000", "", `"1000000000000000000.000000"`, "", "", ""},
	{strings.Repeat("9", 20), "", `"` + strings.Repeat("9", 20) + `.000000"`, "", "", ""},
	{strings.Repeat("9", 21), "", "", "", "", ""},
	{strings.Repeat("9", 60000), "", "", "", "", ""},
	{strings.Repeat(" ", 100) + "1", "", "", "", "", ""},
	{"12.50", "", `"12.500000"`, "", "", ""},
	{"-.125", "", `"-0.125000"`, "", "", ""},
	{"0.123456789012", "", `"0.123456789012"`, "", "", ""},
	{"0.1234567890123", "", "", "", "", ""},
	{"-0", "0", `"0.000000"`, "", "", ""},
	{"5.", "", "", "", "", ""},
	{".", "", "", "", "", ""},
	{"-", "", "", "", "", ""},
	{"--1", "", "", "", "", ""},
	{"1 2", "", "", "", "", ""},
	{"1,5", "", "", "", "", ""},
	{"1e5", "", "", "", "", ""},
	{"0x1F", "", "", "", "", ""},
	{"١٢", "", "", "", "", ""},
	{"12\n", "", "", "", "", ""},
	{"\t12", "", "", "", "", ""},
	{"n/a", "", "", "", "", ""},
	{"", "", "", "", "", ""},
	{"   ", "", "", "", "", ""},
	{"NaN", "", "", "", "", ""},
	{"Infinity", "", "", "", "", ""},
	{"null", "", "", "", "", ""},
	{"TRUE", "", "", "true", "", ""},
	{"t", "", "", "true", "", ""},
	{" Yes", "", "", "true", "", ""},
	{"No", "", "", "false", "", ""},
	{"N", "", "", "false", "", ""},
	{"f", "", "", "false", "", ""},
	{"falſe", "", "", "", "", ""},
	{"yess", "", "", "", "", ""},
	{"on", "", "", "", "", ""},
	{"2024-02-29", "", "", "", `"2024-02-29"`, `"2024-02-29T00:00:00"`},
	{"2023-02-29", "", "", "", "", ""},
	{"1900-02-29", "", "", "", "", ""},
	{"2000-02-29", "", "", "", `"2000-02-29"`, `"2000-02-29T00:00:00"`},
	{"2024-04-31", "", "", "", "", ""},
	{"2024-00-10", "", "", "", "", ""},
	{"0000-00-00", "", "", "", "", ""},
	{"0001-01-01", "", "", "", "", ""},
	{"9999-12-31", "", "", "", `"9999-12-31"`, `"9999-12-31T00:00:00"`},
	{"24-1-5", "", "", "", "", ""},
	{"05/01/2024", "", "", "", "", ""},
	{"today", "", "", "", "", ""},
	{"infinity", "", "", "", "", ""},
	{"2024-01-05 10:30", "", "", "", "", `"2024-01-05T10:30:00"`},
	{"2024-01-05T10:30:15.25Z", "", "", "", "", `"2024-01-05T10:30:15.25"`},
	{"2024-01-05T23:30:00-01:30", "", "", "", "", `"2024-01-06T01:00:00"`},
	{"2024-03-01 00:30:00+02:00", "", "", "", "", `"2024-02-29T22:30:00"`},
	{"9999-12-31T23:59:59.999999Z", "", "", "", "", `"9999-12-31T23:59:59.999999"`},
	{"9999-12-31T23:59:59-05:00", "", "", "", "", ""},
	{"2024-01-05T24:00:00", "", "", "", "", ""},
	{"2024-01-05T10:60", "", "", "", "", ""},
	{"2024-01-05T10:30:60", "", "", "", "", ""},
	{"2024-01-05T10:30+15:00", "", "", "", "", ""},
	{"2024-02-30T10:30", "", "", "", "", ""},
	{"'; drop table texts; --", "", "", "", "", ""},
}

var readKinds = []string{"Integer", "Decimal", "Boolean", "Date", "Timestamp"}

// readColumns are the tables with texts: each engine's long texts and short ones, with its own collations.
var readColumns = map[string][]string{
	contract.EngineSQLite:     {"text", "varchar(60000) collate nocase"},
	contract.EnginePostgreSQL: {"text", "citext", "text collate folded", "char(60000)"},
	contract.EngineDuckDB:     {"varchar"},
	contract.EngineMySQL:      {"mediumtext", "mediumtext character set latin1", "mediumtext character set utf8mb4 collate utf8mb4_bin"},
}

// postgresTexts are types of texts with equalities of their own.
const postgresTexts = `create extension if not exists citext; create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);`

// insertReadTexts is the statement that fills a table whose column value has some type.
func insertReadTexts(table, column string) string {
	var rows []string
	for id, row := range readTexts {
		text := row.text
		if strings.Contains(column, "latin1") && strings.ContainsAny(text, "١ſ") {
			text = "none"
		}
		rows = append(rows, fmt.Sprintf("(%d, '%s')", id, strings.ReplaceAll(text, "'", "''")))
	}
	return "insert into " + table + " (id, value) values " + strings.Join(rows, ", ") + ";\n"
}

func TestTextsAreReadAsWhatTheyHold(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			if engine.Name == contract.EnginePostgreSQL {
				b.WriteString(postgresTexts)
			}
			var models []contract.Model
			for i, column := range readColumns[engine.Name] {
				for _, kind := range readKinds {
					name := fmt.Sprintf("%s%d", strings.ToLower(kind), i)
					fmt.Fprintf(&b, "create table %s (id int primary key, value %s);\n%s", name, column, insertReadTexts(name, column))
					models = append(models, contract.Model{Name: name, Table: name, Expose: true, MaxPageSize: 1000, DefaultPageSize: 1000,
						Overrides: []contract.FieldOverride{{Name: "value", Reads: kind}}})
				}
			}
			opened, plain := engine.Open(t, b.String())
			s := &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
			for i, column := range readColumns[engine.Name] {
				for k, kind := range readKinds {
					name := fmt.Sprintf("%s%d", strings.ToLower(kind), i)
					var expected []string
					for id, row := range readTexts {
						value := []string{row.integer, row.decimal, row.boolean, row.date, row.timestamp}[k]
						if value == "" {
							value = "null"
						}
						expected = append(expected, fmt.Sprintf(`{"id":%d,"value":%s}`, id, value))
					}
					s.check(t, kind+" of "+column, func(t *testing.T) {
						got := s.ok(t, "viewer", "aggregate_"+name, `{"group_by":["id","value"],"order_by":["id"],"limit":1000}`)
						want(t, got, "["+strings.Join(expected, ",")+"]", "results")
					})
				}
			}
		})
	}
}

// A shop whose imported columns are all texts.
const importedShop = `
create table buyer (id int primary key, name varchar(40), age varchar(20));
create table deal (id int primary key, buyer_id int, total varchar(40), pieces varchar(40), paid varchar(20), placed varchar(40), due varchar(40), region varchar(10), score varchar(20), foreign key (buyer_id) references buyer (id));
insert into buyer values (1, 'Ann', '30'), (2, 'Ben', '9'), (3, 'Cem', 'unknown');
insert into deal values
  (1, 1, '10.50', '2', 'yes', '2026-01-05T10:00:00Z', '2026-02-01', 'north', '1'),
  (2, 1, '9', '10', 'no', '2026-01-05T23:30:00-02:00', '2026-01-31', 'south', '2'),
  (3, 2, 'n/a', '9', 'maybe', 'soon', 'never', 'north', '3'),
  (4, null, ' 100 ', '1', 'Y', '2026-02-03 12:00', '2026-02-30', 'south', '4'),
  (5, 2, null, null, null, null, null, 'north', null)`

func importedModels() []contract.Model {
	reads := func(names ...string) (all []contract.FieldOverride) {
		for i := 0; i < len(names); i += 2 {
			all = append(all, contract.FieldOverride{Name: names[i], Reads: names[i+1]})
		}
		return all
	}
	return []contract.Model{
		{Name: "buyer", Table: "buyer", Expose: true, Overrides: reads("age", "Integer"), Ordering: []string{"-age"}},
		{Name: "deal", Table: "deal", Expose: true,
			Overrides: reads("total", "Decimal", "pieces", "Integer", "paid", "Boolean", "placed", "Timestamp", "due", "Date", "score", "Integer"),
			Masked:    []contract.MaskedField{{Name: "score"}},
			RowPolicies: []contract.RowPolicy{
				{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "total", Lookup: "in", Values: []string{"n/a", "10.5", "9"}}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			}},
	}
}

// readingCases are calls and the results that they have on every engine.
var readingCases = []struct{ name, token, tool, arguments, member, want string }{
	{"rows show the texts", "viewer", "list_deal", `{"fields":["total","paid","placed"],"filters":{"id__in":[1,3,4]}}`, "results",
		`[{"id":1,"total":"10.50","paid":"yes","placed":"2026-01-05T10:00:00Z"},{"id":3,"total":"n/a","paid":"maybe","placed":"soon"},{"id":4,"total":" 100 ","paid":"Y","placed":"2026-02-03 12:00"}]`},
	{"compared with a number", "viewer", "list_deal", `{"fields":["id"],"filters":{"total__gt":9.5}}`, "results", `[{"id":1},{"id":4}]`},
	{"not greater", "viewer", "list_deal", `{"fields":["id"],"filters":{"_not":{"total__gt":9.5}}}`, "results", `[{"id":2},{"id":3},{"id":5}]`},
	{"equal by value", "viewer", "list_deal", `{"fields":["id"],"filters":{"total":"10.5"}}`, "results", `[{"id":1}]`},
	{"one of some", "viewer", "list_deal", `{"fields":["id"],"filters":{"pieces__in":[2,10]}}`, "results", `[{"id":1},{"id":2}]`},
	{"in a range", "viewer", "list_deal", `{"fields":["id"],"filters":{"pieces__range":[2,9]}}`, "results", `[{"id":1},{"id":3}]`},
	{"none of that type", "viewer", "list_deal", `{"fields":["total"],"filters":{"total__isnull":true}}`, "results", `[{"id":3,"total":"n/a"},{"id":5,"total":null}]`},
	{"the text itself", "viewer", "list_deal", `{"fields":["total"],"filters":{"total__contains":"/"}}`, "results", `[{"id":3,"total":"n/a"}]`},
	{"the text itself in any case", "viewer", "list_deal", `{"fields":["total"],"filters":{"total":{"iexact":"N/A"}}}`, "results", `[{"id":3,"total":"n/a"}]`},
	{"truths", "viewer", "list_deal", `{"fields":["id"],"filters":{"paid":true}}`, "results", `[{"id":1},{"id":4}]`},
	{"a day", "viewer", "list_deal", `{"fields":["id"],"filters":{"due__gte":"2026-02-01"}}`, "results", `[{"id":1}]`},
	{"a month", "viewer", "list_deal", `{"fields":["id"],"filters":{"due__month":1}}`, "results", `[{"id":2}]`},
	{"a moment", "viewer", "list_deal", `{"fields":["id"],"filters":{"placed__lt":"2026-01-06T01:00:00"}}`, "results", `[{"id":1}]`},
	{"a day of moments", "viewer", "list_deal", `{"fields":["id"],"filters":{"placed__date":"2026-01-06"}}`, "results", `[{"id":2}]`},
	{"ordered", "viewer", "list_deal", `{"fields":["id"],"order_by":["-pieces"],"filters":{"pieces__isnull":false}}`, "results", `[{"id":2},{"id":3},{"id":1},{"id":4}]`},
	{"the model's own order", "viewer", "list_buyer", `{"fields":["name"],"filters":{"age__isnull":false}}`, "results", `[{"id":1,"name":"Ann"},{"id":2,"name":"Ben"}]`},
	{"behind a relation", "viewer", "list_deal", `{"fields":["buyer__age"],"filters":{"buyer__age__lt":10},"order_by":["-buyer__age","id"]}`, "results", `[{"id":3,"buyer__age":"9"},{"id":5,"buyer__age":"9"}]`},
	{"sums and averages", "viewer", "aggregate_deal", `{"measures":{"s":{"sum":"total"},"a":{"avg":"total"},"n":{"count":"total"},"d":{"count_distinct":"pieces"},"least":{"min":"pieces"},"last":{"max":"placed"},"due":{"min":"due"}}}`, "results",
		`[{"s":"119.500000","a":"39.833333333333","n":3,"d":4,"least":1,"last":"2026-02-03T12:00:00","due":"2026-01-31"}]`},
	{"a sum of integers", "viewer", "aggregate_deal", `{"group_by":["region"],"measures":{"s":{"sum":"pieces"}}}`, "results", `[{"region":"north","s":11},{"region":"south","s":11}]`},
	{"groups", "viewer", "aggregate_deal", `{"group_by":["paid"],"measures":{"n":{"count":"*"}},"order_by":["-n","paid"],"having":{"paid__isnull":false}}`, "results", `[{"paid":true,"n":2},{"paid":false,"n":1}]`},
	{"groups of months", "viewer", "aggregate_deal", `{"group_by":["placed__month"],"measures":{"s":{"sum":"total"}},"having":{"placed__month__isnull":false}}`, "results",
		`[{"placed__month":"2026-01","s":"19.500000"},{"placed__month":"2026-02","s":"100.000000"}]`},
	{"arithmetic", "viewer", "list_deal", `{"fields":[{"as":"each","div":["total","pieces"]},{"as":"all","mul":["total","pieces"]},{"as":"more","add":["pieces",1]},{"as":"left","days":["placed","due"]}],"filters":{"id__lte":4}}`, "results",
		`[{"id":1,"each":"5.250000","all":"21.000000","more":3,"left":"26.583333333333"},{"id":2,"each":"0.900000","all":"90.000000","more":11,"left":"24.937500"},{"id":3,"each":null,"all":null,"more":10,"left":null},{"id":4,"each":"100.000000","all":"100.000000","more":2,"left":null}]`},
	{"related values", "viewer", "list_buyer", `{"fields":["deal_by_buyer__sum__total","deal_by_buyer__max__pieces"],"order_by":["id"]}`, "results",
		`[{"id":1,"deal_by_buyer__sum__total":"19.500000","deal_by_buyer__max__pieces":10},{"id":2,"deal_by_buyer__sum__total":null,"deal_by_buyer__max__pieces":9},{"id":3,"deal_by_buyer__sum__total":null,"deal_by_buyer__max__pieces":null}]`},
	{"a condition on related rows", "viewer", "list_buyer", `{"fields":["id"],"filters":{"deal_by_buyer__any":{"total__lt":10}}}`, "results", `[{"id":1}]`},
	{"the greatest of its group", "viewer", "list_deal", `{"fields":["id"],"top":{"per":["region"],"n":1},"order_by":["-pieces"],"filters":{"pieces__isnull":false}}`, "results", `[{"id":2},{"id":3}]`},
	{"above the average", "viewer", "list_deal", `{"fields":["id"],"filters":{"total__gt":{"_measure":{"avg":"total"}}}}`, "results", `[{"id":4}]`},
	{"another field", "viewer", "list_deal", `{"fields":["id"],"filters":{"total__gt":{"_field":"pieces"}}}`, "results", `[{"id":1},{"id":4}]`},
	{"values of other rows", "viewer", "list_deal", `{"fields":["id"],"filters":{"pieces__in":{"_values":{"model":"buyer","field":"age"}}}}`, "results", `[{"id":3}]`},
	{"clocks of a zone", "viewer", "aggregate_deal", `{"group_by":["placed__day"],"measures":{"n":{"count":"*"}},"time_zone":"Asia/Tokyo","having":{"placed__day__isnull":false}}`, "results",
		`[{"placed__day":"2026-01-05","n":1},{"placed__day":"2026-01-06","n":1},{"placed__day":"2026-02-03","n":1}]`},
	{"a period", "viewer", "list_deal", `{"fields":["id"],"filters":{"placed":"2026-01"}}`, "results", `[{"id":1},{"id":2}]`},
	{"medians and averages", "viewer", "aggregate_deal", `{"measures":{"m":{"median":"total"},"p":{"percentile":["pieces",0.5]},"d":{"stddev":"pieces"},"a":{"avg":"due"},"t":{"texts":"region"}}}`, "results",
		`[{"m":"10.500000","p":"5.500000","d":4.654746681256314,"a":"2026-01-31","t":"north, south"}]`},
	{"over the groups", "viewer", "aggregate_deal", `{"group_by":["pieces"],"measures":{"n":{"count":"*"},"all":{"running":"n"}},"filters":{"pieces__gt":1}}`, "results",
		`[{"pieces":2,"n":1,"all":1},{"pieces":9,"n":1,"all":2},{"pieces":10,"n":1,"all":3}]`},
	{"filtered measures", "viewer", "aggregate_deal", `{"measures":{"big":{"sum":"total","filters":{"pieces__lt":5}},"r":{"ratio":["big","n"]},"n":{"count":"total"}}}`, "results", `[{"big":"110.500000","r":"36.833333333333","n":3}]`},
	{"a policy compares the texts", "clerk", "list_deal", `{"fields":["total"]}`, "results", `[{"id":2,"total":"9"},{"id":3,"total":"n/a"}]`},
	{"computed under a policy", "clerk", "aggregate_deal", `{"measures":{"s":{"sum":"total"}},"filters":{"pieces__gt":1}}`, "results", `[{"s":"9.000000"}]`},
}

func TestReadingsAreAskedAsWhatTheyHold(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, importedShop)
			s := &suite{engine, harness.Serve(t, database, importedModels(), tokens(), withAudit), plain}
			for _, tc := range readingCases {
				s.check(t, tc.name, func(t *testing.T) { want(t, s.ok(t, tc.token, tc.tool, tc.arguments), tc.want, tc.member) })
			}
			s.check(t, "pages by a cursor", func(t *testing.T) {
				arguments, ids := `{"fields":["id"],"order_by":["-pieces"],"limit":2}`, ""
				for arguments != "" {
					page := s.ok(t, "viewer", "list_deal", arguments)
					ids += column(t, page, "id") + " "
					arguments = ""
					if cursor, ok := page["next_cursor"].(string); ok {
						arguments = fmt.Sprintf(`{"fields":["id"],"order_by":["-pieces"],"limit":2,"cursor":%q}`, cursor)
					}
				}
				got := strings.Fields(ids)
				if engine.Name == contract.EnginePostgreSQL || engine.Name == contract.EngineDuckDB { // NULLs come first there
					got = append(got[1:], got[0])
				}
				if len(got) != 5 || strings.Join(got, " ") != "2 3 1 4 5" {
					t.Fatalf("the pages have %v", got)
				}
			})
			s.check(t, "descriptions say it", func(t *testing.T) {
				described := s.ok(t, "viewer", "describe_deal", `{}`)
				want(t, described, `{"name":"pieces","type":"text","reads":"integer","required":false,"nullable":true,"max_length":40,"help_text":"Rows show the text. Compared, ordered, grouped and computed as integer (at most 18 digits, perhaps with a sign); any other text is null there. contains, startswith, … ask the text."}`, "fields", 3)
			})
			s.check(t, "values must be of the type", func(t *testing.T) {
				s.fails(t, "viewer", "list_deal", `{"filters":{"total":"n/a"}}`, "invalid_argument")
				s.fails(t, "viewer", "list_deal", `{"filters":{"due__gt":"2026-02-30"}}`, "invalid_argument")
			})
			s.check(t, "a masked field stays masked", func(t *testing.T) {
				s.fails(t, "viewer", "list_deal", `{"filters":{"score__gt":1}}`, "invalid_argument")
				s.fails(t, "viewer", "aggregate_deal", `{"measures":{"s":{"sum":"score"}}}`, "invalid_argument")
			})
			s.check(t, "writes take texts", func(t *testing.T) {
				s.ok(t, "root", "create_deal", `{"data":{"id":6,"total":"to be told","pieces":"3"}}`)
				s.ok(t, "root", "update_deal", `{"id":6,"data":{"total":"7.25"}}`)
				want(t, s.ok(t, "viewer", "list_deal", `{"fields":["total"],"filters":{"total":7.25}}`), `[{"id":6,"total":"7.25"}]`, "results")
			})
		})
	}
}

// codedShop is a shop whose postal codes are integers.
const codedShop = `
create table town (code int primary key, name varchar(20), old_code varchar(10));
create table shop (id int primary key, zip int, account bigint, town_code int, note varchar(10));
insert into town values (8050, 'Oerlikon', '8050'), (80331, 'Munich', '80331'), (9, 'Nine', '09');
insert into shop values (1, 8050, 9000000000000000001, 8050, 'a'), (2, 80331, 12, 80331, 'b'), (3, 9, 110, 9, '9'), (4, -12, 2, null, '-12'), (5, null, null, 8050, null)`

func codedModels() []contract.Model {
	code := func(names ...string) (all []contract.FieldOverride) {
		for _, name := range names {
			all = append(all, contract.FieldOverride{Name: name, Reads: "Text"})
		}
		return all
	}
	return []contract.Model{
		{Name: "town", Table: "town", Expose: true},
		{Name: "shop", Table: "shop", Expose: true, Overrides: code("zip", "account"), Ordering: []string{"zip"},
			Relations: []contract.Relation{{Name: "town", Columns: []string{"town_code"}, Model: "town"}},
			RowPolicies: []contract.RowPolicy{
				{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "zip", Lookup: "gt", Value: "9"}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			}},
	}
}

// codeCases are calls and the results that they have on every engine.
var codeCases = []struct{ name, token, tool, arguments, member, want string }{
	{"rows show the number", "viewer", "list_shop", `{"fields":["zip"],"filters":{"id__lte":2},"order_by":["id"]}`, "results", `[{"id":1,"zip":8050},{"id":2,"zip":80331}]`},
	{"equal as a number", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip":8050}}`, "results", `[{"id":1}]`},
	{"equal as a text", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip":"8050"}}`, "results", `[{"id":1}]`},
	{"one of some", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__in":["9",80331]},"order_by":["id"]}`, "results", `[{"id":2},{"id":3}]`},
	{"not equal", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__ne":9},"order_by":["id"]}`, "results", `[{"id":1},{"id":2},{"id":4},{"id":5}]`},
	{"no code", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__isnull":true}}`, "results", `[{"id":5}]`},
	{"the beginning", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__startswith":"80"},"order_by":["id"]}`, "results", `[{"id":1},{"id":2}]`},
	{"the beginning as a number", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__startswith":803}}`, "results", `[{"id":2}]`},
	{"a piece", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip":{"icontains":"05"}}}`, "results", `[{"id":1}]`},
	{"the end of a long one", "viewer", "list_shop", `{"fields":["id"],"filters":{"account__endswith":"001"}}`, "results", `[{"id":1}]`},
	{"greater as texts", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__gt":8050},"order_by":["id"]}`, "results", `[{"id":3}]`},
	{"in a range of texts", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__range":[80,"81"]},"order_by":["id"]}`, "results", `[{"id":1},{"id":2}]`},
	{"ordered", "viewer", "list_shop", `{"fields":["id"],"order_by":["-account"],"filters":{"account__isnull":false}}`, "results", `[{"id":1},{"id":4},{"id":2},{"id":3}]`},
	{"the model's own order", "viewer", "list_shop", `{"fields":["zip"],"filters":{"zip__isnull":false}}`, "results", `[{"id":4,"zip":-12},{"id":2,"zip":80331},{"id":1,"zip":8050},{"id":3,"zip":9}]`},
	{"groups", "viewer", "aggregate_shop", `{"group_by":["zip"],"measures":{"n":{"count":"*"}},"filters":{"zip__startswith":"80"}}`, "results", `[{"zip":"80331","n":1},{"zip":"8050","n":1}]`},
	{"groups of beginnings", "viewer", "aggregate_shop", `{"group_by":["zip__prefix_2"],"measures":{"n":{"count":"*"}},"having":{"zip__prefix_2__isnull":false}}`, "results", `[{"zip__prefix_2":"-1","n":1},{"zip__prefix_2":"80","n":2},{"zip__prefix_2":"9","n":1}]`},
	{"counts and extremes", "viewer", "aggregate_shop", `{"measures":{"n":{"count":"zip"},"d":{"count_distinct":"zip"},"last":{"max":"zip"},"all":{"texts":"zip"}},"filters":{"zip__ne":-12}}`, "results", `[{"n":3,"d":3,"last":"9","all":"80331, 8050, 9"}]`},
	{"the first of each beginning", "viewer", "list_shop", `{"fields":["id"],"top":{"per":["zip"],"n":1},"order_by":["zip"],"filters":{"zip__startswith":"80"}}`, "results", `[{"id":2},{"id":1}]`},
	{"another text", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip":{"_field":"town__old_code"}},"order_by":["id"]}`, "results", `[{"id":1},{"id":2}]`},
	{"another code", "viewer", "list_shop", `{"fields":["id"],"filters":{"account__gt":{"_field":"zip"}},"order_by":["id"]}`, "results", `[{"id":1},{"id":4}]`},
	{"another number", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip":{"_field":"town_code"}},"order_by":["id"]}`, "results", `[{"id":1},{"id":2},{"id":3}]`},
	{"values of texts", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__in":{"_values":{"model":"town","field":"old_code"}}},"order_by":["id"]}`, "results", `[{"id":1},{"id":2}]`},
	{"values of numbers", "viewer", "list_shop", `{"fields":["id"],"filters":{"zip__in":{"_values":{"model":"town","field":"code"}}},"order_by":["id"]}`, "results", `[{"id":1},{"id":2},{"id":3}]`},
	{"behind a relation", "viewer", "list_town", `{"fields":["name"],"filters":{"shop_by_town__any":{"zip__startswith":"80"}},"order_by":["name"]}`, "results", `[{"id":80331,"name":"Munich"},{"id":8050,"name":"Oerlikon"}]`},
	{"a policy compares the numbers", "clerk", "list_shop", `{"fields":["id"],"filters":{"zip__startswith":"80"},"order_by":["id"]}`, "results", `[{"id":1},{"id":2}]`},
}

func TestCodesInNumbersAreAskedAsTexts(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, codedShop)
			s := &suite{engine, harness.Serve(t, database, codedModels(), tokens(), withAudit), plain}
			for _, tc := range codeCases {
				s.check(t, tc.name, func(t *testing.T) { want(t, s.ok(t, tc.token, tc.tool, tc.arguments), tc.want, tc.member) })
			}
			s.check(t, "pages by a cursor", func(t *testing.T) {
				arguments, ids := `{"fields":["id"],"filters":{"zip__isnull":false},"limit":1}`, ""
				for arguments != "" {
					page := s.ok(t, "viewer", "list_shop", arguments)
					ids += column(t, page, "id") + " "
					arguments = ""
					if cursor, ok := page["next_cursor"].(string); ok {
						arguments = fmt.Sprintf(`{"fields":["id"],"filters":{"zip__isnull":false},"limit":1,"cursor":%q}`, cursor)
					}
				}
				if got := strings.Join(strings.Fields(ids), " "); got != "4 2 1 3" {
					t.Fatalf("the pages have %s, want 4 2 1 3", got)
				}
			})
			s.check(t, "no code is computed with", func(t *testing.T) {
				got := s.fails(t, "viewer", "aggregate_shop", `{"measures":{"s":{"sum":"zip"}}}`, "invalid_argument")
				if text := fmt.Sprint(got); !strings.Contains(text, "sum does not take zip, whose numbers are codes; count or group_by it") {
					t.Errorf("a sum of codes is refused by %s", text)
				}
				s.fails(t, "viewer", "aggregate_shop", `{"measures":{"s":{"avg":"zip"}}}`, "invalid_argument")
				s.fails(t, "viewer", "list_shop", `{"fields":[{"as":"x","add":["zip",1]}]}`, "invalid_argument")
			})
			s.check(t, "descriptions say it", func(t *testing.T) {
				described := s.ok(t, "viewer", "describe_shop", `{}`)
				got := at(t, described, "fields", 1)
				info, _ := got.(object)
				if info["type"] != "integer" || info["reads"] != "text" || !strings.HasPrefix(fmt.Sprint(info["help_text"]), "Codes: rows show the number.") {
					t.Errorf("describe_ says %v", got)
				}
			})
			s.check(t, "writes take numbers", func(t *testing.T) {
				s.ok(t, "root", "create_shop", `{"data":{"id":6,"zip":4051}}`)
				want(t, s.ok(t, "viewer", "list_shop", `{"fields":["zip"],"filters":{"zip__startswith":"405"}}`), `[{"id":6,"zip":4051}]`, "results")
			})
		})
	}
}
