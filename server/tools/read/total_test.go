package read

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// catalogued are books and their authors, as a clerk of a branch sees them: the authors are counted in a way of their own, and
// under a row policy if limited is set.
func catalogued(t *testing.T, totalCount string, limited bool) (authors, books access.Scope) {
	t.Helper()
	column := func(name string, kind database.Kind) *database.Column {
		return &database.Column{Name: name, Kind: kind}
	}
	id, number, writer := column("id", database.Integer), column("id", database.Integer), column("author_id", database.Integer)
	author := &database.Table{Name: "author", Columns: []*database.Column{id, column("name", database.Text), column("branch", database.Text)},
		PrimaryKey: []*database.Column{id}}
	book := &database.Table{Name: "book", Columns: []*database.Column{number, column("title", database.Text), writer}, PrimaryKey: []*database.Column{number},
		ForeignKeys: []*database.ForeignKey{{Columns: []*database.Column{writer}, References: author, ReferencedColumns: author.PrimaryKey}}}
	model := func(name string) contract.Model {
		return contract.Model{Exposure: name, Name: name, Table: name, DefaultPageSize: 5, MaxPageSize: 5}
	}
	config := &contract.Config{Models: []contract.Model{model("author"), model("book")},
		Tokens: []contract.Token{{Hashes: []string{contract.HashToken(readerOfAll)}, Attributes: map[string]string{"branch": "north"},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{contract.VerbView}}}}}}
	config.Models[0].TotalCount = totalCount
	if limited {
		config.Models[0].RowPolicies = []contract.RowPolicy{{Name: "branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}}}
	}
	models := catalog.Build(config, (&database.Schema{Tables: []*database.Table{author, book}}).GrantAll())
	clerk := access.TokensOf(config, models).Authenticate("Bearer "+readerOfAll, time.Now())
	authors, seesAuthors := clerk.Scope(models.Model("author"))
	books, seesBooks := clerk.Scope(models.Model("book"))
	if !seesAuthors || !seesBooks {
		t.Fatal("the clerk does not see the models")
	}
	return authors, books
}

func TestWaysOfCounting(t *testing.T) {
	for _, c := range []struct {
		name, exposure, asked string
		limited               bool
		want                  database.Total
	}{
		{"where nothing is said", "", "", false, database.TotalAuto},
		{"where nothing is said, under a row policy", "", "", true, database.TotalCapped},
		{"Auto", contract.TotalAuto, "", false, database.TotalAuto},
		{"Auto, under a row policy", contract.TotalAuto, "", true, database.TotalCapped},
		{"Capped", contract.TotalCapped, "", false, database.TotalCapped},
		{"Exact", contract.TotalExact, "", false, database.TotalExact},
		{"Exact, under a row policy", contract.TotalExact, "", true, database.TotalExact},
		{"exact, which the caller asks for", contract.TotalCapped, "exact", true, database.TotalExact},
		{"none, which the caller asks for", contract.TotalExact, "none", false, database.TotalNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			authors, _ := catalogued(t, c.exposure, c.limited)
			if got, err := planTotal(authors, c.asked, &database.Select{}); err != nil || got != c.want {
				t.Errorf("got %d (%v), want %d", got, err, c.want)
			}
		})
	}
}

// The planner would estimate how many rows of the other model meet the condition, those that the token may not see too.
func TestNothingIsEstimatedThroughARelationToRowsUnderAPolicy(t *testing.T) {
	_, books := catalogued(t, "", true)
	for filters, want := range map[string]database.Total{
		`{"author__name":"Herbert"}`: database.TotalCapped, `{"author__name__ne":"Herbert"}`: database.TotalCapped, `{"title":"Dune"}`: database.TotalAuto,
	} {
		plan, err := planList(&RowSet{Scope: books}, &listArguments{filters: json.RawMessage(filters)})
		if err != nil || plan.Total != want {
			t.Errorf("%s: got %+v (%v), want %d", filters, plan, err, want)
		}
	}
}
