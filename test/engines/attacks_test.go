package engines

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// attacks tries what an agent with narrow rights might try: to learn of rows that it may not see, to change what it may not
// change, and to keep the server from answering others.
func attacks(s *suite, t *testing.T) {
	s.check(t, "an id in another form names the same row, or none", func(t *testing.T) {
		for _, id := range []string{`3`, `"3"`, `"03"`, `"3.0"`, `" 3"`, `"3 "`, `"+3"`, `3.0`, `3e0`, `"3\u0000"`, `"٣"`, `[3]`, `{"id":3}`, `true`, `99999999999999999999`, `"99999999999999999999"`, `1e400`, `-3`} {
			for tool, arguments := range map[string]string{"get_book": `{"id":%s}`, "history_book": `{"id":%s}`, "delete_book": `{"id":%s}`, "update_book": `{"id":%s,"data":{"pages":1}}`,
				"related_book": `{"id":%s,"relation":"author"}`, "action_book": `{"action":"retire","ids":[%s],"confirm":true}`} {
				payload, isError := s.call(t, "clerk", tool, fmt.Sprintf(arguments, id))
				if code := payload["code"]; !isError || code != "not_found" && code != "invalid_argument" {
					t.Errorf("%s of %s: %v", tool, id, payload)
				}
			}
		}
		s.holds(t, "select pages from book where id = 3", "286")
	})
	s.check(t, "U+0000 and unpaired surrogates are nobody's fault but the caller's", func(t *testing.T) {
		for tool, arguments := range map[string]string{
			"list_country": `{"filters":{"name":"\u0000"}}`, "list_book": `{"search":"a\u0000b"}`, "get_country": `{"id":"\u0000"}`, "get_edition": `{"id":"1\u0000,1"}`, "list_edition": `{"filters":{"id":"1,%00"}}`,
			"autocomplete_book": `{"term":"\u0000"}`, "create_country": `{"data":{"code":"\u0000","name":"x"}}`, "action_book": `{"action":"renumber","ids":[1],"confirmation_data":{"prefix":"\u0000"}}`,
		} {
			if payload, isError := s.call(t, "root", tool, arguments); !isError || payload["code"] != "invalid_argument" && payload["code"] != "validation_error" {
				t.Errorf("%s %s: %v", tool, arguments, payload)
			}
		}
	})
	s.check(t, "another token's cursor is none", func(t *testing.T) {
		all := s.ok(t, "root", "list_book", `{"limit":2}`)["next_cursor"].(string)
		own := s.ok(t, "clerk", "list_book", `{"limit":1}`)["next_cursor"].(string)
		for token, cursor := range map[string]string{"clerk": all, "root": own, "lost": own, "stranger": all} {
			s.fails(t, token, "list_book", `{"limit":1,"cursor":"`+cursor+`"}`, "invalid_argument")
		}
		for i := range own {
			changed := own[:i] + string('A'+(own[i]+1)%26) + own[i+1:]
			if changed != own {
				s.fails(t, "clerk", "list_book", `{"limit":1,"cursor":"`+changed+`"}`, "invalid_argument")
			}
		}
		for _, arguments := range []string{`"filters":{"region":"emea"}`, `"search":"x"`, `"order_by":["-id"]`, `"offset":0`} {
			s.fails(t, "clerk", "list_book", `{"limit":1,"cursor":"`+own+`",`+arguments+`}`, "invalid_argument")
		}
		s.fails(t, "clerk", "list_author", `{"limit":1,"cursor":"`+own+`"}`, "invalid_argument")
	})
	s.check(t, "what is out of sight looks like what is not there", func(t *testing.T) {
		for tool, arguments := range map[string]string{
			"get_book": `{"id":%d}`, "update_book": `{"id":%d,"data":{"pages":7},"expected_version":99}`, "delete_book": `{"id":%d,"expected_version":99}`,
			"bulk_book": `{"operation":"update","items":[{"id":%d,"data":{"pages":7}},{"id":1,"data":{"isbn":"isbn-1"}}]}`, "action_book": `{"action":"delete_selected","ids":[1,%d]}`,
			"create_edition": `{"data":{"book_id":%d,"number":7}}`, "update_review": `{"id":1,"data":{"book_id":%d},"dry_run":true}`, "create_book": `{"data":{"title":"x","author_id":1,"editor_id":9%d}}`,
			"transact": `{"steps":[{"tool":"get_book","arguments":{"id":1}},{"tool":"update_book","arguments":{"id":%d,"data":{"pages":{"_step":0,"path":"pages"}}}}]}`,
		} {
			unseen, _ := s.endpoint.Call(secret("clerk"), tool, fmt.Sprintf(arguments, 3))
			none, _ := s.endpoint.Call(secret("clerk"), tool, fmt.Sprintf(arguments, 8))
			if told := withoutEachTime(strings.ReplaceAll(unseen, "3", "8")); told != withoutEachTime(strings.ReplaceAll(none, "3", "8")) {
				t.Errorf("%s: %s\n%s", tool, unseen, none)
			}
		}
	})
	s.check(t, "a value that must be unique tells of no row", func(t *testing.T) {
		refused := fmt.Sprint(s.failsOn(t, "clerk", "update_book", `{"id":1,"data":{"isbn":"isbn-3"}}`, "isbn"))
		if strings.Contains(refused, "Darkness") || strings.Contains(refused, "isbn-3") || strings.Contains(refused, "3)") || strings.Contains(refused, "_key") {
			t.Fatalf("got %s, want nothing of Darkness and nothing of isbn-3 and nothing of 3) and nothing of _key", refused)
		}
	})
	s.check(t, "names of members mean nothing but themselves", func(t *testing.T) {
		for _, name := range []string{"__proto__", "constructor", "ID", "Title", "title ", "password_hash", "author", "review_by_book", "pk", "", "data", "\u202etitle"} {
			quoted, _ := json.Marshal(name)
			s.fails(t, "root", "update_book", `{"id":1,"data":{`+string(quoted)+`:"x"}}`, "validation_error")
		}
		for _, data := range []string{`{"id":9}`, `{"version":9}`, `{"published":"2001-01-01"}`, `{"card_number":"1"}`} {
			s.fails(t, "root", "update_book", `{"id":1,"data":`+data+`}`, "validation_error")
			s.fails(t, "root", "bulk_book", `{"operation":"update","items":[{"id":1,"data":`+data+`}]}`, "validation_error")
		}
		s.fails(t, "root", "update_book", `{"id":1,"inlines":{"review":[{"id":1,"data":{"book_id":2}}]}}`, "validation_error")
		s.fails(t, "root", "update_book", `{"id":2,"inlines":{"review":[{"id":1,"_delete":true}]}}`, "validation_error")
	})
	s.check(t, "what a token may not view has no name", func(t *testing.T) {
		for _, body := range []string{
			`{"method":"tools/list"}`, `{"method":"tools/call","name":"find_models","arguments":{}}`, `{"method":"tools/call","name":"describe_book","arguments":{}}`,
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"understand_model","arguments":{"model_name":"book"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"crud_guide","arguments":{"model_name":"book"}}}`, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`,
			`{"method":"tools/call","name":"list_book","arguments":{"filters":{"nothing":1}}}`, `{"method":"tools/call","name":"update_book","arguments":{"id":1,"inlines":{"x":[]}}}`,
			`{"method":"tools/call","name":"delete_book","arguments":{"id":1}}`, `{"method":"tools/call","name":"related_book","arguments":{"id":1,"relation":"x"}}`,
		} {
			if _, answer := s.endpoint.Post(secret("bookish"), body); strings.Contains(answer, "review") || strings.Contains(answer, "edition") || strings.Contains(answer, "vote") {
				t.Errorf("%s: %s", body, answer)
			}
		}
	})
	s.check(t, "a composite key is compared with a thousand ids", func(t *testing.T) {
		var ids []string
		for i := range 1000 {
			ids = append(ids, fmt.Sprintf(`"%d,%d"`, 1+i/500, i))
		}
		found := s.ok(t, "root", "list_edition", `{"filters":{"id__in":[`+strings.Join(ids, ",")+`]}}`)
		want(t, found, `2`, "total_count")
	})
	s.check(t, "thousands of values are compared, or it is said that they are too many", func(t *testing.T) {
		numbers, texts, days := make([]string, 1000), make([]string, 1000), make([]string, 1000)
		for i := range 1000 {
			numbers[i], texts[i], days[i] = fmt.Sprint(i), fmt.Sprintf(`"text %d"`, i), fmt.Sprintf(`"2%03d-01-01"`, i)
		}
		var filters []string
		for values, names := range map[*[]string]string{
			&numbers: "id author_id editor_id price pages author__id editor__id review_by_book__id review_by_book__stars review_by_book__book_id edition_by_book__number edition_by_book__book_id",
			&texts:   "title isbn region notes author__name author__bio author__country_id editor__name editor__bio editor__country_id review_by_book__reader review_by_book__body edition_by_book__label",
			&days:    "published author__born editor__born",
		} {
			for name := range strings.FieldsSeq(names) {
				filters = append(filters, `"`+name+`__in":[`+strings.Join(*values, ",")+`]`)
			}
		}
		for _, total := range []string{``, `,"total":"exact"`, `,"search":"a b c d e f g h i j"`} {
			payload, isError := s.call(t, "clerk", "list_book", `{"filters":{`+strings.Join(filters, ",")+`}`+total+`}`)
			if isError && payload["code"] != "too_large" && payload["code"] != "invalid_argument" {
				t.Errorf("%d filters%s: %v", len(filters), total, payload)
			}
		}
	})
	s.check(t, "a page beyond all pages is empty", func(t *testing.T) {
		for _, offset := range []string{"1000000", "2147483648", "9223372036854775807"} {
			for _, limit := range []string{"0", "1", "1000", "9223372036854775807"} {
				want(t, s.ok(t, "clerk", "list_book", `{"offset":`+offset+`,"limit":`+limit+`}`), `0`, "count")
			}
		}
		s.fails(t, "clerk", "list_book", `{"offset":9223372036854775808}`, "invalid_argument")
	})
	s.check(t, "a body full of mistakes is answered shortly", func(t *testing.T) {
		for tool, arguments := range map[string]func(mistakes int) string{
			"create_book": func(n int) string { return `{"data":` + unknownMembers(n) + `}` },
			"action_book": func(n int) string {
				return `{"action":"retire","ids":[1],"confirmation_data":` + unknownMembers(n) + `}`
			},
			"bulk_book": func(n int) string {
				items := slices.Repeat([]string{unknownMembers(400)}, n/85)
				return `{"operation":"create","items":[` + strings.Join(items, ",") + `]}`
			},
		} {
			for _, mistakes := range []int{6_000, 60_000} {
				text, isError := s.endpoint.Call(secret("root"), tool, arguments(mistakes))
				if !isError || len(text) > 2<<20 {
					t.Errorf("%s answered %d bytes: %.200s", tool, len(text), text)
				}
			}
		}
	})
	s.check(t, "a thousand conflicts are answered shortly", func(t *testing.T) {
		note, _ := json.Marshal(strings.Repeat("n", 60_000))
		s.ok(t, "root", "update_book", `{"id":2,"data":{"notes":`+string(note)+`}}`)
		items := slices.Repeat([]string{`{"id":2,"data":{"pages":1},"expected_version":77}`}, 300)
		if text, isError := s.endpoint.Call(secret("root"), "bulk_book", `{"operation":"update","items":[`+strings.Join(items, ",")+`]}`); !isError || len(text) > 2<<20 {
			t.Errorf("the answer has %d bytes: %.200s", len(text), text)
		}
	})
	s.check(t, "what protects a row is not counted where some of it is out of sight", func(t *testing.T) {
		// Author 1 wrote book 1, which the clerk sees, and book 3, which it does not.
		refused := s.fails(t, "clerk", "delete_author", `{"id":1}`, "protected")
		if message := fmt.Sprint(refused["error"]); strings.Contains(message, "2") {
			t.Fatalf("got %s, want nothing of 2", message)
		}
	})
	s.check(t, "what an exposure does not offer cannot be done in another way", func(t *testing.T) {
		s.endpoint.Apply(func(c *contract.Config) {
			for i := range c.Models {
				switch c.Models[i].Name {
				case "book":
					c.Models[i].Operations = []string{"list", "get", "update", "action", "bulk"}
				case "review":
					c.Models[i].Operations = []string{"list"}
				}
			}
		})
		for tool, arguments := range map[string]string{
			"delete_book": `{"id":5}`, "create_book": `{"data":{"title":"x","author_id":1}}`, "history_book": `{"id":1}`, "delete_review": `{"id":5}`, "bulk_review": `{"operation":"delete","items":[5]}`, "get_review": `{"id":5}`,
		} {
			s.fails(t, "root", tool, arguments, "permission_denied")
		}
		for _, arguments := range []string{`{"operation":"delete","items":[5]}`, `{"operation":"create","items":[{"data":{"title":"x","author_id":1}}]}`} {
			if payload, isError := s.call(t, "root", "bulk_book", arguments); !isError {
				t.Errorf("%s: %v", arguments, payload)
			}
		}
		for _, item := range []string{`{"id":5,"_delete":true}`, `{"id":5,"data":{"stars":1}}`, `{"data":{"reader":"x","stars":1}}`} {
			s.fails(t, "root", "update_book", `{"id":4,"inlines":{"review":[`+item+`]}}`, "permission_denied")
		}
		s.fails(t, "root", "action_book", `{"action":"delete_selected","ids":[5],"confirm":true}`, "permission_denied")
		s.holds(t, "select count(*) from book where id = 5", "1")
	})
}

// eachTime matches the members that differ in another answer to the same call.
var eachTime = regexp.MustCompile(`"(confirmation_token|call)":"[^"]*"`)

// withoutEachTime is an answer without these members.
func withoutEachTime(answer string) string { return eachTime.ReplaceAllString(answer, "") }

// collations tests which texts a database takes for equal: a policy, a filter and a key go by the column's own
// collation, as its unique indexes do.
func collations(s *suite, t *testing.T) {
	s.writes(t)
	folds := s.Name == contract.EngineMySQL // whose default collations do not tell case
	pads := s.Product == harness.MariaDB    // and MariaDB's not even blanks at the end
	for _, statement := range []string{"insert into book (id, title, author_id, region) values (60, 'Loud', 1, 'EMEA'), (61, 'Padded', 1, 'emea '), (62, 'Longer', 1, 'emea-2')"} {
		if _, err := s.plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s.check(t, "a policy sees what the column takes for equal", func(t *testing.T) {
		wanted := "1 2 5"
		if folds {
			wanted += " 60"
		}
		if pads {
			wanted += " 61"
		}
		page := s.ok(t, "clerk", "list_book", `{}`)
		if got := column(t, page, "id"); got != wanted {
			t.Fatalf("%s, want %s", got, wanted)
		}
		want(t, page, fmt.Sprint(len(strings.Fields(wanted))), "total_count")
		for _, id := range []string{"60", "61", "62"} {
			if _, isError := s.call(t, "clerk", "get_book", `{"id":`+id+`}`); isError == slices.Contains(strings.Fields(wanted), id) {
				t.Errorf("list and get differ about %s", id)
			}
		}
	})
	s.check(t, "a key in another case is that of the row, with its history, or of none", func(t *testing.T) {
		s.ok(t, "root", "update_country", `{"id":"PL","data":{"name":"Polska"}}`)
		for id, same := range map[string]bool{`"pl"`: folds, `"PL "`: pads} {
			row, isError := s.call(t, "root", "get_country", `{"id":`+id+`}`)
			if isError == same {
				t.Fatalf("%s: %v", id, row)
			}
			if !same {
				continue
			}
			want(t, row, `"PL"`, "code")
			want(t, s.ok(t, "root", "history_country", `{"id":`+id+`}`), `1`, "count")
			want(t, s.ok(t, "root", "action_country", `{"action":"delete_selected","ids":["FR","`+strings.NewReplacer("pl", "fr", "PL", "FR").Replace(id[1:])+`]}`), `1`, "affected_count")
		}
	})
}

// unknownMembers is an object with so many members that no model knows.
func unknownMembers(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"a%d":1`, i)
	}
	return `{` + strings.Join(members, ",") + `}`
}
