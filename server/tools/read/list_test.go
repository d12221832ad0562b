package read

import (
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Rows without a unique key are put in an order by all that the token may compare, and by the engine's own name of a row; by
// nothing that is hidden or masked.
func TestOrderOfRowsWithoutAKey(t *testing.T) {
	column := func(name string, kind database.Kind) *database.Column {
		return &database.Column{Name: name, Kind: kind, Scale: -1}
	}
	rowID := column("rowid", database.Integer)
	for _, tc := range []struct {
		name     string
		columns  []*database.Column
		rowID    *database.Column
		orderBy  []string
		want     []string
		distinct bool
	}{
		{"a table with row ids", []*database.Column{column("page", database.Text), column("tags", database.JSON)}, rowID, nil, []string{"page", "rowid"}, true},
		{"an order of the call", []*database.Column{column("page", database.Text), column("day", database.Date)}, rowID, []string{"-day"}, []string{"day", "page", "rowid"}, true},
		{"a view", []*database.Column{column("page", database.Text), column("day", database.Date)}, nil, nil, []string{"page", "day"}, true},
		{"a view with what has no order", []*database.Column{column("page", database.Text), column("tags", database.JSON)}, nil, nil, []string{"page"}, false},
		{"a view with texts that are equal and differ", []*database.Column{{Name: "page", Kind: database.Text, LooseCollation: true}}, nil, nil, []string{"page"}, false},
		{"what is hidden or masked", []*database.Column{column("page", database.Text), column("hidden", database.Integer), column("masked", database.Integer)}, nil, nil, []string{"page"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table := &database.Table{Name: "visit", Kind: database.View, Columns: tc.columns, RowID: tc.rowID}
			model := contract.Model{Exposure: "visit", Name: "visit", Table: "visit", Expose: true, DefaultPageSize: 5, MaxPageSize: 5}
			if len(tc.columns) == 3 {
				model.Exclude, model.Masked = []string{"hidden"}, []contract.MaskedField{{Name: "masked"}}
			}
			config := &contract.Config{Models: []contract.Model{model}, Tokens: []contract.Token{{Name: "viewer", Hashes: []string{contract.HashToken(readerOfAll)},
				Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{contract.VerbView}}}}}}
			models := catalog.Build(config, (&database.Schema{Tables: []*database.Table{table}}).GrantAll())
			scope, ok := access.TokensOf(config, models).Authenticate("Bearer "+readerOfAll, time.Now()).Scope(models.Model("visit"))
			if !ok {
				t.Fatal("the model is not served")
			}
			order, err := (&RowSet{Scope: scope}).order(tc.orderBy)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, step := range order {
				names = append(names, step.Column.Name)
			}
			if !slices.Equal(names, tc.want) || isDistinct(scope, order) != tc.distinct {
				t.Errorf("the order is %v (distinct: %v), want %v (%v)", names, isDistinct(scope, order), tc.want, tc.distinct)
			}
		})
	}
}
