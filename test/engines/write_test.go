package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func creating(s *suite, t *testing.T) {
	s.check(t, "a row, with the database's defaults", func(t *testing.T) {
		made := s.ok(t, "root", "create_book", `{"data":{"title":"Eden","author_id":2,"region":"emea"}}`)
		want(t, made, `true`, "success")
		want(t, made, `"9.90"`, "object", "price")
		want(t, made, `true`, "object", "in_stock")
		want(t, made, `1`, "object", "version")
		id := fmt.Sprint(made["id"])
		s.holds(t, "select title from book where id = "+id, "Eden")
		want(t, s.ok(t, "root", "get_book", `{"id":`+id+`}`), `"Eden"`, "title")
	})
	s.check(t, "every kind of value", func(t *testing.T) {
		made := s.ok(t, "root", "create_book", `{"data":{"title":"Fiasco \"x\" 😀 'y' \\ %","author_id":"2","editor_id":null,"isbn":"i-9","price":"10.10","pages":"300",
			"in_stock":false,"tags":{"k":[1,2.50,"ü"]},"region":"apac","notes":"two\nlines"}}`)
		want(t, made, `"Fiasco \"x\" 😀 'y' \\ %"`, "object", "title")
		want(t, made, `"10.10"`, "object", "price")
		want(t, made, s.storedJSON(`{"k":[1,2.50,"ü"]}`), "object", "tags")
		want(t, made, `"two\nlines"`, "object", "notes")
	})
	s.check(t, "a text key is given", func(t *testing.T) {
		want(t, s.ok(t, "root", "create_country", `{"data":{"code":"DE","name":"Germany"}}`), `"DE"`, "id")
	})
	s.check(t, "a composite key is given", func(t *testing.T) {
		want(t, s.ok(t, "root", "create_edition", `{"data":{"book_id":3,"number":7,"label":"seventh"}}`), `"3,7"`, "id")
	})
	s.check(t, "all that is wrong, at once", func(t *testing.T) {
		s.failsOn(t, "root", "create_book", `{"data":{"author_id":"x","pages":1.5,"region":"mars","published":"1999-01-01","nope":1,"card_number":"1"}}`,
			"author_id", "nope", "pages", "published", "region", "title")
	})
	for _, tc := range []struct{ name, data, field string }{
		{"too long", `{"title":"` + strings.Repeat("x", 201) + `","author_id":1}`, "title"},
		{"null where there must be a value", `{"title":null,"author_id":1}`, "title"},
		{"too many digits after the point", `{"title":"x","author_id":1,"price":"1.999"}`, "price"},
		{"too many digits", `{"title":"x","author_id":1,"price":"123456789012.00"}`, "price"},
		{"an integer out of range", `{"title":"x","author_id":1,"pages":3000000000}`, "pages"},
		{"a check", `{"title":"x","author_id":1,"pages":-5}`, "pages"},
		{"not unique", `{"title":"x","author_id":1,"isbn":"isbn-1"}`, "isbn"},
		{"a row that is not there", `{"title":"x","author_id":4711}`, "author_id"},
		{"U+0000", `{"title":"a\u0000b","author_id":1}`, "title"},
		{"a hidden column", `{"name":"x","password_hash":"p"}`, "password_hash"},
		{"the version", `{"title":"x","author_id":1,"version":7}`, "version"},
	} {
		s.check(t, tc.name+" is refused", func(t *testing.T) {
			if tc.name == "an integer out of range" && s.Name == contract.EngineSQLite {
				t.Skip("its integers have 64 bits, whatever they are called")
			}
			model := "book"
			if tc.field == "password_hash" {
				model = "author"
			}
			before := s.sql(t, "select count(*) from "+model)
			s.failsOn(t, "root", "create_"+model, `{"data":`+tc.data+`}`, tc.field)
			s.holds(t, "select count(*) from "+model, before)
		})
	}
	s.check(t, "a hidden column looks like none", func(t *testing.T) {
		hidden := s.failsOn(t, "root", "create_author", `{"data":{"name":"x","password_hash":"p"}}`, "password_hash")
		none := s.failsOn(t, "root", "create_author", `{"data":{"name":"x","passwort_hash":"p"}}`, "passwort_hash")
		if strings.ReplaceAll(fmt.Sprint(hidden), "password", "passwort") != fmt.Sprint(none) {
			t.Fatalf("%v and %v differ", hidden, none)
		}
	})
	s.check(t, "no values of other rows in an error", func(t *testing.T) {
		text := fmt.Sprint(s.failsOn(t, "root", "create_country", `{"data":{"code":"XX","name":"Poland"}}`, "name"))
		if strings.Contains(text, "Poland") {
			t.Fatalf("got %s, want nothing of Poland", text)
		}
	})
	for arguments, code := range map[string]string{
		`{}`: "invalid_argument", `{"data":[]}`: "invalid_argument", `{"data":{"name":"n","code":"NN"},"nope":1}`: "invalid_argument", `{"data":{"name":"n","code":"NN"},"dry_run":"yes"}`: "invalid_argument",
	} {
		s.check(t, "create with "+arguments, func(t *testing.T) { s.fails(t, "root", "create_country", arguments, code) })
	}
	s.check(t, "a dry run leaves nothing", func(t *testing.T) {
		made := s.ok(t, "root", "create_book", `{"data":{"title":"Dry","author_id":2},"dry_run":true}`)
		want(t, made, `"Dry"`, "object", "title")
		s.holds(t, "select count(*) from book where title = 'Dry'", "0")
		s.failsOn(t, "root", "create_book", `{"data":{"title":"Dry","author_id":2,"isbn":"isbn-2"},"dry_run":true}`, "isbn")
	})
	s.check(t, "without view, the id and the call's, and nothing else", func(t *testing.T) {
		made := s.ok(t, "adder", "create_review", `{"data":{"book_id":1,"reader":"Zoe","stars":1}}`)
		if len(made) != 3 || made["success"] != true || made["id"] == nil || made["call"] == "" {
			t.Fatalf("got %v, want success, an id and a call, and no more", made)
		}
	})
}

func updating(s *suite, t *testing.T) {
	s.check(t, "the fields that are given, and no other", func(t *testing.T) {
		changed := s.ok(t, "root", "update_book", `{"id":1,"data":{"price":"20.00","editor_id":null}}`)
		want(t, changed, `true`, "success")
		want(t, changed, `"20.00"`, "object", "price")
		want(t, changed, `null`, "object", "editor_id")
		want(t, changed, `null`, "inlines")
		s.holds(t, "select title from book where id = 1", "The Dispossessed")
		s.holds(t, "select count(*) from book where price = 20", "1")
	})
	s.check(t, "to the same values", func(t *testing.T) {
		want(t, s.ok(t, "root", "update_country", `{"id":"PL","data":{"name":"Poland"}}`), `"Poland"`, "object", "name")
	})
	s.check(t, "a composite key's row", func(t *testing.T) {
		s.ok(t, "root", "update_edition", `{"id":"1,2","data":{"label":"2nd"}}`)
		s.holds(t, "select label from edition where book_id = 1 order by number", "first 2nd")
	})
	s.check(t, "the key is refused", func(t *testing.T) {
		s.failsOn(t, "root", "update_country", `{"id":"PL","data":{"code":"PP"}}`, "code")
	})
	s.check(t, "a row that is not there", func(t *testing.T) {
		s.fails(t, "root", "update_book", `{"id":99,"data":{"pages":1}}`, "not_found")
	})
	s.check(t, "what is wrong, at once", func(t *testing.T) {
		s.failsOn(t, "root", "update_book", `{"id":1,"data":{"title":null,"published":"1999-01-01","pages":"a"}}`, "pages", "published", "title")
	})
	s.check(t, "a check of the database", func(t *testing.T) {
		s.failsOn(t, "root", "update_book", `{"id":1,"data":{"pages":0}}`, "pages")
		s.holds(t, "select pages from book where id = 1", "341")
	})
	s.check(t, "nothing to change", func(t *testing.T) {
		s.fails(t, "root", "update_book", `{"id":1,"data":{}}`, "invalid_argument")
	})
	s.check(t, "a dry run leaves nothing", func(t *testing.T) {
		want(t, s.ok(t, "root", "update_book", `{"id":2,"data":{"pages":1},"dry_run":true}`), `1`, "object", "pages")
		s.holds(t, "select pages from book where id = 2", "204")
		s.holds(t, "select version from book where id = 2", "1")
	})
}

func versions(s *suite, t *testing.T) {
	s.check(t, "the version moves", func(t *testing.T) {
		want(t, s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":10},"expected_version":1}`), `2`, "object", "version")
		want(t, s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":11}}`), `3`, "object", "version")
	})
	s.check(t, "a stale version is a conflict that shows the row", func(t *testing.T) {
		conflict := s.fails(t, "root", "update_book", `{"id":1,"data":{"pages":12},"expected_version":1}`, "conflict")
		want(t, conflict, `3`, "current", "version")
		s.holds(t, "select pages from book where id = 1", "11")
	})
	s.check(t, "a version on a row that is not there", func(t *testing.T) {
		s.fails(t, "root", "update_book", `{"id":99,"data":{"pages":12},"expected_version":1}`, "not_found")
	})
	s.check(t, "deleting a stale version", func(t *testing.T) {
		s.fails(t, "root", "delete_book", `{"id":1,"expected_version":1}`, "conflict")
		s.ok(t, "root", "delete_book", `{"id":1,"expected_version":3}`)
		s.holds(t, "select count(*) from book where id = 1", "0")
	})
	s.check(t, "in bulk, item by item", func(t *testing.T) {
		done := s.ok(t, "root", "bulk_book", `{"operation":"update","items":[{"id":2,"data":{"pages":1},"expected_version":1},{"id":3,"data":{"pages":2},"expected_version":9}]}`)
		want(t, done, `1`, "success_count")
		want(t, done, `"conflict"`, "results", "errors", 0, "code")
	})
	s.check(t, "where there is no version", func(t *testing.T) {
		s.fails(t, "root", "update_country", `{"id":"PL","data":{"name":"Polska"},"expected_version":1}`, "invalid_argument")
	})
	s.check(t, "a timestamp always grows", func(t *testing.T) {
		seen := map[string]bool{}
		version := fmt.Sprint(s.ok(t, "root", "get_page", `{"id":1}`)["updated_at"])
		for i := range 20 {
			seen[version] = true
			changed := s.ok(t, "root", "update_page", fmt.Sprintf(`{"id":1,"data":{"title":"t%d"},"expected_version":%q}`, i, version))
			next := fmt.Sprint(at(t, changed, "object", "updated_at"))
			if seen[next] || next <= version {
				t.Fatalf("%s after %s", next, version)
			}
			version = next
		}
		s.fails(t, "root", "update_page", `{"id":1,"data":{"title":"late"},"expected_version":"2026-01-02T03:04:05"}`, "conflict")
	})
}

func inlines(s *suite, t *testing.T) {
	s.check(t, "with a new row", func(t *testing.T) {
		made := s.ok(t, "root", "create_book", `{"data":{"title":"Eden","author_id":2},"inlines":{"review":[{"data":{"reader":"Al","stars":3}},{"data":{"reader":"Bo","stars":4}}],"edition":[{"data":{"number":1}}]}}`)
		id := fmt.Sprint(made["id"])
		s.holds(t, "select reader from review where book_id = "+id+" order by id", "Al Bo")
		s.holds(t, "select number from edition where book_id = "+id, "1")
	})
	s.check(t, "all three at once", func(t *testing.T) {
		changed := s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":7},"inlines":{"review":[{"data":{"reader":"New","stars":1}},{"id":1,"data":{"stars":2}},{"id":2,"_delete":true}]}}`)
		want(t, changed, `[{"id":1,"model":"review"}]`, "inlines", "updated")
		want(t, changed, `[{"id":2,"model":"review"}]`, "inlines", "deleted")
		want(t, changed, `"review"`, "inlines", "created", 0, "model")
		s.holds(t, "select reader from review where book_id = 1 order by id", "Ann New")
		s.holds(t, "select stars from review where book_id = 1 order by id", "2 1")
	})
	s.check(t, "only inlines", func(t *testing.T) {
		want(t, s.ok(t, "root", "update_book", `{"id":1,"inlines":{"review":[{"id":1,"data":{"stars":3}}]}}`), `{"created":[],"updated":[{"id":1,"model":"review"}],"deleted":[]}`, "inlines")
	})
	for name, inline := range map[string]string{
		"an id of another parent": `{"review":[{"id":3,"data":{"stars":1}}]}`,
		"an id that is not there": `{"review":[{"id":99,"data":{"stars":1}}]}`,
		"a wrong value":           `{"review":[{"data":{"reader":"Ok","stars":2}},{"data":{"reader":"Al","stars":"x"}}]}`,
		"a check":                 `{"review":[{"data":{"reader":"Ok","stars":2}},{"data":{"reader":"Al","stars":9}}]}`,
		"the foreign key itself":  `{"review":[{"data":{"reader":"Al","stars":3,"book_id":2}}]}`,
		"a missing field":         `{"review":[{"data":{"stars":3}}]}`,
	} {
		s.check(t, name+" undoes everything", func(t *testing.T) {
			before := s.sql(t, "select reader from review order by id") + s.sql(t, "select stars from review order by id") + s.sql(t, "select title from book order by id")
			s.fails(t, "root", "update_book", `{"id":1,"data":{"title":"never"},"inlines":`+inline+`}`, "validation_error")
			if after := s.sql(t, "select reader from review order by id") + s.sql(t, "select stars from review order by id") + s.sql(t, "select title from book order by id"); after != before {
				t.Fatalf("%s became %s", before, after)
			}
		})
	}
	s.check(t, "no such inline", func(t *testing.T) {
		s.fails(t, "root", "update_book", `{"id":1,"inlines":{"author":[{"data":{"name":"x"}}]}}`, "invalid_argument")
	})
	s.check(t, "without the verb on the child", func(t *testing.T) {
		payload, isError := s.call(t, "bookish", "update_book", `{"id":1,"inlines":{"review":[{"data":{"reader":"x","stars":1}}]}}`)
		if !isError {
			t.Fatalf("got %v, want an error", payload)
		}
		s.holds(t, "select count(*) from review where reader = 'x'", "0")
	})
	s.check(t, "a dry run leaves nothing", func(t *testing.T) {
		s.ok(t, "root", "update_book", `{"id":1,"inlines":{"review":[{"data":{"reader":"Dry","stars":1}}]},"dry_run":true}`)
		s.holds(t, "select count(*) from review where reader = 'Dry'", "0")
	})
}

func deleting(s *suite, t *testing.T) {
	s.check(t, "a row and what hangs on it", func(t *testing.T) {
		gone := s.ok(t, "root", "delete_book", `{"id":1}`)
		want(t, gone, `true`, "success")
		if gone["message"] == "" {
			t.Fatalf("got %v, want a message", gone)
		}
		s.holds(t, "select count(*) from book where id = 1", "0")
		s.holds(t, "select count(*) from review where book_id = 1", "0")
		s.holds(t, "select count(*) from vote where review_id in (1, 2)", "0")
		s.holds(t, "select count(*) from edition where book_id = 1", "0")
	})
	s.check(t, "what others need", func(t *testing.T) {
		protected := s.fails(t, "root", "delete_author", `{"id":2}`, "protected")
		if !strings.Contains(protected["error"].(string), "book") {
			t.Fatalf("got %v, want an error that names book", protected)
		}
		s.holds(t, "select count(*) from author where id = 2", "1")
	})
	s.check(t, "what points there is set to null", func(t *testing.T) {
		s.ok(t, "root", "create_author", `{"data":{"name":"Ed"}}`)
		id := s.sql(t, "select id from author where name = 'Ed'")
		s.ok(t, "root", "update_book", `{"id":2,"data":{"editor_id":`+id+`}}`)
		s.ok(t, "root", "delete_author", `{"id":`+id+`}`)
		s.holds(t, "select editor_id from book where id = 2", "NULL")
	})
	s.check(t, "a tree of its own kind", func(t *testing.T) {
		s.ok(t, "root", "delete_category", `{"id":2}`)
		s.holds(t, "select id from category order by id", "1 4")
	})
	s.check(t, "what the token may not delete with it", func(t *testing.T) {
		protected := s.fails(t, "bookish", "delete_book", `{"id":2}`, "protected")
		if strings.Contains(protected["error"].(string), "review") {
			t.Fatalf("names a model that the token may not view: %v", protected)
		}
		s.holds(t, "select count(*) from book where id = 2", "1")
	})
	s.check(t, "without view", func(t *testing.T) {
		gone := s.ok(t, "deleter", "delete_category", `{"id":4}`)
		if strings.Contains(fmt.Sprint(gone), "facts") {
			t.Fatalf("shows a row: %v", gone)
		}
	})
	s.check(t, "a row that is not there", func(t *testing.T) { s.fails(t, "root", "delete_book", `{"id":99}`, "not_found") })
	s.check(t, "a dry run leaves all", func(t *testing.T) {
		s.ok(t, "root", "delete_book", `{"id":3,"dry_run":true}`)
		s.holds(t, "select count(*) from review where book_id = 3", "1")
		s.fails(t, "root", "delete_author", `{"id":2,"dry_run":true}`, "protected")
	})
}

func bulk(s *suite, t *testing.T) {
	s.check(t, "create", func(t *testing.T) {
		done := s.ok(t, "root", "bulk_country", `{"operation":"create","items":[{"data":{"code":"DE","name":"Germany"}},{"code":"IT","name":"Italy"},{"data":{"code":"PL","name":"again"}}]}`)
		want(t, done, `"create"`, "operation")
		want(t, done, `3`, "total_items")
		want(t, done, `2`, "success_count")
		want(t, done, `1`, "error_count")
		want(t, done, `[{"index":0,"id":"DE","created":true},{"index":1,"id":"IT","created":true}]`, "results", "success")
		want(t, done, `2`, "results", "errors", 0, "index")
		want(t, done, `"validation_error"`, "results", "errors", 0, "code")
		s.holds(t, "select code from country where code in ('DE','IT') order by code", "DE IT")
	})
	s.check(t, "update", func(t *testing.T) {
		done := s.ok(t, "root", "bulk_review", `{"operation":"update","items":[{"id":1,"data":{"stars":1}},{"id":2,"data":{"stars":77}},{"id":99,"data":{"stars":1}},{"id":3,"data":{"stars":2}}]}`)
		want(t, done, `2`, "success_count")
		want(t, done, `"not_found"`, "results", "errors", 1, "code")
		s.holds(t, "select stars from review where id in (1,2,3) order by id", "1 4 2")
	})
	s.check(t, "delete", func(t *testing.T) {
		done := s.ok(t, "root", "bulk_review", `{"operation":"delete","items":[4,{"id":5},98]}`)
		want(t, done, `2`, "success_count")
		s.holds(t, "select count(*) from review where id in (4,5)", "0")
	})
	s.check(t, "atomic is all or nothing", func(t *testing.T) {
		payload, isError := s.call(t, "root", "bulk_review", `{"operation":"update","atomic":true,"items":[{"id":1,"data":{"stars":5}},{"id":2,"data":{"stars":77}}]}`)
		if !isError {
			t.Fatalf("got %v, want an error", payload)
		}
		want(t, payload, `0`, "success_count")
		s.holds(t, "select stars from review where id = 1", "1")
		s.ok(t, "root", "bulk_review", `{"operation":"update","atomic":true,"items":[{"id":1,"data":{"stars":5}},{"id":2,"data":{"stars":3}}]}`)
		s.holds(t, "select stars from review where id in (1,2) order by id", "5 3")
	})
	s.check(t, "nothing succeeded is an error", func(t *testing.T) {
		payload, isError := s.call(t, "root", "bulk_review", `{"operation":"delete","items":[97,98]}`)
		if !isError {
			t.Fatalf("got %v, want an error", payload)
		}
		want(t, payload, `2`, "error_count")
	})
	for name, arguments := range map[string]string{
		"unknown operation": `{"operation":"merge","items":[1]}`, "no operation": `{"items":[1]}`, "no items": `{"operation":"delete"}`,
		"empty items": `{"operation":"delete","items":[]}`, "items no list": `{"operation":"delete","items":{}}`,
		"too many": `{"operation":"delete","items":[` + strings.TrimSuffix(strings.Repeat("1,", 1001), ",") + `]}`,
	} {
		s.check(t, name+" is refused", func(t *testing.T) { s.fails(t, "root", "bulk_review", arguments, "invalid_argument") })
	}
	s.check(t, "needs the verb of its operation", func(t *testing.T) {
		s.fails(t, "deleter", "bulk_review", `{"operation":"update","items":[{"id":1,"data":{"stars":1}}]}`, "permission_denied")
		s.fails(t, "adder", "bulk_review", `{"operation":"delete","items":[1]}`, "permission_denied")
	})
	s.check(t, "a thousand", func(t *testing.T) {
		items := make([]string, 1000)
		for i := range items {
			items[i] = fmt.Sprintf(`{"name":"c%d"}`, i)
		}
		want(t, s.ok(t, "root", "bulk_category", `{"operation":"create","items":[`+strings.Join(items, ",")+`]}`), `1000`, "success_count")
		s.holds(t, "select count(*) from category where name like 'c%'", "1000")
	})
}
