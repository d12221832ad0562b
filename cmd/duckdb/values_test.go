package duckdb_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// finds asks for the rows that meet filters, and compares their values of v.
func finds(t *testing.T, file string, tables []string, cases [][3]string) {
	t.Helper()
	e, token := serve(t, file, tables...)
	for _, c := range cases {
		text, isError := e.Call(token, "list_"+c[0], `{"fields":["v"],"order_by":["v"],"filters":{`+c[1]+`}}`)
		var page struct{ Results []struct{ V int } }
		err, found := json.Unmarshal([]byte(text), &page), ""
		for _, row := range page.Results {
			found += fmt.Sprintf("[%d]", row.V)
		}
		if isError || err != nil || found != c[2] {
			t.Errorf("%s %s finds %s, want %s", c[0], c[1], text, c[2])
		}
	}
}

func TestMomentsAreComparedToTheNanosecond(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nanos.duckdb")
	made(t, file, "CREATE TABLE tick (id TIMESTAMP_NS PRIMARY KEY, v INTEGER)", "INSERT INTO tick SELECT make_timestamp_ns(1700000000000000000 + i), i FROM range(3) t(i)")
	e, token := serve(t, file, "tick")
	if text, isError := e.Call(token, "get_tick", `{"id":"2023-11-14T22:13:20.000000002"}`); isError || !strings.Contains(text, `"v":2`) {
		t.Errorf("the row of a key is %s", text)
	}
	text, isError := e.Call(token, "aggregate_tick", `{"group_by":["v"],"measures":{"last":{"max":"id"}},"having":{"last__gt":"2023-11-14T22:13:20.000000001"}}`)
	if isError || !strings.Contains(text, `"results":[{"v":2,"last":"2023-11-14T22:13:20.000000002"}]`) {
		t.Errorf("groups are %s", text)
	}
	finds(t, file, []string{"tick"}, [][3]string{
		{"tick", `"id":"2023-11-14T22:13:20.000000001Z"`, `[1]`},
		{"tick", `"id__in":["2023-11-14T22:13:20.000000001","1500-01-01T00:00:00"]`, `[1]`},
		{"tick", `"id__gt":"2023-11-14T22:13:20.000000001"`, `[2]`},
		{"tick", `"id__lt":"2023-11-14T22:13:20.000000001"`, `[0]`},
		{"tick", `"id__lt":"1500-01-01"`, ``},
		{"tick", `"id__gt":"1500-01-01"`, `[0][1][2]`},
		{"tick", `"id__lt":"9999-01-01T00:00:00"`, `[0][1][2]`},
		{"tick", `"id":"1500-01-01T00:00:00"`, ``},
		{"tick", `"id__year":1500`, ``},
		{"tick", `"id__date":"2023-11-14"`, `[0][1][2]`},
	})
}

func TestNumbersAreComparedToTheLastDigit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "huge.duckdb")
	made(t, file,
		"CREATE TABLE huge (id HUGEINT PRIMARY KEY, v INTEGER)", "INSERT INTO huge SELECT 170141183460469231731687303715884105725::HUGEINT + i, i FROM range(3) t(i)", "INSERT INTO huge VALUES ('-170141183460469231731687303715884105728'::HUGEINT, -1)",
		"CREATE TABLE amount (id INTEGER PRIMARY KEY, v INTEGER, d DECIMAL(38,10), e DECIMAL(38,38), f FLOAT)",
		"INSERT INTO amount VALUES (1, 1, 0, 0.5, 0.1), (2, 2, 0.0000000001, 0.25, 2), (3, 3, -9999999999999999999999999999.9999999999, -0.5, 3)")
	e, token := serve(t, file, "huge")
	if text, isError := e.Call(token, "get_huge", `{"id":"170141183460469231731687303715884105726"}`); isError || !strings.Contains(text, `"v":1`) {
		t.Errorf("the row of a key is %s", text)
	}
	text, isError := e.Call(token, "aggregate_huge", `{"group_by":["v"],"measures":{"last":{"max":"id"}},"having":{"last__gt":"170141183460469231731687303715884105726"}}`)
	if isError || !strings.Contains(text, `"results":[{"v":2,"last":"170141183460469231731687303715884105727"}]`) {
		t.Errorf("groups are %s", text)
	}
	finds(t, file, []string{"huge", "amount"}, [][3]string{
		{"huge", `"id":"170141183460469231731687303715884105727"`, `[2]`},
		{"huge", `"id__in":["170141183460469231731687303715884105725","1"]`, `[0]`},
		{"huge", `"id__gt":"170141183460469231731687303715884105726"`, `[2]`},
		{"huge", `"id__lt":"170141183460469231731687303715884105726"`, `[-1][0]`},
		{"huge", `"id__lt":"170141183460469231731687303715884105728"`, `[-1][0][1][2]`},
		{"huge", `"id":"170141183460469231731687303715884105728"`, ``},
		{"huge", `"id__lte":"-170141183460469231731687303715884105728"`, `[-1]`},
		{"amount", `"d__gt":"0.00000000005"`, `[2]`},
		{"amount", `"d__gte":"0.0000000001"`, `[2]`},
		{"amount", `"d__lt":"0.00000000005"`, `[1][3]`},
		{"amount", `"d":"0.00000000005"`, ``},
		{"amount", `"d":"0.00000000010"`, `[2]`},
		{"amount", `"d__in":["0.00000000005","0.0000000001000"]`, `[2]`},
		{"amount", `"d__lt":"99999999999999999999999999999999999"`, `[1][2][3]`},
		{"amount", `"d__gt":"99999999999999999999999999999999999"`, ``},
		{"amount", `"d__gt":"-99999999999999999999999999999999999"`, `[1][2][3]`},
		{"amount", `"d__lte":"-99999999999999999999999999999999999"`, ``},
		{"amount", `"d__lt":"-9999999999999999999999999999.99999999995"`, ``},
		{"amount", `"d__lte":"-9999999999999999999999999999.9999999999"`, `[3]`},
		{"amount", `"d__gt":"1e30"`, ``},
		{"amount", `"e":"0.5"`, `[1]`},
		{"amount", `"e__lt":"7"`, `[1][2][3]`},
		{"amount", `"e__gt":"-0.5"`, `[1][2]`},
		{"amount", `"f__lt":1e300`, `[1][2][3]`},
		{"amount", `"f":0.1`, `[1]`},
	})
}
