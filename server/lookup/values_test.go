package lookup

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestValuesAreTakenInTheFormThatRowsShow(t *testing.T) {
	mood := &database.Column{Kind: database.Enum, Choices: []string{"sad", "ok"}}
	of := func(k database.Kind) *database.Column { return &database.Column{Kind: k} }
	for _, tc := range []struct {
		column *database.Column
		json   string
		want   any // nil: refused
	}{
		{of(database.Integer), `12`, int64(12)},
		{of(database.Integer), `-9007199254740991`, int64(-9007199254740991)},
		{of(database.Integer), `"9223372036854775807"`, int64(9223372036854775807)},
		{of(database.Integer), `9007199254740992`, nil},
		{of(database.Integer), `"9223372036854775808"`, nil},
		{of(database.Integer), `1.0`, nil},
		{of(database.Integer), `1e3`, nil},
		{of(database.Integer), `" 1"`, nil},
		{of(database.Integer), `"+1"`, nil},
		{of(database.Integer), `true`, nil},
		{of(database.Integer), `[1]`, nil},
		{of(database.Decimal), `"10.50"`, "10.50"},
		{of(database.Decimal), `10.50`, "10.50"},
		{of(database.Decimal), `"NaN"`, "NaN"},
		{of(database.Decimal), `"1,5"`, nil},
		{of(database.Float), `1.5`, 1.5},
		{of(database.Float), `"1.5"`, 1.5},
		{of(database.Float), `"inf"`, nil},
		{of(database.Float), `1e999`, nil},
		{of(database.Boolean), `true`, true},
		{of(database.Boolean), `"true"`, nil},
		{of(database.Boolean), `1`, nil},
		{of(database.Text), `"%_\\"`, `%_\`},
		{of(database.Text), `"a\u0000b"`, nil},
		{of(database.Text), `1`, nil},
		{of(database.Text), `null`, nil},
		{of(database.Date), `"2026-02-28"`, "2026-02-28"},
		{of(database.Date), `"2026-02-30"`, nil},
		{of(database.Date), `"2026-02-28T00:00:00"`, nil},
		{of(database.Time), `"10:05:06.5"`, "10:05:06.5"},
		{of(database.Timestamp), `"2026-02-28T10:00:00"`, "2026-02-28T10:00:00"},
		{of(database.Timestamp), `"2026-02-28 10:00:00.25"`, "2026-02-28T10:00:00.25"},
		{of(database.Timestamp), `"2026-02-28"`, "2026-02-28T00:00:00"},
		{of(database.Timestamp), `"2026-02-28T10:00:00Z"`, "2026-02-28T10:00:00"},
		{of(database.Timestamp), `"2026-02-28T01:00:00.5+02:00"`, "2026-02-27T23:00:00.5"},
		{of(database.Timestamp), `"0000-01-01T00:00:00+02:00"`, nil},
		{of(database.TimestampTZ), `"2026-02-28 10:00"`, "2026-02-28T10:00:00Z"},
		{of(database.TimestampTZ), `"2026-02-28T10:00Z"`, "2026-02-28T10:00:00Z"},
		{of(database.TimestampTZ), `"2026-02-28T10:00:00+02:00"`, "2026-02-28T08:00:00Z"},
		{of(database.TimestampTZ), `"2026-02-28T10:00:00"`, "2026-02-28T10:00:00Z"},
		{of(database.TimestampTZ), `"infinity"`, "infinity"},
		{of(database.TimestampTZ), `"soon"`, nil},
		{of(database.UUID), `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{of(database.UUID), `"f81d4fae"`, nil},
		{of(database.Bytes), `"aGk="`, []byte("hi")},
		{of(database.Bytes), `"hi!"`, nil},
		{mood, `"ok"`, "ok"},
		{mood, `"happy"`, nil},
		{of(database.Other), `"10.0.0.0/8"`, "10.0.0.0/8"},
	} {
		got, err := ParseValue(tc.column, json.RawMessage(tc.json))
		switch {
		case tc.want == nil && err == nil:
			t.Errorf("%s as %s is taken as %v", tc.json, tc.column.Kind, got)
		case tc.want != nil && (err != nil || !reflect.DeepEqual(got, tc.want)):
			t.Errorf("%s as %s is %v (%v), want %v", tc.json, tc.column.Kind, got, err, tc.want)
		case err != nil && !strings.Contains(err.Error(), "must") && !strings.Contains(err.Error(), "send it as a string"):
			t.Errorf("%s as %s: the message %q does not say what would do", tc.json, tc.column.Kind, err)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{`1`, `"1"`, `null`, `true`, `[1]`, `{}`, `"2026-01-01"`, `1e400`, `-0`, `"\ud800"`} {
		f.Add(seed, uint8(database.Integer))
	}
	f.Fuzz(func(t *testing.T, raw string, kind uint8) {
		if !json.Valid([]byte(raw)) {
			t.Skip("it is no JSON")
		}
		var value json.RawMessage
		if err := json.Unmarshal([]byte(raw), &value); err != nil {
			t.Skip("it is no JSON")
		}
		c := &database.Column{Kind: database.Kind(kind % uint8(database.Array+1))}
		if got, err := ParseValue(c, value); err == nil && got == nil {
			t.Errorf("%s as %s is taken as nothing", raw, c.Kind)
		}
	})
}

// TestBooleansThatAreStoredAsIntegers reads what such a column shows: true, false, and any other number unchanged.
func TestBooleansThatAreStoredAsIntegers(t *testing.T) {
	flag := &database.Column{Name: "flag", Kind: database.Boolean, Bits: 8}
	for raw, want := range map[string]database.Value{"true": true, "false": false, "2": int64(2), "-3": int64(-3)} {
		if got, err := ParseStored(flag, json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s is %v, %v", raw, got, err)
		}
		if got, err := ParseText(flag, raw); err != nil || got != want {
			t.Errorf("the text %s is %v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"0", "1", "200", "2.5", `"true"`, `"2"`} {
		if got, err := ParseStored(flag, json.RawMessage(raw)); err == nil {
			t.Errorf("%s is %v", raw, got)
		}
	}
	if got, err := ParseStored(&database.Column{Kind: database.Boolean}, json.RawMessage("2")); err == nil {
		t.Errorf("where the database has booleans, 2 is %v", got)
	}
}

func TestSets(t *testing.T) {
	days := &database.Column{Name: "days", Kind: database.Other, NativeType: "set('mo','tu')", Choices: []string{"mo", "tu"}}
	for raw, ok := range map[string]bool{`"mo"`: true, `"tu,mo"`: true, `""`: true, `"we"`: false, `"mo,"`: false, `"1"`: false} {
		if _, err := ParseStored(days, json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s gives %v", raw, err)
		}
	}
}
