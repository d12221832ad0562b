package compile_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func overDuckDB() *v1alpha1.MCPEndpoint {
	e := endpoint()
	e.Spec.Database = v1alpha1.DatabaseSpec{DuckDB: &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: "files"}, Path: "sales.duckdb"}}
	return e
}

func TestDuckDBIsOnlyReadWhateverTheEndpointSays(t *testing.T) {
	for _, access := range []v1alpha1.DatabaseAccess{"", v1alpha1.DatabaseReadOnly, v1alpha1.DatabaseReadWrite} {
		e := overDuckDB()
		e.Spec.Database.Access = access
		config, verdicts := compile.Compile(compile.Inputs{
			Endpoint: e, Exposures: []v1alpha1.MCPModelExposure{exposure("orders", 0)},
			StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: now,
		})
		if !verdicts.Endpoint.Accepted {
			t.Fatal(verdicts.Endpoint.Message)
		}
		if d := config.Endpoint.Database; d.Engine != contract.EngineDuckDB || !d.ReadOnly {
			t.Errorf("with access %q: engine %s, read-only %v; want %s, and true", access, d.Engine, d.ReadOnly, contract.EngineDuckDB)
		}
	}
}

func TestAnEndpointHasOneKindOfDatabase(t *testing.T) {
	e := overDuckDB()
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	_, verdicts := compile.Compile(compile.Inputs{Endpoint: e, StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: now})
	if v := verdicts.Endpoint; v.Accepted {
		t.Error("an endpoint over DuckDB and SQLite at once is accepted")
	}
}
