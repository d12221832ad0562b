package read

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A statement joins no more rows than every engine can plan.
func TestPathsLeadToSoManyRows(t *testing.T) {
	id := &database.Column{Name: "id", Kind: database.Integer}
	table := &database.Table{Name: "node", Kind: database.BaseTable, Columns: []*database.Column{id}, PrimaryKey: []*database.Column{id}}
	for i := range 7 {
		c := &database.Column{Name: fmt.Sprintf("n%d_id", i), Kind: database.Integer, Nullable: true}
		table.Columns = append(table.Columns, c)
		table.ForeignKeys = append(table.ForeignKeys, &database.ForeignKey{Columns: []*database.Column{c}, References: table, ReferencedColumns: table.PrimaryKey})
	}
	config := &contract.Config{
		Models: []contract.Model{{Exposure: "node", Name: "node", Table: "node", DefaultPageSize: 1, MaxPageSize: 1}},
		Tokens: []contract.Token{{Hashes: []string{contract.HashToken(readerOfAll)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
	}
	models := catalog.Build(config, (&database.Schema{Tables: []*database.Table{table}}).GrantAll())
	scope, _ := access.TokensOf(config, models).Authenticate("Bearer "+readerOfAll, time.Now()).Scope(models.Model("node"))
	var paths []string
	for i := range 49 {
		paths = append(paths, fmt.Sprintf("n%d__n%d__id", i/7, i%7))
	}
	rows := &RowSet{Scope: scope}
	if _, err := rows.Output(call.ItemsOf(paths[:35]...)); err != nil || len(rows.joins) != 40 { // 5 of the one row, and 7 behind each
		t.Errorf("35 paths lead to %d rows: %v", len(rows.joins), err)
	}
	_, err := rows.Output(call.ItemsOf(paths...))
	if err == nil || !strings.Contains(err.Error(), "the paths of one call may lead to at most 40 related rows; ask for some of them in another call") {
		t.Errorf("49 paths: %v", err)
	}
}
