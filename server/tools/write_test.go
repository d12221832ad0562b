package tools

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// fieldsAtFault are the fields of a validation error, in order.
func fieldsAtFault(t *testing.T, r call.Result) []string {
	t.Helper()
	var told struct {
		Code       call.Code `json:"code"`
		Validation struct {
			Errors []struct {
				Field    string   `json:"field"`
				Messages []string `json:"messages"`
			} `json:"errors"`
			ErrorCount       int      `json:"error_count"`
			FieldsWithErrors []string `json:"fields_with_errors"`
		} `json:"validation_errors"`
	}
	if err := json.Unmarshal(r.Text, &told); err != nil || told.Code != call.CodeValidation {
		t.Fatalf("not a validation error: %s (%v)", r.Text, r.Cause)
	}
	messages := 0
	var fields []string
	for _, e := range told.Validation.Errors {
		fields = append(fields, e.Field)
		messages += len(e.Messages)
	}
	if messages != told.Validation.ErrorCount || !reflect.DeepEqual(fields, told.Validation.FieldsWithErrors) {
		t.Fatalf("the counts do not fit the errors: %s", r.Text)
	}
	return fields
}

func TestCreateAnswersTheRowAsGetShowsIt(t *testing.T) {
	l := newLibrary(t)
	answer := l.must(ownerText, "create_book", `{"data":{"title":"Solaris","author_id":2,"price":"12.50","sold":true,"printed":"1961-06-01","state":"out"}}`)
	if answer["success"] != true || answer["id"] != 3.0 {
		t.Errorf("got %v", answer)
	}
	if row := l.must(ownerText, "get_book", `{"id":3}`); !reflect.DeepEqual(answer["object"], row) {
		t.Errorf("create shows %v, get %v", answer["object"], row)
	}
	if version := l.one("SELECT version FROM book WHERE id = 3"); version != "1" {
		t.Errorf("the first version is %s", version)
	}
	row := l.decode(l.call(ownerText, "get_book", `{"id":3}`))
	if row["upper_title"] != "SOLARIS" || row["price"] != "12.50" {
		t.Errorf("the row is %v", row)
	}
}

func TestWithoutTheRightToViewNoRowIsShown(t *testing.T) {
	l := newLibrary(t)
	if answer := l.mustWithoutCall(adderText, "create_author", `{"data":{"name":"Lem"}}`); !reflect.DeepEqual(answer, map[string]any{"success": true, "id": 3.0}) {
		t.Errorf("create answers %v", answer)
	}
	if answer := l.mustWithoutCall(deleterText, "delete_shelf", `{"id":3}`); !reflect.DeepEqual(answer, map[string]any{"success": true, "message": "Deleted shelf 3", "undo": "not possible: you may not create all of these rows again"}) {
		t.Errorf("delete answers %v", answer)
	}
	if r := l.call(deleterText, "delete_book", `{"id":1,"expected_version":3}`); r.Code != call.CodeConflict || strings.Contains(string(r.Text), "Dune") {
		t.Errorf("a conflict answers %s", r.Text)
	}
}

func TestDataIsCheckedAllAtOnceBeforeTheDatabaseIsAsked(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct {
		name, tool, arguments string
		fields                []string
		says                  string
	}{
		{"what is required", "create_book", `{"data":{}}`, []string{"title", "author_id"}, "is required"},
		{"unknown, hidden and secret fields look the same", "create_book", `{"data":{"title":"a","author_id":1,"colour":1,"internal":"x","api_key":"x"}}`,
			[]string{"api_key", "colour", "internal"}, "there is no such field"},
		{"types", "create_book", `{"data":{"title":1,"author_id":"one","sold":"yes","printed":"tomorrow","price":"cheap"}}`,
			[]string{"author_id", "price", "printed", "sold", "title"}, "must be"},
		{"read-only, computed and version fields", "update_book", `{"id":1,"data":{"notes":"x","upper_title":"X","version":3}}`,
			[]string{"notes", "upper_title", "version"}, "leave it out"},
		{"the key on update", "update_book", `{"id":1,"data":{"id":9}}`, []string{"id"}, "cannot be changed"},
		{"choices", "update_book", `{"id":1,"data":{"state":"lost"}}`, []string{"state"}, "must be one of draft, out"},
		{"null", "update_book", `{"id":1,"data":{"title":null}}`, []string{"title"}, "must not be null"},
		{"a length", "create_author", `{"data":{"name":"a name of more than twenty"}}`, []string{"name"}, "20"},
		{"a field under two names", "create_chapter", `{"data":{"book_id":1,"number":9,"title":"x","colour":2}}`, []string{"colour"}, "book_id, number, title"},
		{"a row that does not exist", "update_book", `{"id":1,"data":{"author_id":99}}`, []string{"author_id"}, "no such author"},
		{"inlines with the row's own", "create_book", `{"data":{},"inlines":{"chapter":[{"data":{"book_id":1,"number":"x"}}]}}`,
			[]string{"title", "author_id", "chapter[0].book_id", "chapter[0].number", "chapter[0].title"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := l.one("SELECT count(*) FROM book")
			r := l.call(ownerText, c.tool, c.arguments)
			if fields := fieldsAtFault(t, r); !reflect.DeepEqual(fields, c.fields) {
				t.Errorf("the fields at fault are %v, want %v: %s", fields, c.fields, r.Text)
			}
			if !strings.Contains(string(r.Text), c.says) {
				t.Errorf("%q is not in %s", c.says, r.Text)
			}
			if after := l.one("SELECT count(*) FROM book"); after != before {
				t.Errorf("there are %s books, were %s", after, before)
			}
		})
	}
}

func TestWhatTheDatabaseRefusesIsToldByField(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct {
		name, tool, arguments, field, says string
	}{
		{"a unique field", "update_book", `{"id":1,"data":{"isbn":"222"}}`, "isbn", "must be unique"},
		{"two fields that are unique together", "update_chapter", `{"id":1,"data":{"number":2}}`, "book_id", "these values of book_id, number"},
		{"a check", "update_book", `{"id":1,"data":{"price":"-1.00"}}`, "price", "must be at least 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(ownerText, c.tool, c.arguments)
			if fields := fieldsAtFault(t, r); c.field != "" && fields[0] != c.field || !strings.Contains(string(r.Text), c.says) {
				t.Errorf("got %s", r.Text)
			}
			for _, secret := range []string{"shelf_mark", "222", "hidden words"} {
				if strings.Contains(string(r.Text), secret) {
					t.Errorf("%s tells of %s", r.Text, secret)
				}
			}
		})
	}
	if _, err := l.plain.Exec(`CREATE UNIQUE INDEX internal_once ON book (internal); CREATE TRIGGER hide AFTER UPDATE OF title ON book BEGIN UPDATE book SET internal = 'hidden words' WHERE id = new.id; END`); err != nil {
		t.Fatal(err)
	}
	r := l.call(ownerText, "update_book", `{"id":2,"data":{"title":"x"}}`)
	if fields := fieldsAtFault(t, r); fields[0] != call.AllFields || strings.Contains(string(r.Text), "internal") {
		t.Errorf("a violation of a hidden field: %s", r.Text)
	}
}

func TestUpdate(t *testing.T) {
	l := newLibrary(t)
	answer := l.must(ownerText, "update_book", `{"id":1,"data":{"title":"Dune Messiah"},"expected_version":1}`)
	if answer["inlines"] != nil || !reflect.DeepEqual(answer["object"], l.decode(l.call(ownerText, "get_book", `{"id":1}`))) {
		t.Errorf("got %v", answer)
	}
	if got := l.one("SELECT title || version || internal FROM book WHERE id = 1"); got != "Dune Messiah2hidden words" {
		t.Errorf("the row is %s", got)
	}
	r := l.call(ownerText, "update_book", `{"id":1,"data":{"title":"late"},"expected_version":1}`)
	if r.Code != call.CodeConflict || !reflect.DeepEqual(l.decode(r)["current"], answer["object"]) {
		t.Errorf("an update of an earlier version: %s", r.Text)
	}
	for arguments, code := range map[string]call.Code{
		`{"id":9,"data":{"title":"x"}}`:                            call.CodeNotFound,
		`{"id":1,"data":{}}`:                                       call.CodeInvalidArgument,
		`{"id":1}`:                                                 call.CodeInvalidArgument,
		`{"data":{"title":"x"}}`:                                   call.CodeInvalidArgument,
		`{"id":1,"data":["title"]}`:                                call.CodeInvalidArgument,
		`{"id":1,"data":{"title":"x"},"dry_run":"yes"}`:            call.CodeInvalidArgument,
		`{"id":1,"data":{"title":"x"},"expected_version":"three"}`: call.CodeInvalidArgument,
	} {
		if r := l.call(ownerText, "update_book", arguments); r.Code != code {
			t.Errorf("%s: got %s, want %s", arguments, r.Text, code)
		}
	}
	if r := l.call(ownerText, "update_chapter", `{"id":1,"data":{"title":"x"},"expected_version":1}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("a version of a model that has none: %s", r.Text)
	}
	if r := l.call(ownerText, "create_author", `{"data":{"name":"x"},"idempotency_key":"k"}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("an idempotency key: %s", r.Text)
	}
	if answer := l.must(ownerText, "update_tag", `{"id":"1,sand","data":{"weight":5}}`); answer["object"].(map[string]any)["weight"] != 5.0 {
		t.Errorf("a row with a key of two columns: %v", answer)
	}
}

func TestDryRunDoesTheSameAndKeepsNothing(t *testing.T) {
	l := newLibrary(t)
	dump := `SELECT group_concat(title || version) || (SELECT count(*) FROM chapter) || (SELECT count(*) FROM mcp_audit) FROM book`
	before := l.one(dump)
	for _, c := range []struct{ tool, arguments string }{
		{"create_book", `{"data":{"title":"Solaris","author_id":2},"inlines":{"chapter":[{"data":{"number":1,"title":"One"}}]},"dry_run":true}`},
		{"update_book", `{"id":1,"data":{"title":"x"},"dry_run":true}`},
		{"delete_book", `{"id":2,"dry_run":true}`},
	} {
		answer := l.must(ownerText, c.tool, c.arguments)
		if answer["success"] != true || answer["dry_run"] != true {
			t.Errorf("%s answers %v", c.tool, answer)
		}
		if after := l.one(dump); after != before {
			t.Errorf("%s changed %s to %s", c.tool, before, after)
		}
	}
	if r := l.call(ownerText, "update_book", `{"id":1,"data":{"isbn":"222"},"dry_run":true}`); r.Code != call.CodeValidation {
		t.Errorf("a dry run of what is refused: %s", r.Text)
	}
	if log := l.log.String(); strings.Count(log, `"dry_run":true`) != 4 || strings.Contains(log, `"changed":1`) {
		t.Errorf("the audit tells:\n%s", log)
	}
}

func TestOperationsThatAreNotOfferedCannotBeReachedThroughOthers(t *testing.T) {
	l := newLibrary(t, func(c *contract.Config) {
		for i := range c.Models {
			switch c.Models[i].Name {
			case "chapter":
				c.Models[i].Operations = []string{"list", "get"}
			case "shelf":
				c.Models[i].Operations = []string{"update", "bulk"}
			}
		}
	})
	if r := l.call(ownerText, "update_book", `{"id":1,"data":{"title":"x"},"inlines":{"chapter":[{"id":1,"_delete":true}]}}`); r.Code != call.CodePermissionDenied {
		t.Errorf("an inline: %s", r.Text)
	}
	if r := l.call(ownerText, "bulk_shelf", `{"operation":"delete","items":[1]}`); !r.IsError || l.one("SELECT count(*) FROM shelf") != "3" {
		t.Errorf("bulk: %s", r.Text)
	}
}

func TestTheAuditTableIsOnlyViewed(t *testing.T) {
	l := newLibrary(t, func(c *contract.Config) {
		c.Models = append(c.Models, contract.Model{Exposure: "trail", Name: "trail", Table: "mcp_audit", DefaultPageSize: 10, MaxPageSize: 10, MaxBulkItems: 5})
	})
	l.must(ownerText, "create_note", `{"data":{"body":"hello"}}`)
	for tool, arguments := range map[string]string{"create_trail": `{"data":{}}`, "update_trail": `{"id":1,"data":{"message":"x"}}`,
		"delete_trail": `{"id":1}`, "bulk_trail": `{"operation":"delete","items":[1]}`} {
		if r := l.call(ownerText, tool, arguments); r.Code != call.CodePermissionDenied {
			t.Errorf("%s: %s", tool, r.Text)
		}
	}
}

func TestRowsWithoutAKeyCanBeAddedOnly(t *testing.T) {
	l := newLibrary(t)
	answer := l.mustWithoutCall(ownerText, "create_note", `{"data":{"body":"hello"}}`)
	if want := map[string]any{"success": true, "id": nil, "object": map[string]any{"body": "hello"}}; !reflect.DeepEqual(answer, want) {
		t.Errorf("got %v", answer)
	}
	if r := l.call(ownerText, "bulk_note", `{"operation":"delete","items":[1]}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("a bulk delete without a key: %s", r.Text)
	}
	if got := l.one(`SELECT changes FROM mcp_audit`); got != `{"body":{"after":"hello"}}` {
		t.Errorf("the changes are %s", got)
	}
}

func TestOneOfManyUpdatesOfTheSameVersionWins(t *testing.T) {
	l := newLibrary(t)
	codes := make(chan call.Code)
	const callers = 6
	for range callers {
		go func() {
			codes <- l.call(ownerText, "update_book", `{"id":1,"data":{"title":"x"},"expected_version":1}`).Code
		}()
	}
	seen := map[call.Code]int{}
	for range callers {
		seen[<-codes]++
	}
	if seen[""] != 1 || seen[call.CodeConflict] != callers-1 {
		t.Errorf("the outcomes are %v", seen)
	}
	if version := l.one("SELECT version FROM book WHERE id = 1"); version != "2" {
		t.Errorf("the version is %s", version)
	}
}

func TestARowMayReferToItself(t *testing.T) {
	l := newLibrary(t)
	l.must(ownerText, "create_shelf", `{"data":{"id":9,"parent_id":9,"name":"own"}}`)
	if parent := l.one("SELECT parent_id FROM shelf WHERE id = 9"); parent != "9" {
		t.Errorf("parent_id is %s", parent)
	}
	if r := l.call(ownerText, "create_shelf", `{"data":{"id":10,"parent_id":11,"name":"other"}}`); r.Code != call.CodeValidation {
		t.Errorf("one that is not there: %s", r.Text)
	}
}

// A choice is a value, however it is written.
func TestChoicesAreComparedAsValues(t *testing.T) {
	l := newLibrary(t, func(c *contract.Config) {
		c.Models[1].Overrides = append(c.Models[1].Overrides, contract.FieldOverride{Name: "price", Choices: []contract.Choice{{Value: "1.50"}, {Value: "2"}}})
	})
	for value, want := range map[string]call.Code{`"1.5"`: "", `1.50`: "", `"2.00"`: "", `"1.51"`: call.CodeValidation} {
		if r := l.call(ownerText, "update_book", `{"id":1,"data":{"price":`+value+`}}`); r.Code != want {
			t.Errorf("%s: %s", value, r.Text)
		}
	}
}
