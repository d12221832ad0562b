package chinook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

type page struct {
	Count      int
	TotalCount int    `json:"total_count"`
	NextCursor string `json:"next_cursor"`
	Results    []map[string]any
}

func (e engine) quotedAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = e.quoted(name)
	}
	return strings.Join(quoted, ", ")
}

// testList walks all pages of a table, which must be its rows in the order of the key, each once.
func (e engine) testList(t *testing.T, table string, columns, keys []string) {
	want := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", e.row(columns), e.quoted(table), e.quotedAll(keys)))
	if len(want) == 0 {
		t.Fatal("the table is empty")
	}
	const limit = 700
	for offset := 0; offset <= len(want); offset += limit {
		var got page
		e.call(t, "list_"+table, fmt.Sprintf(`{"limit":%d,"offset":%d,"max_bytes":1000000}`, limit, offset), &got)
		rest := want[offset:min(offset+limit, len(want))]
		if got.TotalCount != len(want) || got.Count != len(rest) || len(got.Results) != len(rest) {
			t.Fatalf("at %d: count %d, total_count %d, %d results; want %d of %d", offset, got.Count, got.TotalCount, len(got.Results), len(rest), len(want))
		}
		for i, row := range got.Results {
			e.sameRow(t, table, columns, keys, row, rest[i])
		}
	}
	e.testCursors(t, table, columns, keys, want)
	var first page
	e.call(t, "list_"+table, `{}`, &first)
	if want := min(100, len(want)); first.Count != want {
		t.Errorf("a page without a limit has %d rows, want %d", first.Count, want)
	}
	var subset page
	e.call(t, "list_"+table, fmt.Sprintf(`{"limit":1,"fields":[%q]}`, e.field(table, columns[len(columns)-1])), &subset)
	if got := len(subset.Results[0]); got != 2 {
		t.Errorf("a row of one field has %d members, want it and the id: %v", got, subset.Results[0])
	}
}

// testGet asks for the first, a middle and the last row, by the id that lists show, and for one that is not there.
func (e engine) testGet(t *testing.T, table string, columns, keys []string) {
	all := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", e.row(columns), e.quoted(table), e.quotedAll(keys)))
	for _, want := range []map[string]any{all[0], all[len(all)/2], all[len(all)-1]} {
		id, err := json.Marshal(e.id(keys, want))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		e.call(t, "get_"+table, fmt.Sprintf(`{"id":%s}`, id), &got)
		e.sameRow(t, table, columns, keys, got, want)
	}
	missing := `"999999"`
	if len(keys) > 1 {
		missing = `"999999,1"`
	}
	text, isError := e.endpoint.Call(e.token, "get_"+table, fmt.Sprintf(`{"id":%s}`, missing))
	if want := fmt.Sprintf(`{"error":"%s not found","code":"not_found"}`, table); !isError || text != want {
		t.Errorf("a missing row answers %s, want %s", text, want)
	}
}

func (e engine) testDescribe(t *testing.T, table string, columns, keys []string) {
	var got struct {
		ModelName string `json:"model_name"`
		Fields    []struct {
			Name, Type string
			Required   bool
			PrimaryKey bool `json:"primary_key"`
		}
		Relationships []struct {
			Name, Kind   string
			RelatedModel string `json:"related_model"`
		}
	}
	e.call(t, "describe_"+table, `{}`, &got)
	if got.ModelName != table || len(got.Fields) != len(columns) {
		t.Fatalf("%s has %d fields, want %s with %d", got.ModelName, len(got.Fields), table, len(columns))
	}
	for i, c := range columns {
		if f := got.Fields[i]; f.Name != e.field(table, c) || f.Type != typeOf(c) || f.PrimaryKey != slices.Contains(keys, c) {
			t.Errorf("field %d is %+v, want %s %s", i, f, e.field(table, c), typeOf(c))
		}
	}
	var forward []string
	for key := range foreignKeys {
		if strings.HasPrefix(key, table+".") {
			forward = append(forward, strings.TrimSuffix(foreignKeys[key], "_id"))
		}
	}
	for _, r := range got.Relationships {
		if r.Kind == "many_to_one" && !slices.Contains(forward, r.Name) {
			t.Errorf("relation %s is none of %q", r.Name, forward)
		}
		forward = slices.DeleteFunc(forward, func(name string) bool { return name == r.Name })
	}
	if len(forward) > 0 {
		t.Errorf("relations %q are missing", forward)
	}
}

// typeOf is the type that describe_ gives a column of Chinook: the name tells.
func typeOf(column string) string {
	switch {
	case strings.HasSuffix(column, "_id"), slices.Contains([]string{"reports_to", "milliseconds", "bytes", "quantity"}, column):
		return "integer"
	case column == "unit_price", column == "total":
		return "decimal"
	case strings.HasSuffix(column, "_date"):
		return "datetime"
	}
	return "text"
}

// testFilters holds lookups and search against the WHERE that they mean. In keys and conditions {name} is a column.
func (e engine) testFilters(t *testing.T) {
	like, date := "LIKE", func(c string) string { return "date(" + c + ")" }
	if e.name == "PostgreSQL" {
		like = "ILIKE"
	}
	part := func(which, c string) string {
		if e.name == "PostgreSQL" {
			return "extract(" + which + " FROM " + c + ")"
		}
		if e.name == "MariaDB" {
			return "extract(" + which + " FROM " + c + ")"
		}
		return "CAST(strftime('" + map[string]string{"year": "%Y", "month": "%m", "day": "%d"}[which] + "', " + c + ") AS INTEGER)"
	}
	for _, tc := range []struct{ table, arguments, where string }{
		{"track", `{"filters":{"{name}":"Balls to the Wall"}}`, `{name} = 'Balls to the Wall'`},
		{"track", `{"filters":{"{name}__iexact":"balls TO the wall"}}`, `lower({name}) = 'balls to the wall'`},
		{"track", `{"filters":{"{name}__contains":"Rock"}}`, `{name} LIKE '%Rock%' AND replace({name}, 'Rock', '') <> {name}`},
		{"track", `{"filters":{"{name}__icontains":"rOCK"}}`, `{name} ` + like + ` '%rock%'`},
		{"track", `{"filters":{"{name}__startswith":"The"}}`, e.binary + `substr({name}, 1, 3) = 'The'`},
		{"track", `{"filters":{"{name}__istartswith":"THE"}}`, `lower(substr({name}, 1, 3)) = 'the'`},
		{"track", `{"filters":{"{name}__endswith":"Love"}}`, e.binary + `substr({name}, ` + e.length + `({name}) - 3) = 'Love'`},
		{"track", `{"filters":{"{name}__iendswith":"LOVE"}}`, `lower({name}) LIKE '%love'`},
		{"track", `{"filters":{"{name}__contains":"%"}}`, `{name} LIKE '%$%%' ESCAPE '$'`},
		{"track", `{"filters":{"{name}__contains":"_"}}`, `{name} LIKE '%$_%' ESCAPE '$'`},
		{"track", `{"filters":{"{name}__contains":"\\"}}`, `{name} LIKE '%\%' ESCAPE '$'`},
		{"track", `{"filters":{"{milliseconds}__gt":300000}}`, `{milliseconds} > 300000`},
		{"track", `{"filters":{"{milliseconds}__gte":"343719"}}`, `{milliseconds} >= 343719`},
		{"track", `{"filters":{"{milliseconds}__lt":100000,"{unit_price}":"0.99"}}`, `{milliseconds} < 100000 AND {unit_price} = 0.99`},
		{"track", `{"filters":{"{milliseconds}__lte":1071}}`, `{milliseconds} <= 1071`},
		{"track", `{"filters":{"{milliseconds}__range":[200000,210000]}}`, `{milliseconds} BETWEEN 200000 AND 210000`},
		{"track", `{"filters":{"{unit_price}__gt":0.99}}`, `{unit_price} > 0.99`},
		{"track", `{"filters":{"id__in":[1,2,"3",99999]}}`, `{track_id} IN (1, 2, 3)`},
		{"track", `{"filters":{"id__in":[]}}`, `1 = 0`},
		{"track", `{"filters":{"{composer}":null}}`, `{composer} IS NULL`},
		{"track", `{"filters":{"{composer}__isnull":false}}`, `{composer} IS NOT NULL`},
		{"track", `{"filters":{"{composer}__ne":"AC/DC"}}`, `{composer} <> 'AC/DC' OR {composer} IS NULL`},
		{"track", `{"filters":{"{composer}__ne":null}}`, `{composer} IS NOT NULL`},
		{"track", `{"filters":{"album_id":1}}`, `{album_id} = 1`},
		{"track", `{"filters":{"{album_id}__in":[1,4]}}`, `{album_id} IN (1, 4)`},
		{"track", `{"filters":{"album__{title}__icontains":"rock"}}`, `EXISTS (SELECT 1 FROM {album} a WHERE a.{album_id} = t.{album_id} AND lower(a.{title}) LIKE '%rock%')`},
		{"track", `{"filters":{"genre__{name}__ne":"Rock"}}`, `EXISTS (SELECT 1 FROM {genre} g WHERE g.{genre_id} = t.{genre_id} AND g.{name} <> 'Rock')`},
		{"artist", `{"filters":{"album_by_artist__{title}__isnull":false}}`, `EXISTS (SELECT 1 FROM {album} a WHERE a.{artist_id} = t.{artist_id})`},
		{"employee", `{"filters":{"reports_to__{last_name}":"Edwards"}}`, `EXISTS (SELECT 1 FROM {employee} b WHERE b.{employee_id} = t.{reports_to} AND b.{last_name} = 'Edwards')`},
		{"playlist_track", `{"filters":{"id":"1,3402"}}`, `{playlist_id} = 1 AND {track_id} = 3402`},
		{"playlist_track", `{"filters":{"id__in":["1,3402","1,3389","7,7"]}}`, `{playlist_id} = 1 AND {track_id} IN (3402, 3389)`},
		{"invoice", `{"filters":{"{invoice_date}__gte":"2023-01-01"}}`, `{invoice_date} >= '2023-01-01 00:00:00'`},
		{"invoice", `{"filters":{"{invoice_date}":"2022-01-01T00:00:00"}}`, `{invoice_date} = '2022-01-01 00:00:00'`},
		{"invoice", `{"filters":{"{invoice_date}__range":["2022-01-01","2022-06-30T00:00:00"]}}`, `{invoice_date} BETWEEN '2022-01-01 00:00:00' AND '2022-06-30 00:00:00'`},
		{"invoice", `{"filters":{"{invoice_date}__date":"2022-03-04"}}`, date("{invoice_date}") + ` = '2022-03-04'`},
		{"invoice", `{"filters":{"{invoice_date}__year":2024}}`, part("year", "{invoice_date}") + ` = 2024`},
		{"invoice", `{"filters":{"{invoice_date}__month":2,"{invoice_date}__day":1}}`, part("month", "{invoice_date}") + ` = 2 AND ` + part("day", "{invoice_date}") + ` = 1`},
		{"invoice", `{"filters":{"{total}__gte":"13.86"}}`, `{total} >= 13.86`},
		{"customer", `{"search":"paul SP"}`, searchWhere(e, "customer", "paul", "sp")},
		{"customer", `{"search":"  "}`, `1 = 1`},
		{"album", `{"search":"in","filters":{"artist__{name}__startswith":"A"}}`, `lower({title}) LIKE '%in%' AND EXISTS (SELECT 1 FROM {artist} a WHERE a.{artist_id} = t.{artist_id} AND ` + e.binary + `substr(a.{name}, 1, 1) = 'A')`},
	} {
		t.Run(tc.table+" "+tc.arguments, func(t *testing.T) {
			columns, keys := columnsOf(tc.table)
			names := func(text string, wrap func(string) string) string {
				for _, table := range tables {
					for _, name := range append(strings.Fields(table.columns), table.name) {
						text = strings.ReplaceAll(text, "{"+name+"}", wrap(name))
					}
				}
				return text
			}
			want := e.rows(t, fmt.Sprintf("SELECT %s FROM %s t WHERE %s ORDER BY %s", e.row(columns), e.quoted(tc.table), names(tc.where, e.quoted), e.quotedAll(keys)))
			arguments := strings.Replace(names(tc.arguments, e.column), "{", `{"limit":1000,"max_bytes":1000000,`, 1)
			var got page
			e.call(t, "list_"+tc.table, arguments, &got)
			if got.TotalCount != len(want) || len(got.Results) != min(len(want), 1000) {
				t.Fatalf("%d of %d rows, want %d", len(got.Results), got.TotalCount, len(want))
			}
			for i, row := range got.Results {
				e.sameRow(t, tc.table, columns, keys, row, want[i])
			}
		})
	}
}

func columnsOf(name string) (columns, keys []string) {
	for _, table := range tables {
		if table.name == name {
			columns = strings.Fields(table.columns)
			return columns, columns[:table.keys]
		}
	}
	return nil, nil
}

// searchWhere is the condition of a search for the words: each must be in one of the text columns at least.
func searchWhere(e engine, table string, words ...string) string {
	columns, _ := columnsOf(table)
	var all []string
	for _, word := range words {
		var any []string
		for _, c := range columns {
			if typeOf(c) == "text" {
				any = append(any, fmt.Sprintf("lower(%s) LIKE '%%%s%%'", e.quoted(c), word))
			}
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

func (e engine) testOrdering(t *testing.T) {
	for _, tc := range []struct{ table, orderBy, sql string }{
		{"track", `["-{milliseconds}"]`, `{milliseconds} DESC, {track_id} DESC`},
		{"track", `["{unit_price}","-{name}"]`, `{unit_price}, {name} DESC, {track_id} DESC`},
		{"track", `["-id"]`, `{track_id} DESC`},
		{"invoice", `["-{invoice_date}","{total}"]`, `{invoice_date} DESC, {total}, {invoice_id}`},
		{"playlist_track", `["-track_id"]`, `{track_id} DESC, {playlist_id} DESC`},
		{"playlist_track", `["-id"]`, `{playlist_id} DESC, {track_id} DESC`},
		{"customer", `["{company}"]`, `{company}, {customer_id}`},
	} {
		t.Run(tc.table+" "+tc.orderBy, func(t *testing.T) {
			columns, keys := columnsOf(tc.table)
			orderBy, by := tc.orderBy, tc.sql
			for _, c := range columns {
				orderBy = strings.ReplaceAll(orderBy, "{"+c+"}", e.field(tc.table, c))
				by = strings.ReplaceAll(by, "{"+c+"}", e.quoted(c))
			}
			want := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT 50 OFFSET 13", e.row(columns), e.quoted(tc.table), by))
			var got page
			e.call(t, "list_"+tc.table, fmt.Sprintf(`{"order_by":%s,"limit":50,"offset":13}`, orderBy), &got)
			if len(got.Results) != len(want) {
				t.Fatalf("%d rows, want %d", len(got.Results), len(want))
			}
			for i, row := range got.Results {
				e.sameRow(t, tc.table, columns, keys, row, want[i])
			}
		})
	}
}
