package postgres

import (
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The expressions are as PostgreSQL writes them.
func TestParseCheck(t *testing.T) {
	text := &database.Column{Name: "v", Kind: database.Text, NativeType: "text"}
	varchar := &database.Column{Name: "v", Kind: database.Text, NativeType: "character varying(9)"}
	number := &database.Column{Name: "v", Kind: database.Integer, NativeType: "integer"}
	decimal := &database.Column{Name: "v", Kind: database.Decimal, NativeType: "numeric(5,2)"}
	stamp := &database.Column{Name: "v", Kind: database.TimestampTZ, NativeType: "timestamp(3) with time zone"}
	enum := &database.Column{Name: "v", Kind: database.Enum, NativeType: "mood", Choices: []string{"sad", "ok"}}
	odd := &database.Column{Name: `Odd "v`, Kind: database.Integer, NativeType: "integer"}
	loose := &database.Column{Name: "v", Kind: database.Text, NativeType: "citext", LooseCollation: true}
	for _, test := range []struct {
		column *database.Column
		text   string
		want   string // "" is not understood
	}{
		{text, `(v = ANY (ARRAY['a'::text, 'it''s'::text]))`, "[a it's] .. 0-0"},
		{varchar, `((v)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))`, "[a b] .. 0-0"},
		{varchar, `((v)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))`, "[a b] .. 0-0"},
		{number, `((v = 1) OR (v = 2) OR (v IS NULL))`, "[1 2] .. 0-0"},
		{number, `(v = ANY (ARRAY[1, '-2'::integer]))`, "[1 -2] .. 0-0"},
		{enum, `(v = ANY (ARRAY['sad'::mood, 'ok'::mood]))`, "[sad ok] .. 0-0"},
		{number, `(v > 0)`, "[] >0.. 0-0"},
		{number, `(0 <= v)`, "[] 0.. 0-0"},
		{number, `((v >= '-5'::integer) AND (v <= 10))`, "[] -5..10 0-0"},
		{number, `((v IS NULL) OR ((v >= 1) AND (v < 10)))`, "[] 1..10> 0-0"},
		{number, `((v IS NOT NULL) AND (v > 7))`, "[] >7.. 0-0"},
		{number, `(VALUE > 0)`, "[] >0.. 0-0"},
		{odd, `("Odd ""v" > 0)`, "[] >0.. 0-0"},
		{decimal, `(v >= (0)::numeric)`, "[] 0.. 0-0"},
		{decimal, `(v <= 0.5)`, "[] ..0.5 0-0"},
		{stamp, `(v > '2020-01-01 00:00:00+00'::timestamp with time zone)`, "[] >2020-01-01T00:00:00Z.. 0-0"},
		{text, `((char_length(v) >= 3) AND (length(v) < 11))`, "[] .. 3-10"},
		{varchar, `(length((v)::text) = 5)`, "[] .. 5-5"},
		{text, `(v <> ''::text)`, "[] .. 1-0"},

		{loose, `(v = ANY (ARRAY['a'::citext]))`, ""},
		{text, `(v = ANY (ARRAY['a'::text, CURRENT_USER]))`, ""},
		{text, `(v = ANY (some_function()))`, ""},
		{text, `(v <> ALL (ARRAY['a'::text]))`, ""},
		{text, `(v ~ '^a'::text)`, ""},
		{text, `(v > 'a'::text)`, ""},
		{text, `(length(btrim(v)) > 0)`, ""},
		{text, `(length(v) <= 0)`, ""},
		{text, `(upper(v) = 'A'::text)`, ""},
		{text, `(v = 'abc'::character varying(2))`, ""},
		{text, `(v = E'a\\b')`, ""},
		{text, `(v = other)`, ""},
		{number, `(NOT (v > 0))`, ""},
		{number, `((v > 0) OR (v < '-10'::integer))`, ""},
		{number, `((v > 0) AND ((v % 2) = 0))`, ""},
		{number, `((v > 0) AND (v > 5))`, ""},
		{number, `(v > (1.5)::integer)`, ""},
		{number, `((v)::numeric > 0.5)`, ""},
		{number, `(v OPERATOR(public.=) 1)`, ""},
		{number, `(v <> 7)`, ""},
		{number, `((v > 0)`, ""},
		{number, ``, ""},
		{stamp, `(v > now())`, ""},
		{stamp, `(v < 'infinity'::timestamp with time zone)`, ""},
		{decimal, `(v < 'NaN'::numeric)`, ""},
		{stamp, `(v > CURRENT_TIMESTAMP)`, ""},
		{stamp, `(v > '2020-01-01'::date)`, ""},
		{enum, `(v = ANY (ARRAY['gone'::mood]))`, ""},
	} {
		check, ok := parseCheck(test.column, test.text)
		got := ""
		if ok {
			minimum, maximum := check.Minimum, check.Maximum
			if check.ExclusiveMinimum {
				minimum = ">" + minimum
			}
			if check.ExclusiveMaximum {
				maximum += ">"
			}
			got = fmt.Sprintf("%v %s..%s %d-%d", check.Choices, minimum, maximum, check.MinLength, check.MaxLength)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestDefaultValue(t *testing.T) {
	for _, test := range []struct {
		column     database.Column
		text, want string // "-" is none
	}{
		{database.Column{Kind: database.Text, NativeType: "text"}, `'it''s'::text`, "it's"},
		{database.Column{Kind: database.Text, NativeType: "character varying(9)"}, `''::character varying`, ""},
		{database.Column{Kind: database.Text, NativeType: "short"}, `'x'::short`, "x"},
		{database.Column{Kind: database.Text, NativeType: "short"}, `('x'::character varying)::short`, "-"},
		{database.Column{Kind: database.Integer, NativeType: "integer"}, `'-1'::integer`, "-1"},
		{database.Column{Kind: database.Integer, NativeType: "bigint"}, `0`, "0"},
		{database.Column{Kind: database.Integer, NativeType: "oid"}, `'pg_class'::regclass`, "-"},
		{database.Column{Kind: database.Decimal, NativeType: "numeric(5,2)"}, `(0)::numeric`, "0"},
		{database.Column{Kind: database.Decimal, NativeType: "numeric(5,2)"}, `1.5`, "1.5"},
		{database.Column{Kind: database.Boolean, NativeType: "boolean"}, `true`, "true"},
		{database.Column{Kind: database.Date, NativeType: "date"}, `'2020-01-02'::date`, "2020-01-02"},
		{database.Column{Kind: database.Timestamp, NativeType: "timestamp(3) without time zone"}, `'2020-01-02 00:00:00'::timestamp without time zone`, "2020-01-02T00:00:00"},
		{database.Column{Kind: database.Enum, NativeType: "mood", Choices: []string{"sad"}}, `'sad'::mood`, "sad"},
		{database.Column{Kind: database.JSON, NativeType: "jsonb"}, `'{"a": 1}'::jsonb`, `{"a": 1}`},
		{database.Column{Kind: database.Array, Element: database.Text, NativeType: "text[]"}, `'{a,b}'::text[]`, `["a","b"]`},
		{database.Column{Kind: database.Text, NativeType: "text"}, `NULL::text`, "-"},
		{database.Column{Kind: database.TimestampTZ, NativeType: "timestamp with time zone"}, `now()`, "-"},
		{database.Column{Kind: database.Date, NativeType: "date"}, `CURRENT_DATE`, "-"},
		{database.Column{Kind: database.Integer, NativeType: "integer"}, `nextval('s'::regclass)`, "-"},
		{database.Column{Kind: database.Integer, NativeType: "integer", Generated: true}, `7`, "-"},
	} {
		got := "-"
		if value := defaultValue(&test.column, test.text); value != nil {
			got = *value
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
}
