package lookup

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestLookingIntoArraysAndDocuments(t *testing.T) {
	words := &database.Column{Kind: database.Array, Element: database.Text, NativeType: "text[]", Contains: true}
	small := &database.Column{Kind: database.Array, Element: database.Integer, NativeType: "smallint[]", Contains: true}
	doc := &database.Column{Kind: database.JSON, Contains: true}
	list := func(values ...database.Value) []database.Value { return append([]database.Value{}, values...) }
	for _, tc := range []struct {
		column       *database.Column
		lookup, json string
		want         database.Condition
		message      string
	}{
		{words, "contains", `"a"`, database.Holds{Column: words, Op: database.HoldsAll, Value: list("a")}, ""},
		{words, "contains", `["a","b"]`, database.Holds{Column: words, Op: database.HoldsAll, Value: list("a", "b")}, ""},
		{words, "contains", `[]`, database.Holds{Column: words, Op: database.HoldsAll, Value: list()}, ""},
		{words, "overlap", `["a"]`, database.Holds{Column: words, Op: database.HoldsAny, Value: list("a")}, ""},
		{words, "contained_by", `["a"]`, database.Holds{Column: words, Op: database.HoldsOnly, Value: list("a")}, ""},
		{words, "contains", `null`, nil, "must be an element, or an array of elements, not null; use isnull"},
		{words, "contains", `[null]`, nil, "must have no null among its values; use isnull"},
		{words, "contains", `5`, nil, "each value must be a string, not 5"},
		{words, "overlap", `"a"`, nil, `must be an array of values, not "a"`},
		{small, "contains", `70000`, database.Never, ""},
		{small, "contains", `"99999999999999999999"`, database.Never, ""},
		{small, "overlap", `[1, 70000]`, database.Holds{Column: small, Op: database.HoldsAny, Value: list(int64(1))}, ""},
		{doc, "contains", `{"a": [1, {"b": null}]}`, database.Holds{Column: doc, Op: database.HoldsAll, Value: []byte(`{"a":[1,{"b":null}]}`)}, ""},
		{doc, "contains", `"a"`, database.Holds{Column: doc, Op: database.HoldsAll, Value: []byte(`["a"]`)}, ""},
		{doc, "contains", `[1]`, database.Holds{Column: doc, Op: database.HoldsAll, Value: []byte(`[1]`)}, ""},
		{doc, "contains", `null`, nil, "must be an object, or elements of an array, not null; use isnull"},
		{doc, "contains", `{"a":"\u0000"}`, nil, "must not contain U+0000"},
		{doc, "contains", `[1e999]`, nil, "must have no number beyond ±9007199254740991, not 1e999"},
		{doc, "contains", `[-9007199254740992]`, nil, "must have no number beyond ±9007199254740991, not -9007199254740992"},
		{doc, "contains", `[[[[[[1]]]]]]`, nil, "must have at most 32 names and values, and be at most 5 levels deep"},
		{doc, "contains", `[` + strings.Repeat("1,", 31) + `1]`, nil, "must have at most 32 names and values, and be at most 5 levels deep"},
		{doc, "overlap", `["a",{"b":1}]`, database.Holds{Column: doc, Op: database.HoldsAny, Value: []byte(`["a",{"b":1}]`)}, ""},
		{doc, "overlap", `{"a":1}`, nil, `must be an array of values, not {"a":1}`},
		{doc, "overlap", `null`, nil, `must be an array of values, not null`},
		{doc, "contained_by", `["a",{"b":1}]`, nil, "must be an array of texts, numbers, true, false or null; use contains or overlap for objects and arrays"},
		{doc, "has_key", `"a"`, database.Holds{Column: doc, Op: database.HasKey, Value: "a"}, ""},
		{doc, "has_key", `["a"]`, nil, `must be a string, not ["a"]`},
	} {
		got, err := Find(tc.lookup)(Calendar{}, tc.column, json.RawMessage(tc.json))
		if tc.message == "" && (err != nil || !reflect.DeepEqual(got, tc.want)) {
			t.Errorf("%s %s is %#v (%v), want %#v", tc.lookup, tc.json, got, err, tc.want)
		}
		if tc.message != "" && (err == nil || err.Error() != tc.message) {
			t.Errorf("%s %s: %v, want %q", tc.lookup, tc.json, err, tc.message)
		}
	}
}

// A column has the lookups that its engine can answer, and no others.
func TestLookupsFollowWhatTheEngineCanTell(t *testing.T) {
	for _, tc := range []struct {
		column          *database.Column
		want, attribute string
	}{
		{&database.Column{Kind: database.JSON}, "isnull", ""},
		{&database.Column{Kind: database.Array, Incomparable: true}, "isnull", ""},
		{&database.Column{Kind: database.JSON, Contains: true}, "contains isnull contained_by overlap has_key", "has_key"},
		{&database.Column{Kind: database.JSON, Contains: true, Incomparable: true}, "contains isnull contained_by overlap has_key", "has_key"},
		{&database.Column{Kind: database.Array, Contains: true}, "contains isnull contained_by overlap", "contains"},
		{&database.Column{Kind: database.Date}, "exact gt gte lt lte in range isnull ne date year month day quarter week weekday", "exact gt gte lt lte ne date year month day quarter week weekday"},
		{&database.Column{Kind: database.TimestampTZ}, "exact gt gte lt lte in range isnull ne date year month day quarter week weekday hour", "exact gt gte lt lte ne date year month day quarter week weekday hour"},
	} {
		if got := strings.Join(Of(tc.column), " "); got != tc.want {
			t.Errorf("%+v has %s, want %s", tc.column, got, tc.want)
		}
		if got := strings.Join(WithAttribute(tc.column), " "); got != tc.attribute {
			t.Errorf("%+v takes attributes for %s, want %s", tc.column, got, tc.attribute)
		}
	}
	if names := slices.Compact(slices.Sorted(slices.Values(Names))); len(names) != len(Names) {
		t.Errorf("a name stands twice among %v", Names)
	}
}

func TestAnAdministratorLooksIntoArraysAndDocuments(t *testing.T) {
	numbers := &database.Column{Kind: database.Array, Element: database.Integer, NativeType: "integer[]", Contains: true}
	doc := &database.Column{Kind: database.JSON, Contains: true}
	for _, tc := range []struct {
		column      *database.Column
		name, value string
		values      []string
		want        database.Condition // nil: refused
	}{
		{numbers, "contains", "5", nil, database.Holds{Column: numbers, Op: database.HoldsAll, Value: []database.Value{int64(5)}}},
		{numbers, "overlap", "", []string{"5", "6"}, database.Holds{Column: numbers, Op: database.HoldsAny, Value: []database.Value{int64(5), int64(6)}}},
		{numbers, "overlap", "", []string{"x"}, nil},
		{numbers, "has_key", "a", nil, nil},
		{doc, "contains", `{"a":1}`, nil, database.Holds{Column: doc, Op: database.HoldsAll, Value: []byte(`{"a":1}`)}},
		{doc, "contains", `"a"`, nil, database.Holds{Column: doc, Op: database.HoldsAll, Value: []byte(`["a"]`)}},
		{doc, "contains", `a`, nil, nil},
		{doc, "overlap", "", []string{`"a"`, "1"}, database.Holds{Column: doc, Op: database.HoldsAny, Value: []byte(`["a",1]`)}},
		{doc, "has_key", "a", nil, database.Holds{Column: doc, Op: database.HasKey, Value: "a"}},
	} {
		got, err := FromText(tc.column, tc.name, tc.value, tc.values)
		if (err != nil) != (tc.want == nil) || err == nil && !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s %q %q is %#v (%v), want %#v", tc.name, tc.value, tc.values, got, err, tc.want)
		}
	}
}
