package database_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestWithKinds(t *testing.T) {
	one := "1"
	id := &database.Column{Name: "id", Kind: database.Integer}
	flag := &database.Column{Name: "flag", Kind: database.Integer, Bits: 8, Default: &one}
	item := &database.Table{Name: "item", Columns: []*database.Column{id, flag}, PrimaryKey: []*database.Column{id},
		Checks: []database.Check{{Column: flag, Choices: []string{"0", "1"}, Minimum: "0"}}}
	item.ForeignKeys = []*database.ForeignKey{{Columns: []*database.Column{id}, References: item, ReferencedColumns: []*database.Column{id}}}
	schema := &database.Schema{Tables: []*database.Table{item}}
	if schema.WithKinds(nil) != schema {
		t.Error("without kinds, the schema is copied")
	}
	changed := schema.WithKinds(map[*database.Column]database.Kind{flag: database.Boolean})
	own := changed.Tables[0]
	c := own.Column("flag")
	if c.Kind != database.Boolean || *c.Default != "true" || own.Checks[0].Column != c || own.Checks[0].Choices[1] != "true" || own.Checks[0].Minimum != "" {
		t.Errorf("the column is %+v, its check %+v", c, own.Checks[0])
	}
	if own.ForeignKeys[0].References != own || own.PrimaryKey[0] != own.Columns[0] || own.ForeignKeys[0].Columns[0] != own.Columns[0] {
		t.Error("the copy leads to what it was copied from")
	}
	if flag.Kind != database.Integer || *flag.Default != "1" || item.Checks[0].Choices[0] != "0" || item.ForeignKeys[0].References != item {
		t.Error("the schema itself was changed")
	}
	back := changed.WithKinds(map[*database.Column]database.Kind{c: database.Integer}).Tables[0]
	if got := back.Column("flag"); got.Kind != database.Integer || *got.Default != "1" || back.Checks[0].Choices[0] != "0" {
		t.Errorf("back again it is %+v", got)
	}
}
