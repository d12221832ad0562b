package lookup

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestIntegersCompareWithFractions(t *testing.T) {
	plain := &database.Column{Kind: database.Integer}
	loose := &database.Column{Kind: database.Integer, Loose: true}
	compare := func(c *database.Column, op database.CompareOp, v database.Value) database.Condition {
		return database.Compare{Column: c, Op: op, Value: v}
	}
	for _, tc := range []struct {
		column       *database.Column
		lookup, json string
		want         database.Condition // nil: refused
	}{
		{plain, "gt", `"34.500000"`, compare(plain, database.Greater, int64(34))},
		{plain, "gte", `34.5`, compare(plain, database.Greater, int64(34))},
		{plain, "lt", `"34.5"`, compare(plain, database.LessOrEqual, int64(34))},
		{plain, "lte", `"34.5"`, compare(plain, database.LessOrEqual, int64(34))},
		{plain, "gt", `"-3.5"`, compare(plain, database.Greater, int64(-4))},
		{plain, "lt", `"-0.5"`, compare(plain, database.LessOrEqual, int64(-1))},
		{plain, "lt", `"37.000000"`, compare(plain, database.Less, int64(37))},
		{plain, "gte", `"37.000000"`, compare(plain, database.GreaterOrEqual, int64(37))},
		{loose, "gt", `"34.500000"`, compare(loose, database.Greater, 34.5)},
		{plain, "gt", `"34.5x"`, nil},
		{plain, "exact", `"34.5"`, nil},
	} {
		got, err := Find(tc.lookup)(Calendar{}, tc.column, json.RawMessage(tc.json))
		if (err != nil) != (tc.want == nil) || err == nil && !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s %s: got %+v and %v, want %+v", tc.lookup, tc.json, got, err, tc.want)
		}
	}
}
