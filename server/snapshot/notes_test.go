package snapshot

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// shop is a schema of tables that have fewer tools than others, each for a reason of its own.
func shop() *database.Schema {
	s := &database.Schema{Engine: "PostgreSQL", HasSchemas: true, SearchPath: []string{"public"}}
	for name, change := range map[string]func(*database.Table){
		"book":    func(t *database.Table) { t.PrimaryKey = t.Columns[:1] },
		"price":   func(*database.Table) {},
		"visit":   func(*database.Table) {},
		"shelves": func(t *database.Table) { t.Kind = database.View },
		"relic":   func(t *database.Table) { t.PrimaryKey, t.Writable = t.Columns[:1], false },
		"log":     func(t *database.Table) { t.PrimaryKey = t.Columns[:1] },
		"used":    func(t *database.Table) { t.PrimaryKey = t.Columns[:1] },
	} {
		t := &database.Table{Schema: "public", Name: name, Kind: database.BaseTable, Writable: true}
		t.Columns = []*database.Column{{Name: "id", Kind: database.Integer}, {Name: "name", Kind: database.Text}}
		change(t)
		s.Tables = append(s.Tables, t)
		switch name {
		case "log":
			s.Audit = t
		case "used":
			s.Idempotency = t
		}
	}
	return s.GrantAll()
}

func config() *contract.Config {
	c := &contract.Config{}
	c.Endpoint.Limits.MaxResultBytes = 1 << 20
	for _, name := range []string{"book", "log", "price", "relic", "shelves", "used", "visit"} {
		c.Models = append(c.Models, contract.Model{
			Name: name, Exposure: name, Table: name, DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000,
		})
	}
	c.Models[2].Key = []string{"id"}
	return c
}

func TestTheStatusSaysWhyAModelHasFewerTools(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*contract.Config, *database.Schema)
		want   map[string]string
	}{
		"for its table": {func(*contract.Config, *database.Schema) {}, map[string]string{
			"book": "", "price": "Give the table a primary key", "visit": "List the columns that identify a row in spec.key",
			"shelves": "Read-only: public.shelves is a view", "relic": "cannot undo a change of public.relic", "log": "this is the audit table",
			"used": "this is the table of idempotency keys",
		}},
		"for the endpoint's access": {func(c *contract.Config, _ *database.Schema) { c.Endpoint.Database.ReadOnly = true },
			map[string]string{"book": "database.access is ReadOnly"}},
		"for the audit table": {func(_ *contract.Config, s *database.Schema) { s.Audit, s.AuditProblem = nil, "it is not there" },
			map[string]string{"book": "audit table cannot be used"}},
		"for an action that it cannot have": {func(c *contract.Config, _ *database.Schema) {
			for i := range c.Models {
				c.Models[i].Actions = []contract.Action{{Name: "mark", Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "name", Source: "Value", Value: "x"}}}}}
			}
			c.Models[1].Actions, c.Models[5].Actions = nil, nil // the server's own tables
		}, map[string]string{"book": "", "relic": "spec.actions lists mark, which this model cannot offer.", "price": "spec.actions lists mark"}},
		"for an operation that it cannot have": {func(c *contract.Config, _ *database.Schema) { c.Models[4].Operations = []string{"list", "create"} },
			map[string]string{"shelves": "spec.operations lists create"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := config(), shop()
			tc.change(c, s)
			for _, m := range Build(c, access.DirectoryOf(c), s, nil, nil, nil, nil, nil, nil).Models() {
				want, asked := tc.want[m.Name]
				if notes := strings.Join(m.Notes, "; "); asked && (!m.Served() || !strings.Contains(notes, want) || (want == "") != (notes == "")) {
					t.Errorf("%s: %s %q with %q, want %q", m.Name, m.Reason, m.Message, notes, want)
				}
			}
		})
	}
}
