package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// resolveTables finds each model's table. If two models have the same table, the older model keeps it.
func (c *Catalog) resolveTables(schema *database.Schema) {
	bySeniority := slices.Clone(c.models)
	slices.SortFunc(bySeniority, func(a, b *Model) int { return a.Declared.CompareAge(&b.Declared) })
	c.registered = map[*database.Table]*Model{}
	for _, m := range bySeniority {
		table := findTable(schema, m.Declared.Schema, m.Declared.Table)
		if table == nil {
			m.withhold(problem{contract.ReasonTableNotFound, tableNotFound(schema, m.Declared.Schema, m.Declared.Table)})
			continue
		}
		if older := c.registered[table]; older != nil {
			m.withhold(problem{contract.ReasonTableConflicted, fmt.Sprintf(
				"table %s is model %s of MCPModelExposure %s, which is older; delete one of the two", table, older.Name, older.Declared.Exposure)})
			continue
		}
		c.registered[table] = m
		m.Table = table
		m.Status.Table = table.String()
		if m.Module == "" {
			m.Module = table.Schema
		}
		if !table.Privileges.Has(database.MaySelect) {
			m.withhold(problem{contract.ReasonNotPermitted, fmt.Sprintf("the database user may not read %s; grant it SELECT on the table", table)})
			continue
		}
		if m.Audits = table == schema.Audit || table == schema.Idempotency; m.Audits {
			m.onlyView()
		}
	}
}

// onlyView leaves the model of a table of the server's own only the operations that show rows: nobody may change the records.
func (m *Model) onlyView() {
	viewing := contract.ShowingOperations()
	if len(m.Declared.Actions) > 0 {
		m.withhold(*notAllowed("actions: %s is a table of the server's own, which is read-only; remove them", m.Table))
		return
	}
	if len(m.Operations) == 0 {
		m.Operations = viewing
		return
	}
	for _, operation := range m.Operations {
		if !slices.Contains(viewing, operation) {
			m.withhold(*notAllowed("operations: %s is a table of the server's own, which is read-only; remove %s", m.Table, operation))
			return
		}
	}
}

func findTable(schema *database.Schema, in, name string) *database.Table {
	find := func(in string) *database.Table {
		for _, t := range schema.Tables {
			if t.Schema == in && t.Name == name {
				return t
			}
		}
		return nil
	}
	if in != "" || !schema.HasSchemas {
		return find(in)
	}
	for _, in := range schema.SearchPath {
		if t := find(in); t != nil {
			return t
		}
	}
	return nil
}

func tableNotFound(schema *database.Schema, in, name string) string {
	wanted := (&database.Table{Schema: in, Name: name}).String()
	for _, t := range schema.LeftOut {
		if t.Name == name && (t.Schema == in || in == "" && slices.Contains(schema.SearchPath, t.Schema)) {
			return fmt.Sprintf("table %s %s", (&database.Table{Schema: t.Schema, Name: name}).String(), t.Why)
		}
	}
	message := fmt.Sprintf("table %s does not exist in database %s", wanted, schema.Database)
	if in != "" && schema.HasSchemas && !slices.Contains(schema.SearchPath, in) {
		return fmt.Sprintf("%s, or not in a schema that the endpoint reads (%s); add %s to the MCPEndpoint's spec.database.schemas",
			message, strings.Join(schema.SearchPath, ", "), in)
	}
	if len(schema.Tables) == 0 {
		return message + ", in which the database user can see no tables at all"
	}
	candidates := make([]string, len(schema.Tables))
	for i, t := range schema.Tables {
		candidates[i] = t.String()
		// A table that was named without a schema is compared without one.
		if in == "" {
			candidates[i] = t.Name
		}
	}
	if i := spelling.Nearest(wanted, candidates); i >= 0 {
		return message + "; the nearest is " + schema.Tables[i].String()
	}
	return message
}
