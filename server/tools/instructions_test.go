package tools

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// manyModels are the tools over so many tables of one column, and a token that may view all of them.
func manyModels(t *testing.T, count int) (*Set, access.Token) {
	t.Helper()
	schema := &database.Schema{}
	config := &contract.Config{Tokens: []contract.Token{{Hashes: []string{contract.HashToken(viewerText)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}}}
	for i := range count {
		id := &database.Column{Name: "id", Kind: database.Integer}
		table := &database.Table{Name: fmt.Sprint("t", i), Columns: []*database.Column{id}, PrimaryKey: []*database.Column{id}}
		schema.Tables = append(schema.Tables, table)
		config.Models = append(config.Models, contract.Model{Exposure: table.Name, Name: table.Name, Table: table.Name, Expose: true, DefaultPageSize: 1, MaxPageSize: 1})
	}
	models := catalog.Build(config, schema.GrantAll())
	return New(models, nil, call.Settings{}), access.TokensOf(config, models).Authenticate("Bearer "+viewerText, time.Now())
}

// Every client asks for them when it connects, so 200 models must not cost it 200 encodings of their tools.
func TestInstructionsAreCheap(t *testing.T) {
	a, token := manyModels(t, 200)
	const perModel = 5
	if got := testing.AllocsPerRun(10, func() { a.Instructions("shop", token, View{}) }); got > 200*perModel {
		t.Errorf("%v allocations for 200 models, want at most %d for each", got, perModel)
	}
}
