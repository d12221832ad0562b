package generate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestAnEndpointOverDuckDBReadsAClaim(t *testing.T) {
	schema := &database.Schema{Engine: contract.EngineDuckDB, Version: "v1", Database: "sales", HasSchemas: true, SearchPath: []string{"main", "old"}}
	for _, write := range []bool{false, true} {
		g := &Guesses{Options: Options{Endpoint: types.NamespacedName{Namespace: "shop", Name: "sales"}, Write: write}, Schema: schema}
		endpoint := g.MCPEndpoint()
		if d := endpoint.Spec.Database.DuckDB; d == nil || d.Claim.Name != "sales-files" {
			t.Fatalf("got the database %+v, want DuckDB over a claim", endpoint.Spec.Database)
		}
		config, verdicts := compile.Compile(compile.Inputs{Endpoint: endpoint, StatusKey: contract.NewToken(), SealKey: contract.NewSealKey()})
		if v := verdicts.Endpoint; !v.Accepted || !config.Endpoint.Database.ReadOnly || len(endpoint.Spec.Database.Schemas) > 0 {
			t.Errorf("to write: %v: got %+v, %s", write, endpoint.Spec.Database, v.Message)
		}
		if said := g.aboutConnection(); !strings.Contains(said, "PersistentVolumeClaim") || strings.Contains(said, "Secret") {
			t.Errorf("it is told that it needs: %s", said)
		}
	}
}
