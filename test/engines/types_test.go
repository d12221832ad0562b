package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

func values(s *suite, t *testing.T) {
	s.check(t, "what is beyond a JSON number is a string", func(t *testing.T) {
		row := s.ok(t, "root", "get_sample", `{"id":1}`)
		want(t, row, `"9223372036854775807"`, "big")
		want(t, s.ok(t, "root", "get_sample", `{"id":2}`), `"-9223372036854775808"`, "big")
		want(t, s.ok(t, "root", "get_sample", `{"id":3}`), `9007199254740991`, "big")
		want(t, row, `1.5`, "rough")
		want(t, row, `true`, "yes")
		want(t, row, `"2024-02-29"`, "day")
		want(t, row, `"zwölf \"Boxkämpfer\""`, "words")
		if s.Name != contract.EngineSQLite { // whose decimals are floats
			want(t, row, `"12345678901234.567890"`, "exact")
		}
	})
	// Every kind is written in the form in which it is read, and read back as it was written.
	for _, tc := range []struct{ field, value, only string }{
		{"big", `"9223372036854775806"`, ""}, {"big", `-1`, ""}, {"big", `0`, ""},
		{"exact", `"99999999999999.999999"`, "exact"}, {"exact", `"-0.000001"`, "exact"}, {"exact", `"1.500000"`, ""},
		{"rough", `0.1`, ""}, {"rough", `1.7976931348623157e+308`, ""}, {"rough", `-4.9e-300`, ""}, {"rough", `123456789.123`, ""},
		{"yes", `true`, ""}, {"yes", `false`, ""},
		{"words", `""`, ""}, {"words", `"line\nbreak\ttab \\ back"`, ""}, {"words", `"😀 ÄÖÜ 日本語 \"quoted\" 'single' ; -- % _"`, ""}, {"words", `"NULL"`, ""},
		{"words", `"` + strings.Repeat("long ", 2000) + `"`, ""},
		{"short", `"äöüßé"`, ""},
		{"day", `"0001-01-01"`, "wide"}, {"day", `"9999-12-31"`, ""}, {"day", `"2024-02-29"`, ""},
		{"moment", `"2026-11-21T23:59:59.999"`, ""}, {"moment", `"1970-01-01T00:00:00"`, ""}, {"moment", `"2026-11-21T23:59:59.123456"`, "micro"},
		{"doc", `{"a":[1,2,{"b":null}],"c":1.10,"d":12345678901234567890}`, ""}, {"doc", `[]`, ""}, {"doc", `"text"`, ""}, {"doc", `false`, ""},
		{"uid", `"123e4567-e89b-12d3-a456-426614174000"`, ""},
		{"raw", `"AAECAwT/"`, ""}, {"raw", `""`, ""},
	} {
		s.check(t, tc.field+" "+tc.value[:min(len(tc.value), 40)], func(t *testing.T) {
			if s.Name == contract.EngineSQLite && (tc.only == "exact" || tc.only == "micro") || s.Name == contract.EngineMySQL && tc.only == "wide" {
				t.Skip("not of this engine's type")
			}
			changed := s.ok(t, "root", "update_sample", `{"id":3,"data":{"`+tc.field+`":`+tc.value+`}}`)
			stored := s.storedJSON(tc.value)
			want(t, changed, stored, "object", tc.field)
			want(t, s.ok(t, "root", "get_sample", `{"id":3}`), stored, tc.field)
			s.ok(t, "root", "update_sample", `{"id":3,"data":{"`+tc.field+`":null}}`)
			want(t, s.ok(t, "root", "get_sample", `{"id":3}`), `null`, tc.field)
		})
	}
	for _, tc := range []struct{ field, value string }{
		{"big", `9007199254740993`}, {"big", `"9223372036854775808"`}, {"big", `1.5`}, {"big", `"x"`}, {"big", `true`}, {"big", `[]`},
		{"exact", `"1.0000001"`}, {"exact", `"NaN5"`}, {"exact", `"123456789012345.0"`}, {"rough", `"fast"`}, {"yes", `1`}, {"yes", `"true"`},
		{"words", `5`}, {"words", `"\u0000"`}, {"words", `{}`}, {"short", `"sechs!"`}, {"day", `"2023-02-29"`}, {"day", `"today"`}, {"day", `20240229`},
		{"moment", `"2024-13-01T00:00:00"`}, {"uid", `"no-uuid"`}, {"raw", `"***"`}, {"raw", `[1]`},
	} {
		s.check(t, tc.field+" refuses "+tc.value, func(t *testing.T) {
			arguments := `{"id":1,"data":{"` + tc.field + `":` + tc.value + `}}`
			if tc.field == "uid" && s.Product == harness.MySQL { // which has texts for them
				s.ok(t, "root", "update_sample", arguments)
				return
			}
			s.failsOn(t, "root", "update_sample", arguments, tc.field)
		})
	}
	s.check(t, "a very long text is cut, and says so", func(t *testing.T) {
		s.ok(t, "root", "update_sample", `{"id":3,"data":{"words":"`+strings.Repeat("x", 40_000)+`"}}`)
		listed := fmt.Sprint(at(t, s.ok(t, "root", "list_sample", `{"filters":{"id":3}}`), "results", 0, "words"))
		if len(listed) >= 40_000 || !strings.Contains(listed, "cut") {
			t.Fatalf("%d bytes, ending in %q", len(listed), listed[max(0, len(listed)-60):])
		}
		if whole := fmt.Sprint(s.ok(t, "root", "get_sample", `{"id":3}`)["words"]); len(whole) != 40_000 {
			t.Fatalf("the value has %d bytes, want 40,000", len(whole))
		}
	})
}

// names tests columns whose names common clients refuse: each has a plain name, by which it is read, filtered, ordered
// and written.
func names(s *suite, t *testing.T) {
	s.check(t, "odd names are read", func(t *testing.T) {
		want(t, s.ok(t, "root", "get_order_line", `{"id":1}`), `{"id":1,"Id":1,"select":"drop","it_s_so_x":"x","groesse":10}`)
	})
	s.check(t, "and filtered, ordered and written", func(t *testing.T) {
		if got := column(t, s.ok(t, "root", "list_order_line", `{"filters":{"it_s_so_x__isnull":true},"order_by":["-select","groesse"]}`), "Id"); got != "2" {
			t.Fatalf("got %q, want %q", got, "2")
		}
		s.ok(t, "root", "create_order_line", `{"data":{"Id":3,"select":"or","it_s_so_x":"1=1","groesse":5}}`)
		want(t, s.ok(t, "root", "update_order_line", `{"id":3,"data":{"it_s_so_x":"2=2"}}`), `"2=2"`, "object", "it_s_so_x")
		s.failsOn(t, "root", "create_order_line", `{"data":{"Id":3}}`, "Id")
		s.ok(t, "root", "delete_order_line", `{"id":3}`)
	})
}

func viewsAndKeys(s *suite, t *testing.T) {
	tools := func(t *testing.T, model string) string {
		t.Helper()
		operations, found := s.operations(t, "root")[model]
		if !found {
			t.Fatalf("no model %s", model)
		}
		return operations
	}
	s.check(t, "a view with a declared key is read", func(t *testing.T) {
		want(t, s.ok(t, "root", "get_overview", `{"id":2}`), `{"id":2,"title":"Solaris","author":"Stanisław Lem"}`)
		if got := tools(t, "overview"); strings.Contains(got, "update") || strings.Contains(got, "delete") || strings.Contains(got, "create") {
			t.Fatalf("got %s, want nothing of update and nothing of delete and nothing of create", got)
		}
		s.fails(t, "root", "update_overview", `{"id":2,"data":{"title":"x"}}`, "permission_denied")
		s.fails(t, "root", "create_overview", `{"data":{"title":"x"}}`, "permission_denied")
	})
	s.check(t, "a table without a key is listed and added to", func(t *testing.T) {
		page := s.ok(t, "root", "list_jotting", `{"order_by":["place"],"limit":2}`)
		want(t, page, `3`, "total_count")
		if page["next_cursor"] != nil {
			t.Fatal("a cursor without a key")
		}
		want(t, s.ok(t, "root", "create_jotting", `{"data":{"body":"three","place":3}}`), `true`, "success")
		s.holds(t, "select count(*) from jotting", "4")
		for _, tool := range []string{"get_jotting", "update_jotting", "delete_jotting"} {
			s.fails(t, "root", tool, `{"id":1}`, "permission_denied")
		}
	})
}

// storedJSON is a JSON text as the engine keeps it: MySQL reads numbers, and writes them as it likes.
func (s *suite) storedJSON(text string) string {
	if s.Product != harness.MySQL {
		return text
	}
	return strings.NewReplacer(`"c":1.10`, `"c":1.1`, `2.50,`, `2.5,`).Replace(text)
}
