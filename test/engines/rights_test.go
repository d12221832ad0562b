package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func actions(s *suite, t *testing.T) {
	s.check(t, "what there is", func(t *testing.T) {
		found := s.ok(t, "root", "actions_book", `{}`)
		names := map[string]object{}
		for _, a := range found["actions"].([]any) {
			names[a.(object)["name"].(string)] = a.(object)
		}
		for name, confirms := range map[string]string{"delete_selected": "true", "discount": "false", "retire": "true", "renumber": "false"} {
			want(t, names[name], confirms, "requires_confirmation")
		}
		want(t, found, `4`, "count")
		if got := s.ok(t, "viewer", "actions_book", `{}`); fmt.Sprint(got["count"]) != "0" {
			t.Fatalf("got %v, want no actions", got)
		}
	})
	s.check(t, "an update with a parameter and a condition", func(t *testing.T) {
		done := s.ok(t, "root", "action_book", `{"action":"discount","ids":[1,3,99],"confirmation_data":{"price":"1.50"}}`)
		want(t, done, `1`, "affected_count")
		want(t, done, `[99]`, "missing_ids")
		want(t, done, `[3]`, "skipped_ids")
		s.holds(t, "select notes from book where price = 1.5", "on sale")
		s.holds(t, "select version from book where id = 1", "2")
	})
	for name, arguments := range map[string]string{
		"a missing parameter": `{"action":"discount","ids":[1]}`,
		"an unknown one":      `{"action":"discount","ids":[1],"confirmation_data":{"price":"1","cost":"2"}}`,
		"a wrong one":         `{"action":"discount","ids":[1],"confirmation_data":{"price":"cheap"}}`,
	} {
		s.check(t, name+" is refused", func(t *testing.T) { s.fails(t, "root", "action_book", arguments, "validation_error") })
	}
	s.check(t, "confirmation, and its token", func(t *testing.T) {
		asked := s.ok(t, "root", "action_book", `{"action":"retire","ids":[1,2]}`)
		want(t, asked, `false`, "success")
		want(t, asked, `true`, "requires_confirmation")
		want(t, asked, `2`, "affected_count")
		page := fmt.Sprint(at(t, asked, "confirmation_page", "content"))
		if !strings.Contains(page, "2") || strings.Contains(page, "<books>") && !strings.Contains(page, "&lt;books&gt;") && strings.Contains(page, "Dispossessed<") {
			t.Fatalf("got %s, want 2 in it, and texts escaped", page)
		}
		s.holds(t, "select count(*) from book where not in_stock", "1")
		confirm := asked["confirmation_token"].(string)
		s.fails(t, "root", "action_book", `{"action":"retire","ids":[1,2],"confirm":true,"confirmation_token":"`+confirm+`x"}`, "conflict")
		s.fails(t, "root", "action_book", `{"action":"retire","ids":[1],"confirm":true,"confirmation_token":"`+confirm+`"}`, "conflict")
		want(t, s.ok(t, "root", "action_book", `{"action":"retire","ids":[1,2],"confirm":true,"confirmation_token":"`+confirm+`"}`), `2`, "affected_count")
		s.holds(t, "select count(*) from book where not in_stock", "3")
	})
	s.check(t, "delete_selected names what goes, and what goes with it", func(t *testing.T) {
		asked := s.ok(t, "root", "action_book", `{"action":"delete_selected","ids":[1,2]}`)
		want(t, asked, `true`, "requires_confirmation")
		page := fmt.Sprint(at(t, asked, "confirmation_page", "content"))
		for _, text := range []string{"The Dispossessed", "Solaris", "review"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s is not in %s", text, page)
			}
		}
		s.holds(t, "select count(*) from book", "5")
		// confirmation_data cannot change the selection.
		s.fails(t, "root", "action_book", `{"action":"delete_selected","ids":[2],"confirm":true,"confirmation_data":{"_selected_action":[1]}}`, "validation_error")
		s.holds(t, "select count(*) from book", "5")
		// What goes along is not in the call, so that confirm alone does not do.
		const selected = `{"action":"delete_selected","ids":[2],"confirm":true,"confirmation_data":{"ids":[1,2,3],"action":"retire","post":"no"}`
		unseen := s.fails(t, "root", "action_book", selected+`}`, "conflict")
		s.holds(t, "select count(*) from book", "5")
		done := s.ok(t, "root", "action_book", selected+fmt.Sprintf(`,"confirmation_token":%q}`, unseen["confirmation_token"]))
		want(t, done, `1`, "affected_count")
		s.holds(t, "select id from book order by id", "1 3 4 5")
	})
	s.check(t, "sql binds the visible ids and the parameters", func(t *testing.T) {
		done := s.ok(t, "root", "action_book", `{"action":"renumber","ids":[4,98],"confirmation_data":{"prefix":"'; drop table vote; --"}}`)
		want(t, done, `1`, "affected_count")
		s.holds(t, "select notes from book where id = 4", "'; drop table vote; --")
		s.holds(t, "select count(*) from vote", s.sql(t, "select count(*) from vote"))
		s.ok(t, "clerk", "action_book", `{"action":"renumber","ids":[1,3],"confirmation_data":{"prefix":"seen"}}`)
		s.holds(t, "select id from book where notes = 'seen'", "1")
	})
	s.check(t, "none of the rows is there", func(t *testing.T) {
		s.fails(t, "root", "action_book", `{"action":"discount","ids":[97,98],"confirmation_data":{"price":"1"}}`, "not_found")
	})
	for name, tc := range map[string][2]string{
		"no such action": {`{"action":"burn","ids":[1]}`, "invalid_argument"}, "no action": {`{"ids":[1]}`, "invalid_argument"},
		"no ids": {`{"action":"retire"}`, "invalid_argument"}, "empty ids": {`{"action":"retire","ids":[]}`, "invalid_argument"},
		"a wrong id": {`{"action":"retire","ids":["x"]}`, "invalid_argument"},
	} {
		s.check(t, name, func(t *testing.T) { s.fails(t, "root", "action_book", tc[0], tc[1]) })
	}
	s.check(t, "an action that only a rule grants", func(t *testing.T) {
		s.fails(t, "bookish", "action_book", `{"action":"renumber","ids":[1],"confirmation_data":{"prefix":"x"}}`, "permission_denied")
		s.ok(t, "bookish", "action_book", `{"action":"discount","ids":[4],"confirmation_data":{"price":"3.00"}}`)
	})
	s.check(t, "without any action", func(t *testing.T) {
		s.fails(t, "viewer", "action_book", `{"action":"retire","ids":[1]}`, "permission_denied")
	})
}

func policies(s *suite, t *testing.T) {
	s.check(t, "list, count and search", func(t *testing.T) {
		page := s.ok(t, "clerk", "list_book", `{}`)
		if got := column(t, page, "id"); got != "1 2 5" {
			t.Fatalf("got %q, want %q", got, "1 2 5")
		}
		want(t, page, `3`, "total_count")
		want(t, s.ok(t, "clerk", "list_book", `{"limit":1}`), `3`, "total_count")
		want(t, s.ok(t, "clerk", "list_book", `{"search":"darkness"}`), `0`, "total_count")
		want(t, s.ok(t, "clerk", "list_book", `{"filters":{"region":"apac"}}`), `0`, "total_count")
	})
	for _, token := range []string{"lost", "stranger"} {
		s.check(t, token+" sees nothing", func(t *testing.T) {
			want(t, s.ok(t, token, "list_book", `{}`), `{"count":0,"total_count":0,"rows":"policy","results":[]}`)
			s.fails(t, token, "get_book", `{"id":1}`, "not_found")
			s.fails(t, token, "update_book", `{"id":1,"data":{"pages":1}}`, "not_found")
			s.fails(t, token, "delete_book", `{"id":1}`, "not_found")
		})
	}
	s.check(t, "one row", func(t *testing.T) {
		s.ok(t, "clerk", "get_book", `{"id":1}`)
		s.fails(t, "clerk", "get_book", `{"id":3}`, "not_found")
		s.fails(t, "clerk", "related_book", `{"id":3,"relation":"author"}`, "not_found")
		s.fails(t, "clerk", "history_book", `{"id":3}`, "not_found")
	})
	s.check(t, "related rows, both ways", func(t *testing.T) {
		related := s.ok(t, "clerk", "related_author", `{"id":1,"relation":"book_by_author"}`)
		if got := column(t, related, "id"); got != "1" {
			t.Fatalf("got %q, want %q", got, "1")
		}
		want(t, related, `1`, "total_count")
		want(t, s.ok(t, "clerk", "related_review", `{"id":4,"relation":"book"}`), `null`, "result")
		row := s.ok(t, "clerk", "get_author", `{"id":1,"include_related":true}`)
		if rows := at(t, row, "_related", "book_by_author").([]any); len(rows) != 1 {
			t.Fatalf("got %d: %v, want %d", len(rows), rows, 1)
		}
	})
	s.check(t, "filters through a relation", func(t *testing.T) {
		if got := column(t, s.ok(t, "clerk", "list_review", `{"filters":{"book__pages__gt":0}}`), "id"); got != "1 2 3" {
			t.Fatalf("got %q, want %q", got, "1 2 3")
		}
		if got := column(t, s.ok(t, "clerk", "list_author", `{"filters":{"book_by_author__title__contains":"Darkness"}}`), "id"); got != "" {
			t.Fatalf("got %q, want nothing", got)
		}
		if got := column(t, s.ok(t, "clerk", "list_review", `{"filters":{"book__title__ne":"x"}}`), "id"); got != "1 2 3 4 5" { // a book out of sight is null
			t.Fatalf("got %q, want %q", got, "1 2 3 4 5")
		}
	})
	s.check(t, "autocomplete", func(t *testing.T) {
		want(t, s.ok(t, "clerk", "autocomplete_book", `{"term":"The"}`), `1`, "count")
	})
	s.check(t, "writes do not reach beyond", func(t *testing.T) {
		s.fails(t, "clerk", "update_book", `{"id":3,"data":{"pages":1}}`, "not_found")
		s.fails(t, "clerk", "delete_book", `{"id":3}`, "not_found")
		done, _ := s.call(t, "clerk", "bulk_book", `{"operation":"update","items":[{"id":3,"data":{"pages":1}},{"id":4,"data":{"pages":1}}]}`)
		want(t, done, `0`, "success_count")
		s.fails(t, "clerk", "action_book", `{"action":"discount","ids":[4],"confirmation_data":{"price":"0.01"}}`, "not_found")
		s.holds(t, "select pages from book where id in (3, 4) order by id", "286 451")
	})
	s.check(t, "a row cannot be moved out of sight", func(t *testing.T) {
		s.fails(t, "clerk", "update_book", `{"id":1,"data":{"region":"apac"}}`, "validation_error")
		s.holds(t, "select region from book where id = 1", "emea")
		s.fails(t, "clerk", "create_book", `{"data":{"title":"x","author_id":1,"region":"apac"}}`, "validation_error")
		s.holds(t, "select count(*) from book", "5")
	})
	s.check(t, "what the policy fixes is filled in", func(t *testing.T) {
		want(t, s.ok(t, "clerk", "create_book", `{"data":{"title":"Filled","author_id":1}}`), `"emea"`, "object", "region")
	})
	s.check(t, "a foreign key to a row out of sight looks like one to none", func(t *testing.T) {
		unseen := s.failsOn(t, "clerk", "create_review", `{"data":{"book_id":3,"reader":"x","stars":1}}`, "book_id")
		none := s.failsOn(t, "clerk", "create_review", `{"data":{"book_id":4711,"reader":"x","stars":1}}`, "book_id")
		if fmt.Sprint(unseen) != fmt.Sprint(none) {
			t.Fatalf("%v and %v differ", unseen, none)
		}
		s.failsOn(t, "clerk", "update_review", `{"id":1,"data":{"book_id":3}}`, "book_id")
	})
	s.check(t, "a deletion does not take along what is out of sight", func(t *testing.T) {
		s.writes(t)
		// An editor of a book that the clerk does not see: the book would change.
		if _, err := s.plain.Exec("insert into author (id, name) values (50, 'Unseen editor')"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.plain.Exec("update book set editor_id = 50 where id = 3"); err != nil {
			t.Fatal(err)
		}
		s.fails(t, "clerk", "delete_author", `{"id":50}`, "protected")
		s.holds(t, "select editor_id from book where id = 3", "50")
		s.ok(t, "root", "delete_author", `{"id":50}`)
	})
}

func hiddenAndMasked(s *suite, t *testing.T) {
	s.check(t, "hidden fields appear nowhere", func(t *testing.T) {
		for tool, arguments := range map[string]string{
			"list_author": `{}`, "get_author": `{"id":1}`, "describe_author": `{}`, "history_author": `{"id":1}`, "related_book": `{"id":1,"relation":"author"}`,
		} {
			payload, _ := s.call(t, "root", tool, arguments)
			if text := fmt.Sprint(payload); strings.Contains(text, "password") || strings.Contains(text, "hash-of") {
				t.Errorf("%s: %s", tool, text)
			}
		}
		status, body := s.endpoint.Post(secret("root"), `{"method":"tools/list"}`)
		if status != 200 || strings.Contains(body, "password_hash") {
			t.Error("tools/list names it")
		}
	})
	s.check(t, "a hidden field is no filter, order or field, and looks like none", func(t *testing.T) {
		for _, form := range []string{`{"filters":{"%s":"x"}}`, `{"filters":{"%s__startswith":"h"}}`, `{"order_by":["%s"]}`, `{"fields":["%s"]}`} {
			hidden := s.fails(t, "root", "list_author", fmt.Sprintf(form, "password_hash"), "invalid_argument")
			none := s.fails(t, "root", "list_author", fmt.Sprintf(form, "passwort_hash"), "invalid_argument")
			if strings.ReplaceAll(fmt.Sprint(hidden), "password_hash", "passwort_hash") != fmt.Sprint(none) {
				t.Errorf("%v and %v differ", hidden, none)
			}
		}
		s.fails(t, "root", "list_book", `{"filters":{"author__password_hash__startswith":"h"}}`, "invalid_argument")
	})
	s.check(t, "a search does not look in it", func(t *testing.T) {
		want(t, s.ok(t, "root", "list_author", `{"search":"hash-of"}`), `0`, "total_count")
	})
	s.check(t, "masks", func(t *testing.T) {
		rows := s.ok(t, "root", "list_book", `{"fields":["card_number"]}`)
		if got := column(t, rows, "card_number"); got != "****1111 **** <nil> ****0004 <nil>" {
			t.Fatalf("got %q, want %q", got, "****1111 **** <nil> ****0004 <nil>")
		}
		want(t, s.ok(t, "root", "get_book", `{"id":1}`), `"****1111"`, "card_number")
		want(t, s.ok(t, "root", "get_author", `{"id":1,"include_related":true}`), `"****1111"`, "_related", "book_by_author", 0, "card_number")
	})
	s.check(t, "a masked field is no filter, order or value to write", func(t *testing.T) {
		for _, arguments := range []string{`{"filters":{"card_number":"4111111111111111"}}`, `{"filters":{"card_number__startswith":"4"}}`, `{"order_by":["card_number"]}`, `{"filters":{"card_number__isnull":true}}`} {
			s.fails(t, "root", "list_book", arguments, "invalid_argument")
		}
		s.fails(t, "root", "list_review", `{"filters":{"book__card_number__startswith":"4"}}`, "invalid_argument")
		s.failsOn(t, "root", "update_book", `{"id":1,"data":{"card_number":"1"}}`, "card_number")
		want(t, s.ok(t, "root", "list_book", `{"search":"4111"}`), `0`, "total_count")
	})
}

func history(s *suite, t *testing.T) {
	made := s.ok(t, "root", "create_book", `{"data":{"title":"Diary","author_id":1,"pages":1,"region":"emea"}}`)
	id := fmt.Sprint(made["id"])
	s.ok(t, "clerk", "update_book", `{"id":`+id+`,"data":{"pages":2,"notes":"n"}}`)
	s.ok(t, "root", "action_book", `{"action":"discount","ids":[`+id+`],"confirmation_data":{"price":"1.00"}}`)
	s.check(t, "newest first, with before and after", func(t *testing.T) {
		h := s.ok(t, "root", "history_book", `{"id":`+id+`}`)
		want(t, h, `"book"`, "model")
		want(t, h, `3`, "count")
		want(t, h, `"action:discount"`, "history", 0, "action")
		want(t, h, `"update"`, "history", 1, "action")
		want(t, h, `"test/clerk"`, "history", 1, "token")
		want(t, h, `"Diary"`, "history", 1, "object_repr")
		want(t, h, `{"before":1,"after":2}`, "history", 1, "changes", "pages")
		want(t, h, `{"before":null,"after":"n"}`, "history", 1, "changes", "notes")
		want(t, h, `"create"`, "history", 2, "action")
		if changes := at(t, h, "history", 1, "changes").(object); changes["title"] != nil {
			t.Fatalf("what did not change is there: %v", changes)
		}
	})
	s.check(t, "limit and offset", func(t *testing.T) {
		want(t, s.ok(t, "root", "history_book", `{"id":`+id+`,"limit":1,"offset":1}`), `"update"`, "history", 0, "action")
	})
	s.check(t, "a row that is gone, for who sees all rows", func(t *testing.T) {
		gone := s.ok(t, "root", "delete_book", `{"id":`+id+`}`)
		h := s.ok(t, "root", "history_book", `{"id":`+id+`}`)
		want(t, h, `4`, "count")
		want(t, h, `"delete"`, "history", 0, "action")
		want(t, h, `"`+id+`"`, "history", 0, "object_repr")
		want(t, h, `"create"`, "history", 3, "action")
		if text := fmt.Sprint(h); strings.Contains(text, "card_number") {
			t.Errorf("got %s, want nothing of card_number", text)
		}
		s.fails(t, "clerk", "history_book", `{"id":`+id+`}`, "not_found")
		s.fails(t, "root", "history_book", `{"id":99999}`, "not_found")
		s.fails(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, gone["call"]), "protected") // a masked column
	})
	s.check(t, "a row that undo brought back is the one that was there", func(t *testing.T) {
		s.ok(t, "root", "create_country", `{"data":{"code":"YY","name":"Yonder"}}`)
		gone := s.ok(t, "root", "delete_country", `{"id":"YY"}`)
		s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, gone["call"]))
		h := s.ok(t, "root", "history_country", `{"id":"YY"}`)
		for i, action := range []string{`"create"`, `"delete"`, `"create"`} {
			want(t, h, action, "history", i, "action")
		}
	})
	s.check(t, "a row that came again does not show the one before", func(t *testing.T) {
		s.ok(t, "root", "create_country", `{"data":{"code":"ZZ","name":"First"}}`)
		s.ok(t, "root", "update_country", `{"id":"ZZ","data":{"name":"Second"}}`)
		s.ok(t, "root", "delete_country", `{"id":"ZZ"}`)
		s.ok(t, "root", "create_country", `{"data":{"code":"ZZ","name":"Third"}}`)
		want(t, s.ok(t, "root", "history_country", `{"id":"ZZ"}`), `1`, "count")
	})
	s.check(t, "secrets and masks are not kept", func(t *testing.T) {
		if got := s.sql(t, "select changes from mcp_admin_log") + s.sql(t, "select message from mcp_admin_log"); strings.Contains(got, "card_number") || strings.Contains(got, "password") {
			t.Fatalf("got %s, want nothing of card_number and nothing of password", got)
		}
	})
	s.check(t, "what is undone leaves no trace", func(t *testing.T) {
		before := s.sql(t, "select count(*) from mcp_admin_log")
		s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":5},"dry_run":true}`)
		s.fails(t, "root", "update_book", `{"id":1,"data":{"pages":-5}}`, "validation_error")
		s.holds(t, "select count(*) from mcp_admin_log", before)
	})
}

func auditing(s *suite, t *testing.T) {
	line := func(t *testing.T, containing ...string) object {
		t.Helper()
		for _, text := range s.endpoint.Log.Lines(`"msg":"audit"`) {
			all := true
			for _, piece := range containing {
				all = all && strings.Contains(text, piece)
			}
			if all {
				var found object
				if err := json.Unmarshal([]byte(text), &found); err != nil {
					t.Fatal(err)
				}
				return found
			}
		}
		t.Fatalf("no line with %v", containing)
		return nil
	}
	s.check(t, "a change", func(t *testing.T) {
		s.ok(t, "root", "update_book", `{"id":1,"data":{"notes":"a very private note","pages":3}}`)
		found := line(t, `"update_book"`)
		want(t, found, `["notes","pages"]`, "fields")
		want(t, found, `["1"]`, "ids")
		want(t, found, `"test/root"`, "token")
		want(t, found, `"ok"`, "outcome")
	})
	s.check(t, "a refusal", func(t *testing.T) {
		s.fails(t, "viewer", "delete_book", `{"id":1}`, "permission_denied")
		want(t, line(t, `"delete_book"`, `"test/viewer"`), `"permission_denied"`, "outcome")
	})
	s.check(t, "no values", func(t *testing.T) {
		if found := s.endpoint.Log.Lines("private note"); len(found) > 0 {
			t.Fatalf("got %v, want none", found)
		}
	})
	s.check(t, "reads leave none", func(t *testing.T) {
		s.ok(t, "root", "list_book", `{}`)
		if found := s.endpoint.Log.Lines(`"list_book"`); len(found) > 0 {
			t.Fatalf("got %v, want none", found)
		}
	})
}

func permissions(s *suite, t *testing.T) {
	for tool, arguments := range map[string]string{
		"list_book": `{}`, "get_book": `{"id":1}`, "create_book": `{"data":{}}`, "update_book": `{"id":1,"data":{}}`, "delete_book": `{"id":1}`, "describe_book": `{}`,
		"actions_book": `{}`, "action_book": `{"action":"retire","ids":[1]}`, "bulk_book": `{"operation":"delete","items":[1]}`, "related_book": `{"id":1,"relation":"author"}`,
		"history_book": `{"id":1}`, "autocomplete_book": `{"term":"x"}`, "aggregate_book": `{"measures":{"n":{"count":"*"}}}`,
		"transact": `{"steps":[{"tool":"list_book"}]}`,
	} {
		s.check(t, "no rule, no right: "+tool, func(t *testing.T) { s.fails(t, "nobody", tool, arguments, "permission_denied") })
	}
	for tool, arguments := range map[string]string{
		"create_book": `{"data":{"title":"x","author_id":1}}`, "update_book": `{"id":1,"data":{"pages":1}}`, "delete_book": `{"id":1}`, "bulk_book": `{"operation":"delete","items":[1]}`,
		"transact": `{"steps":[{"tool":"get_book","arguments":{"id":1}},{"tool":"delete_book","arguments":{"id":1}}]}`,
	} {
		s.check(t, "view only: "+tool, func(t *testing.T) { s.fails(t, "viewer", tool, arguments, "permission_denied") })
	}
	for _, tool := range []string{"list_review", "get_review", "describe_review", "history_review", "related_review", "autocomplete_review", "aggregate_review"} {
		s.check(t, "add does not imply view: "+tool, func(t *testing.T) { s.fails(t, "adder", tool, `{}`, "permission_denied") })
	}
	s.check(t, "the tools that are listed are those that can be used", func(t *testing.T) {
		for token, wanted := range map[string]string{
			"nobody": "find_models", "adder": "find_models transact create_category bulk_category create_review bulk_review", "deleter": "find_models transact delete_category bulk_category delete_review bulk_review",
			"bookish": "find_models transact undo list_book get_book create_book update_book delete_book describe_book actions_book action_book bulk_book history_book autocomplete_book aggregate_book",
		} {
			got := strings.Join(s.listed(t, token, "?tools=per-model"), " ")
			if got != wanted {
				t.Errorf("%s: %s, want %s", token, got, wanted)
			}
		}
	})
	s.check(t, "an unknown model and an unknown tool", func(t *testing.T) {
		s.fails(t, "root", "list_nothing", `{}`, "not_found")
		s.fails(t, "root", "frob_book", `{}`, "not_found")
	})
}
