package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A day's work in the library is the same on each engine, but for the ids that the database gives.
func TestWritesOnEachEngine(t *testing.T) {
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) {
			l := newLibraryOn(t, engine, underPolicies)
			refused := func(token, tool, arguments string, code call.Code, says string) {
				t.Helper()
				if r := l.call(token, tool, arguments); r.Code != code || !strings.Contains(string(r.Text), says) {
					t.Errorf("%s %s: got %s (%v), want %s with %q", tool, arguments, r.Text, r.Cause, code, says)
				}
			}
			count := func(model string) any {
				return l.must(ownerText, "list_"+model, `{"limit":0}`)["total_count"]
			}

			book := l.must(ownerText, "create_book", `{"data":{"title":"Solaris","author_id":2,"price":"12.50","sold":true,"printed":"1961-06-01"},
				"inlines":{"chapter":[{"data":{"number":1,"title":"Newcomer"}},{"data":{"number":2,"title":"Solarists"}}]}}`)
			id := book["id"]
			if row := l.must(ownerText, "get_book", fmt.Sprintf(`{"id":%v}`, id)); !reflect.DeepEqual(row, book["object"]) || row["price"] != "12.50" || row["version"] != 1.0 {
				t.Errorf("create shows %v, get %v", book["object"], row)
			}
			update := func(data string) string { return fmt.Sprintf(`{"id":%v,"data":%s,"expected_version":1}`, id, data) }
			refused(ownerText, "update_book", update(`{"isbn":"111"}`), call.CodeValidation, `"isbn"`)
			refused(ownerText, "update_book", update(`{"price":"-1.00"}`), call.CodeValidation, "must be at least 0")
			refused(ownerText, "update_book", update(`{"author_id":99}`), call.CodeValidation, "no such author")
			refused(clerkText, "update_book", update(`{"author_id":1}`), call.CodeValidation, "no such author")
			refused(clerkText, "update_author", `{"id":2,"data":{"branch":"north"}}`, call.CodeValidation, call.AllFields)
			refused(clerkText, "update_author", `{"id":1,"data":{"branch":"south"}}`, call.CodeNotFound, "author not found")
			l.must(ownerText, "update_book", strings.Replace(update(`{"title":"x"}`), "}", `},"dry_run":true`, 1))
			if row := l.must(clerkText, "update_book", update(`{"title":"Solaris, again"}`))["object"].(map[string]any); row["version"] != 2.0 {
				t.Errorf("the version is %v", row["version"])
			}
			refused(clerkText, "update_book", update(`{"title":"late"}`), call.CodeConflict, "Solaris, again")

			answer := l.must(ownerText, "bulk_chapter", fmt.Sprintf(`{"operation":"create","items":[{"book_id":%[1]v,"number":3,"title":"a"},
				{"book_id":%[1]v,"number":3,"title":"b"},{"book_id":%[1]v,"number":4,"title":"c"}]}`, id))
			if answer["success_count"] != 2.0 || answer["error_count"] != 1.0 || count("chapter") != 7.0 {
				t.Errorf("each for itself: %v", answer)
			}
			refused(ownerText, "bulk_chapter", fmt.Sprintf(`{"operation":"create","atomic":true,"items":[{"book_id":%[1]v,"number":5,"title":"a"},
				{"book_id":%[1]v,"number":3,"title":"b"}]}`, id), call.CodeValidation, "must be unique")
			if count("chapter") != 7.0 {
				t.Error("all or nothing kept something")
			}

			l.must(ownerText, "create_loan", fmt.Sprintf(`{"data":{"book_id":%v,"reader":"x"}}`, id))
			refused(ownerText, "delete_book", fmt.Sprintf(`{"id":%v}`, id), call.CodeProtected, "1 loan")
			answer = l.must(ownerText, "delete_book", `{"id":1,"expected_version":1}`)
			if want := "Deleted book 1, and with it 2 chapters, 1 tag; kept without it: 1 review"; answer["message"] != want {
				t.Errorf("got %s, want %s", answer["message"], want)
			}
			if count("chapter") != 5.0 || count("tag") != 0.0 || count("review") != 1.0 {
				t.Error("the database did not do what was said")
			}
			history := l.must(ownerText, "history_book", fmt.Sprintf(`{"id":%v}`, id))["history"].([]any)
			if len(history) != 2 || history[0].(map[string]any)["action"] != "update" || history[1].(map[string]any)["action"] != "create" {
				t.Errorf("the history is %v", history)
			}
		})
	}
}
