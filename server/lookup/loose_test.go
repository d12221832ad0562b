package lookup

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A Loose column holds values of any type: what a row shows of one must find it.
func TestWhatALooseColumnShowsFindsAllThatIsShownSo(t *testing.T) {
	of := func(k database.Kind, native string) *database.Column {
		return &database.Column{Name: "c", Kind: k, NativeType: native, Loose: true, Scale: -1, Precision: -1}
	}
	list := func(values ...database.Value) []database.Value { return values }
	for _, tc := range []struct {
		column *database.Column
		json   string
		want   []database.Value // nil: refused
	}{
		{of(database.Other, ""), `174`, list(int64(174))},
		{of(database.Other, ""), `174.5`, list(174.5)},
		{of(database.Other, ""), `"174"`, list("174", int64(174))},
		{of(database.Other, ""), `"1.5"`, list("1.5", 1.5)},
		{of(database.Other, ""), `"AP8Q"`, list("AP8Q", []byte{0, 255, 16})},
		{of(database.Other, ""), `"AP8R="`, list("AP8R=")},
		{of(database.Other, ""), `"9223372036854775807"`, list("9223372036854775807", int64(math.MaxInt64))},
		{of(database.Other, ""), `"Infinity"`, list("Infinity", math.Inf(1), []byte{0x22, 0x77, 0xe2, 0x9e, 0x2b, 0x72})},
		{of(database.Bytes, "bytea"), `"AP8Q"`, list([]byte{0, 255, 16}, "AP8Q")},
		{of(database.Bytes, "bytea"), `"no base64"`, list("no base64")},
		{of(database.Bytes, "bytea"), `5`, list(int64(5))},
		{of(database.Integer, "INT"), `5`, list(int64(5))},
		{of(database.Integer, "INT"), `"5"`, list(int64(5))},
		{of(database.Integer, "INT"), `1.5`, list(1.5)},
		{of(database.Integer, "INT"), `"?"`, list("?")},
		{of(database.Integer, "INT"), `true`, nil},
		{of(database.Integer, "INT"), `9007199254740993`, nil},
		{of(database.Integer, "INT"), `10000000000000000000`, list(1e19)},
		{of(database.Other, ""), `9007199254740993`, nil},
		{of(database.Other, ""), `100000000000000000`, list(1e17)},
		{of(database.Decimal, "NUMERIC"), `"1.50"`, list("1.50")},
		{of(database.Decimal, "NUMERIC"), `"n/a"`, list("n/a")},
		{of(database.Boolean, "BOOL"), `true`, list(true)},
		{of(database.Boolean, "BOOL"), `"t"`, list("t")},
		{of(database.Boolean, "BOOL"), `2`, list(int64(2))},
		{of(database.Boolean, "BOOL"), `1`, nil},
		{of(database.Time, "TIME"), `"10:30"`, list("10:30", "10:30:00")},
		{of(database.Time, "TIME"), `"10:30:00.500"`, list("10:30:00.500", "10:30:00.5")},
		{of(database.Date, "DATE"), `"2016-07-04 00:00:00"`, list("2016-07-04 00:00:00")},
		{of(database.Date, "DATE"), `1467590400`, list(int64(1467590400))},
		{of(database.Timestamp, "DATETIME"), `"2016-07-04"`, list("2016-07-04T00:00:00")},
		{of(database.Timestamp, "DATETIME"), `2457573.5`, list(2457573.5)},
		{of(database.Timestamp, "DATETIME"), `"soon"`, list("soon", []byte{0xb2, 0x8a, 0x27})},
		{of(database.Text, "TEXT"), `5`, list("5")},
		{of(database.Text, "TEXT"), `true`, nil},
		{of(database.Text, "STRING"), `5`, list(int64(5))},
		{of(database.Text, "TEXT"), `"a\u0000"`, nil},
	} {
		got, err := equalValues(tc.column, json.RawMessage(tc.json))
		if (err != nil) != (tc.want == nil) || err == nil && !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s in %s is %#v (%v), want %#v", tc.json, tc.column.NativeType, got, err, tc.want)
		}
	}
	if got, err := equalValues(&database.Column{Kind: database.Integer}, json.RawMessage(`"x"`)); err == nil {
		t.Errorf("a column of one type only takes %v", got)
	}
}
