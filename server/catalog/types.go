package catalog

import (
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// overrideKinds are the types that an exposure may give a column.
var overrideKinds = map[string]database.Kind{contract.TypeInteger: database.Integer, contract.TypeBoolean: database.Boolean}

// overrideTypes returns the schema in which columns that can be numbers or booleans have the types of the exposures. If
// an override names no such column, overrideFields reports it.
func overrideTypes(config *contract.Config, schema *database.Schema) *database.Schema {
	if schema == nil {
		return nil
	}
	kinds := map[*database.Column]database.Kind{}
	for _, m := range config.Models {
		table := findTable(schema, m.Schema, m.Table)
		if table == nil {
			continue
		}
		for _, o := range m.Overrides {
			c, kind := table.Column(o.Name), overrideKinds[o.Type]
			if c != nil && o.Type != "" && c.Kind != kind && canBeEither(c) {
				kinds[c] = kind
			}
		}
	}
	return schema.WithKinds(kinds)
}

// canBeEither reports whether a column can be shown as a number and as a boolean: it is an integer of eight bits.
func canBeEither(c *database.Column) bool {
	return c.Bits == 8 && (c.Kind == database.Integer || c.Kind == database.Boolean)
}
