package lookup

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestWhatIsStoredMustFitItsColumn(t *testing.T) {
	type column = database.Column
	small := &column{Kind: database.Integer, Bits: 16}
	medium := &column{Kind: database.Integer, Bits: 24}
	big := &column{Kind: database.Integer, Bits: 64}
	unsigned := &column{Kind: database.Integer, Bits: 64, Unsigned: true}
	tiny := &column{Kind: database.Integer, Bits: 8, Unsigned: true}
	price := &column{Kind: database.Decimal, Precision: 5, Scale: 2}
	fraction := &column{Kind: database.Decimal, Precision: 2, Scale: 4}
	free := &column{Kind: database.Decimal, Precision: -1, Scale: -1}
	hundreds := &column{Kind: database.Decimal, Precision: 3, Scale: -2}
	scaleless := &column{Kind: database.Decimal, Precision: 3, Scale: -1, Loose: true}
	name := &column{Kind: database.Text, MaxLength: 3}
	document := &column{Kind: database.JSON}
	numbers := &column{Kind: database.Array, Element: database.Integer}
	texts := &column{Kind: database.Array, Element: database.Text}
	documents := &column{Kind: database.Array, Element: database.JSON}
	day := &column{Kind: database.Date, NativeType: "date"}
	moment := &column{Kind: database.Timestamp, NativeType: "datetime(6)"}
	instant := &column{Kind: database.TimestampTZ, NativeType: "timestamp with time zone"}
	clock := &column{Kind: database.Time, NativeType: "time"}
	loose := &column{Kind: database.Timestamp, NativeType: "DATETIME", Loose: true}
	bits := &column{Kind: database.Other, NativeType: "bit(3)", MaxLength: 3}
	list := func(values ...database.Value) []database.Value { return append([]database.Value{}, values...) }
	for _, tc := range []struct {
		column  *database.Column
		json    string
		want    any
		message string
	}{
		{small, `32767`, int64(32767), ""},
		{small, `32768`, nil, "must be an integer between -32768 and 32767, not 32768"},
		{small, `"-32768"`, int64(-32768), ""},
		{small, `"-32769"`, nil, "must be an integer between -32768 and 32767, not -32769"},
		{medium, `8388608`, nil, "must be an integer between -8388608 and 8388607, not 8388608"},
		{big, `"9223372036854775807"`, int64(math.MaxInt64), ""},
		{big, `"9223372036854775808"`, nil, "must be an integer between -9223372036854775808 and 9223372036854775807, not 9223372036854775808"},
		{unsigned, `"18446744073709551615"`, uint64(math.MaxUint64), ""},
		{unsigned, `"18446744073709551616"`, nil, "must be an integer between 0 and 18446744073709551615, not 18446744073709551616"},
		{unsigned, `-1`, nil, "must be an integer between 0 and 18446744073709551615, not -1"},
		{tiny, `255`, int64(255), ""},
		{tiny, `256`, nil, "must be an integer between 0 and 255, not 256"},
		{&column{Kind: database.Integer}, `"-9223372036854775808"`, int64(math.MinInt64), ""},
		{price, `"123.45"`, "123.45", ""},
		{price, `123.45`, "123.45", ""},
		{price, `"-0123.4500"`, "-0123.4500", ""},
		{hundreds, `12300`, "12300", ""},
		{hundreds, `99900.00`, "99900.00", ""},
		{hundreds, `12345`, nil, "must be a multiple of 1e2"},
		{hundreds, `123400`, nil, "must have at most 5 digits before the point, not 6"},
		{scaleless, `1.25`, "1.25", ""},
		{scaleless, `1234`, nil, "must have at most 3 digits before the point, not 4"},
		{price, `"1.234"`, nil, "must have at most 2 digits after the point, not 3"},
		{price, `"1234"`, nil, "must have at most 3 digits before the point, not 4"},
		{price, `"1234e-1"`, "1234e-1", ""},
		{price, `1.2e3`, nil, "must have at most 3 digits before the point, not 4"},
		{price, `12e-3`, nil, "must have at most 2 digits after the point, not 3"},
		{price, `"0.00000"`, "0.00000", ""},
		{fraction, `"0.0012"`, "0.0012", ""},
		{fraction, `"0.01"`, nil, "must be less than 1e-2 in size"},
		{free, `"123456789012345678901234567890.123456789"`, "123456789012345678901234567890.123456789", ""},
		{name, `"äöü"`, "äöü", ""},
		{name, `"äöüß"`, nil, "must have at most 3 characters, not 4"},
		{name, `"a\u0000"`, nil, "must not contain U+0000"},
		{name, `"\ud83d\ude00"`, "😀", ""},
		{name, `"\ud83d"`, nil, `must not contain half of a surrogate pair (\ud800 to \udfff alone)`},
		{name, `"\ude00\ud83d"`, nil, `must not contain half of a surrogate pair (\ud800 to \udfff alone)`},
		{name, `"\\u0000"`, nil, "must have at most 3 characters, not 6"},
		{document, `{"b": [1.0, 12345678901234567890.10], "a": null}`, []byte(`{"b":[1.0,12345678901234567890.10],"a":null}`), ""},
		{document, `"text"`, []byte(`"text"`), ""},
		{document, `0`, []byte(`0`), ""},
		{document, `["\u0000"]`, nil, "must not contain U+0000"},
		{document, `{"\ud800":1}`, nil, `must not contain half of a surrogate pair (\ud800 to \udfff alone)`},
		{document, `["\\u0000"]`, []byte(`["\\u0000"]`), ""},
		{numbers, `[1, null, "3"]`, list(int64(1), nil, int64(3)), ""},
		{numbers, `[[1, 2], [3, 4]]`, list(list(int64(1), int64(2)), list(int64(3), int64(4))), ""},
		{numbers, `[]`, list(), ""},
		{numbers, `[[1], [2, 3]]`, nil, "must be an array whose inner arrays are all of one length"},
		{numbers, `[[1], 2]`, nil, "must not mix values and arrays"},
		{numbers, `[1, "x"]`, nil, `each value must be an integer, or a string of its digits, not "x"`},
		{numbers, `1`, nil, "must be an array of integer values, not 1"},
		{numbers, `[[[[[[[1]]]]]]]`, nil, "must be an array of integer values, not [1]"},
		{texts, `["a,b", "NULL", "{}"]`, list("a,b", "NULL", "{}"), ""},
		{texts, `["\u0000"]`, nil, "each value must not contain U+0000"},
		{documents, `[[1], {"a":2}]`, list([]byte(`[1]`), []byte(`{"a":2}`)), ""},
		{day, `"0044-03-15 BC"`, "0044-03-15 BC", ""},
		{day, `"12026-03-15"`, "12026-03-15", ""},
		{day, `"0000-00-00"`, "0000-00-00", ""},
		{day, `"2026-02-30"`, nil, `must be a date, YYYY-MM-DD, not "2026-02-30"`},
		{day, `"-infinity"`, "-infinity", ""},
		{moment, `"0000-00-00 00:00:00"`, "0000-00-00 00:00:00", ""},
		{moment, `"2026-01-02T03:04:05.123456"`, "2026-01-02T03:04:05.123456", ""},
		{instant, `"infinity"`, "infinity", ""},
		{instant, `"0044-03-15 12:00:00+00 BC"`, "0044-03-15 12:00:00+00 BC", ""},
		{instant, `"2026-01-01T00:00:00+02:00"`, "2025-12-31T22:00:00Z", ""},
		{instant, `"9999-12-31T23:00:00-02:00"`, nil, `must be a date and time, YYYY-MM-DDTHH:MM:SSZ, not "9999-12-31T23:00:00-02:00"`},
		{clock, `"-838:59:59"`, "-838:59:59", ""},
		{clock, `"24:00:00"`, "24:00:00", ""},
		{clock, `"10:61:00"`, nil, `must be a time, HH:MM:SS, not "10:61:00"`},
		{loose, `"infinity"`, nil, `must be a date and time, YYYY-MM-DDTHH:MM:SS, not "infinity"`},
		{loose, `"2026-01-01 10:00:00"`, "2026-01-01T10:00:00", ""},
		{&column{Kind: database.Float, NativeType: "REAL", Loose: true}, `"NaN"`, nil, "must be a number: the column cannot hold NaN"},
		{&column{Kind: database.Float, NativeType: "real"}, `"-Infinity"`, math.Inf(-1), ""},
		{&column{Kind: database.Text, NativeType: "string(10)", Loose: true}, `"007"`, nil, "must not be digits alone: the column's type string(10) would store another number"},
		{&column{Kind: database.Text, NativeType: "STRING", Loose: true}, `"7"`, "7", ""},
		{&column{Kind: database.Text, NativeType: "STRING", Loose: true}, `"7a"`, "7a", ""},
		{&column{Kind: database.Text, NativeType: "TEXT", Loose: true}, `"007"`, "007", ""},
		{&column{Kind: database.UUID, NativeType: "UUID", Loose: true}, `"12345678123412341234123456789012"`, nil, "must not be digits alone: the column's type UUID would store another number"},
		{&column{Kind: database.Decimal, NativeType: "NUMERIC", Loose: true}, `"Infinity"`, nil, "must be a finite number"},
		{bits, `"101"`, "101", ""},
		{bits, `"1010"`, nil, "must have at most 3 bits, not 4"},
		{bits, `"12"`, nil, `must be a string of zeros and ones, not "12"`},
		{&column{Kind: database.Other, Loose: true}, `5`, int64(5), ""},
		{&column{Kind: database.Other, NativeType: "any", Loose: true}, `0.5`, 0.5, ""},
		{&column{Kind: database.Other, NativeType: "inet"}, `5`, nil, "must be a string, not 5"},
		{&column{Kind: database.Interval}, `"1 day 02:00:00"`, "1 day 02:00:00", ""},
		{&column{Kind: database.Bytes}, `"AAE="`, []byte{0, 1}, ""},
		{&column{Kind: database.Boolean}, `null`, nil, "must be true or false, not null"},
		{&column{Kind: database.Boolean}, ``, nil, "must be true or false, not "},
	} {
		got, err := ParseStored(tc.column, json.RawMessage(tc.json))
		if tc.message == "" && (err != nil || !reflect.DeepEqual(got, tc.want)) {
			t.Errorf("%s as %s is %v (%v), want %v", tc.json, tc.column.Kind, got, err, tc.want)
		}
		if tc.message != "" && (err == nil || got != nil || err.Error() != tc.message) {
			t.Errorf("%s as %s is %v (%v), want %q", tc.json, tc.column.Kind, got, err, tc.message)
		}
	}
}

// What a column cannot hold is a value to compare it with all the same, and equals nothing.
func TestWhatDoesNotFitIsCompared(t *testing.T) {
	small := &database.Column{Kind: database.Integer, Bits: 16}
	short := &database.Column{Kind: database.Text, MaxLength: 1}
	present := database.Not{Condition: database.IsNull{Column: small}}
	for _, tc := range []struct {
		lookup, json string
		column       *database.Column
		want         database.Condition
	}{
		{"exact", `"long"`, short, database.Compare{Column: short, Op: database.Equal, Value: "long"}},
		{"exact", `70000`, small, database.Compare{Column: small, Op: database.Equal, Value: int64(70000)}},
		{"exact", `"9223372036854775808"`, small, database.Or{}},
		{"ne", `"9223372036854775808"`, small, database.Not{Condition: database.Or{}}},
		{"lt", `"9223372036854775808"`, small, present},
		{"gte", `"9223372036854775808"`, small, database.Or{}},
		{"lte", `"-9223372036854775809"`, small, database.Or{}},
		{"gt", `"-9223372036854775809"`, small, present},
		{"in", `[1, "9223372036854775808"]`, small, database.In{Column: small, Values: []database.Value{int64(1)}}},
		{"range", `["-9223372036854775809", "9223372036854775808"]`, small, database.And{present, present}},
	} {
		got, err := Find(tc.lookup)(Calendar{}, tc.column, json.RawMessage(tc.json))
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s %s is %#v (%v), want %#v", tc.lookup, tc.json, got, err, tc.want)
		}
	}
}

func TestAnAdministratorsIntegerIsOneThatColumnsHold(t *testing.T) {
	c := &database.Column{Kind: database.Integer}
	for _, name := range []string{"exact", "ne", "lt", "in", "range"} {
		const far = "9223372036854775808"
		if got, err := FromText(c, name, far, []string{"1", far}); err == nil {
			t.Errorf("%s is taken as %#v", name, got)
		}
	}
}

// What is taken is shown again as what is taken as the same.
func FuzzParseStored(f *testing.F) {
	for kind, seeds := range map[database.Kind][]string{
		database.Boolean: {`true`}, database.Integer: {`1`, `"-9223372036854775808"`, `-0`, `1e3`}, database.Decimal: {`1.50`, `"1e9999"`, `"NaN"`, `.5`},
		database.Float: {`1e308`, `"Infinity"`, `"0x1p-2"`}, database.Text: {`"\ud800"`, `"\u0000"`, `"é"`}, database.Date: {`"0044-03-15 BC"`, `"2026-02-29"`},
		database.Time: {`"10:00"`, `"-838:59:59.5"`}, database.Timestamp: {`"2026-01-01T10:00:00.123456789"`, `"0000-00-00 00:00:00"`},
		database.TimestampTZ: {`"0000-01-01T00:00:00+02:00"`, `"2026-01-01"`}, database.JSON: {`{"a":[1,"\u0000"]}`, `1.0`}, database.Array: {`[[1],[2]]`, `[null]`},
		database.Bytes: {`"AA=="`, `"AB=="`}, database.UUID: {`"f81d4fae7dec11d0a76500a0c91e6bf6"`}, database.Other: {`"101"`, `0e0`, `1.0`, `1e17`, `1e400`},
	} {
		for _, seed := range seeds {
			f.Add(seed, uint8(kind), uint8(database.Integer), uint8(0))
			f.Add(seed, uint8(kind), uint8(database.Integer)|0x80, uint8(0))
		}
	}
	natives := []string{"", "NUMERIC", "bit(3)", "date"}
	f.Fuzz(func(t *testing.T, raw string, kind, element, shape uint8) {
		var value json.RawMessage
		if json.Unmarshal([]byte(raw), &value) != nil {
			t.Skip("it is no JSON")
		}
		c := &database.Column{Kind: database.Kind(kind % uint8(database.Array+1)), Element: database.Kind(element % uint8(database.Array)),
			NativeType: natives[shape%4], Loose: element&0x80 != 0, MaxLength: int(shape >> 4), Precision: int(shape>>2&15) - 1, Scale: int(shape >> 5), Bits: 8 * int(shape>>3&1), Unsigned: shape&64 != 0}
		got, err := ParseStored(c, value)
		if err != nil {
			if got != nil || !strings.Contains(err.Error(), "must") && !strings.Contains(err.Error(), "send it as a string") {
				t.Errorf("%s as %s is %v, with the error %q", raw, c.Kind, got, err)
			}
			return
		}
		if got == nil {
			t.Fatalf("%s as %s is taken as nothing", raw, c.Kind)
		}
		again, err := ParseStored(c, shown(c.Kind, c.Element, got))
		if err != nil || !same(got, again) {
			t.Errorf("%s as %s is %#v, which is shown as %s and taken as %#v (%v)", raw, c.Kind, got, shown(c.Kind, c.Element, got), again, err)
		}
		if _, err := ParseValue(c, value); err != nil {
			t.Errorf("%s as %s can be stored, and not be compared: %v", raw, c.Kind, err)
		}
	})
}

func FuzzFromText(f *testing.F) {
	f.Add(uint8(database.Integer), "range", "", "1", "2")
	f.Add(uint8(database.Boolean), "exact", "1", "", "")
	f.Add(uint8(database.Date), "date", "", "", "")
	f.Add(uint8(database.Text), "isnull", "", "", "")
	f.Add(uint8(database.Other), "contains", "\xff", "", "")
	f.Fuzz(func(t *testing.T, kind uint8, name, value, first, second string) {
		c := &database.Column{Kind: database.Kind(kind % uint8(database.Array+1))}
		condition, err := FromText(c, name, value, []string{first, second})
		if err == nil && condition == nil {
			t.Errorf("%s %q of %s is no condition", name, value, c.Kind)
		}
	})
}

// shown is a value as rows show it.
func shown(kind, element database.Kind, value database.Value) json.RawMessage {
	switch v := value.(type) {
	case int64:
		if v > maxExactInteger || v < -maxExactInteger {
			return quoted(strconv.FormatInt(v, 10))
		}
	case uint64:
		return quoted(strconv.FormatUint(v, 10))
	case float64:
		if math.IsNaN(v) {
			return quoted("NaN")
		}
		if math.IsInf(v, 0) {
			return quoted(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64)+"inity", "+"))
		}
	case []byte:
		if kind == database.JSON {
			return v
		}
		return quoted(base64.StdEncoding.EncodeToString(v))
	case []database.Value:
		parts := make([][]byte, len(v))
		for i, e := range v {
			switch inner := e.(type) {
			case nil:
				parts[i] = []byte("null")
			case []database.Value:
				parts[i] = shown(database.Array, element, inner)
			default:
				parts[i] = shown(element, database.Other, inner)
			}
		}
		return append(append([]byte("["), bytes.Join(parts, []byte(","))...), ']')
	}
	raw, _ := json.Marshal(value)
	return raw
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text)
	return raw
}

// same is whether two values are one; NaN is itself.
func same(a, b database.Value) bool {
	x, isFloat := a.(float64)
	y, both := b.(float64)
	if isFloat && both && math.IsNaN(x) {
		return math.IsNaN(y)
	}
	if list, ok := a.([]database.Value); ok {
		other, ok := b.([]database.Value)
		if !ok || len(list) != len(other) {
			return false
		}
		for i := range list {
			if !same(list[i], other[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestTypesWithoutEqualityHaveNoLookups(t *testing.T) {
	if got := Of(&database.Column{Kind: database.Other, NativeType: "point", Incomparable: true}); !slices.Equal(got, []string{"isnull"}) {
		t.Errorf("got %v", got)
	}
}
