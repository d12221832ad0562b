package catalogue

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const rootText = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"

func serve(t *testing.T, script string, models []contract.Model) *harness.Endpoint {
	database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "data.sqlite"), script)
	root := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(rootText)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	return harness.Serve(t, database, models, []contract.Token{root}, func(c *contract.Config) {
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
	})
}

func TestNow(t *testing.T) {
	e := serve(t, ordinary, []contract.Model{{Name: "author", Table: "author"}, {Name: "book", Table: "book", Expose: true, Description: "What the shop sells."}})
	_, body := e.Post(rootText, `{"method":"tools/list"}`)
	fmt.Println(len(body))
	os.WriteFile("/tmp/cat10.json", []byte(body), 0o600)
}
