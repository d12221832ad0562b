package tools

import (
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Books 1 and 2 are drafts of authors in the north and in the south; the chapters of 1 are One and Two, the chapter of 2 is
// Other.
func TestAnActionsWhereLooksAtRelatedRows(t *testing.T) {
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL} {
		for name, c := range map[string]struct {
			where []contract.Filter
			want  string
		}{
			"of the row that it leads to": {[]contract.Filter{{Field: "author__branch", Value: "south"}}, "[2]"},
			"of the rows that lead to it": {[]contract.Filter{{Field: "chapter_by_book__title", Value: "Two"}}, "[1]"},
			"of its own table, two away":  {[]contract.Filter{{Field: "author__book_by_author__title", Value: "Emma"}}, "[2]"},
			"one of several":              {[]contract.Filter{{Any: []contract.Filter{{Field: "isbn", Value: "111"}, {Field: "author__name", Value: "Le Guin"}}}}, "[1 2]"},
			"none of several":             {[]contract.Filter{{Any: []contract.Filter{{Field: "isbn", Value: "9"}, {Field: "author__name", Value: "Nobody"}}}}, "[]"},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				l := newLibraryOn(t, engine, on("book", func(m *contract.Model) {
					m.Actions = []contract.Action{{Name: "publish", Requires: []string{contract.VerbChange}, Update: &contract.UpdateAction{
						Where: c.where, Set: []contract.ActionAssignment{{Field: "state", Source: contract.SourceValue, Value: "out"}}}}}
				}))
				r := l.call(ownerText, "action_book", `{"action":"publish","ids":[1,2]}`)
				if r.IsError && r.Code != call.CodeNotFound {
					t.Fatalf("%s (%v)", r.Text, r.Cause)
				}
				if got := fmt.Sprint(ids(l.must(ownerText, "list_book", `{"filters":{"state":"out"}}`))); got != c.want {
					t.Errorf("%s are published, want %s", got, c.want)
				}
			})
		}
	}
}

func TestAnActionsWhereTakesNoAttribute(t *testing.T) {
	config := libraryConfig()
	modelNamed(config, "book").Actions = []contract.Action{{Name: "publish", Update: &contract.UpdateAction{
		Where: []contract.Filter{{Any: []contract.Filter{{Field: "isbn", TokenAttribute: "branch"}}}},
		Set:   []contract.ActionAssignment{{Field: "state", Source: contract.SourceNull}}}}}
	l := newLibraryOf(t, contract.EngineSQLite, libraryDialects[contract.EngineSQLite].Replace(libraryScript), config)
	if m := l.set.catalog.Model("book"); m.Served() {
		t.Error("book is served")
	}
}
