package dial

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestWithoutACATheSystemsRootsCount(t *testing.T) {
	for _, mode := range []string{"verify-ca", "verify-full"} {
		configs, err := TLS(database.Settings{Database: contract.Database{TLSMode: mode}}, contract.Connection{Host: "db.example"})
		if err != nil || len(configs) != 1 {
			t.Fatalf("%s: %v %v", mode, configs, err)
		}
		c := configs[0]
		if c.RootCAs != nil || c.ServerName != "db.example" || c.InsecureSkipVerify && c.VerifyConnection == nil {
			t.Errorf("%s: %+v", mode, c)
		}
	}
}
