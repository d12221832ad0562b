package tools

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// describe_ and the input schemas say in plain words and JSON what a field's values are, and never in SQL.
func TestWhatFieldsAreSaidToHold(t *testing.T) {
	for _, tc := range []struct {
		name             string
		column           database.Column
		check            *database.Check
		described, input string
	}{
		{"a constant default", database.Column{Kind: database.Integer, Bits: 32, HasDefault: true, Default: new("0")}, nil,
			`{"name":"f","type":"integer","required":false,"default":0}`, `{"type":"integer"}`},
		{"a computed default", database.Column{Kind: database.Integer, Bits: 32, HasDefault: true}, nil,
			`{"name":"f","type":"integer","required":false,"default":"computed by the database"}`, `{"type":"integer"}`},
		{"a default that is false", database.Column{Kind: database.Boolean, HasDefault: true, Default: new("false")}, nil,
			`{"name":"f","type":"boolean","required":false,"default":false}`, `{"type":"boolean"}`},
		{"a boolean that may hold other numbers", database.Column{Kind: database.Boolean, Bits: 8}, nil,
			`{"name":"f","type":"boolean","required":true}`, `{"type":["boolean","integer"]}`},
		{"bounds", database.Column{Kind: database.Integer, Bits: 32}, &database.Check{Minimum: "0", Maximum: "100", ExclusiveMaximum: true},
			`{"name":"f","type":"integer","required":true,"minimum":0,"exclusive_maximum":100}`, `{"type":"integer","minimum":0,"exclusiveMaximum":100}`},
		{"bounds of a decimal", database.Column{Kind: database.Decimal, Precision: 5, Scale: 2}, &database.Check{Minimum: "0.50"},
			`{"name":"f","type":"decimal","format":"decimal number","required":true,"minimum":"0.50"}`, `{"type":["number","string"]}`},
		{"lengths", database.Column{Kind: database.Text, MaxLength: 20}, &database.Check{MinLength: 2, MaxLength: 10},
			`{"name":"f","type":"text","required":true,"min_length":2,"max_length":10}`, `{"type":"string","minLength":2,"maxLength":10}`},
		{"a time with a zone", database.Column{Kind: database.TimestampTZ}, nil,
			`{"name":"f","type":"datetime","format":"RFC 3339; without a zone, it is taken in UTC","required":true}`, `{"type":"string","description":"RFC 3339"}`},
		{"an array", database.Column{Kind: database.Array, Element: database.Integer}, nil,
			`{"name":"f","type":"array","format":"array of integer values","required":true}`, `{"type":"array","description":"array of integer values"}`},
		{"an address", database.Column{Kind: database.Other, NativeType: "inet"}, nil,
			`{"name":"f","type":"other","format":"inet, such as 192.0.2.1","required":true}`, `{"type":"string","description":"inet, such as 192.0.2.1"}`},
		{"bits", database.Column{Kind: database.Other, NativeType: "bit(3)", MaxLength: 3}, nil,
			`{"name":"f","type":"other","format":"bit(3), such as 001","required":true,"max_length":3}`, `{"type":"string","description":"bit(3), such as 001"}`},
		{"PostgreSQL's point", database.Column{Kind: database.Other, NativeType: "point", Incomparable: true}, nil,
			`{"name":"f","type":"other","format":"point, such as (1,2)","required":true}`, `{"type":"string","description":"point, such as (1,2)"}`},
		{"MySQL's point", database.Column{Kind: database.Other, NativeType: "point"}, nil,
			`{"name":"f","type":"other","format":"point, such as POINT(1 2)","required":true}`, `{"type":"string","description":"point, such as POINT(1 2)"}`},
		{"a type that is not known here", database.Column{Kind: database.Other, NativeType: "isbn13"}, nil,
			`{"name":"f","type":"other","format":"isbn13","required":true}`, `{"type":"string","description":"isbn13"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &catalog.Field{Name: "f", Column: &tc.column, Check: tc.check}
			for got, want := range map[string]string{text(t, describeField(f)): tc.described, text(t, call.ValueSchema(f)): tc.input} {
				if got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}
		})
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
