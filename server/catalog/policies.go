package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// resolvePolicies finds the columns that row policies compare. If a policy cannot be understood, the model is withheld:
// without the policy callers would see rows that they must not see.
func (c *Catalog) resolvePolicies(m *Model) *problem {
	for _, declared := range m.Declared.RowPolicies {
		policy := &Policy{Declared: declared}
		for _, filter := range declared.Filters {
			f, p := c.policyFilter(m, fmt.Sprintf("rowPolicies %s", declared.Name), filter)
			if p != nil {
				return p
			}
			policy.Filters = append(policy.Filters, f)
		}
		m.Policies = append(m.Policies, policy)
	}
	return nil
}

// policyFilter finds a filter's column: one of the model's own, hidden or not, or relation__column of the row that a
// foreign key names. That row's table need not be registered.
func (c *Catalog) policyFilter(m *Model, list string, filter contract.Filter) (PolicyFilter, *problem) {
	found := PolicyFilter{Filter: filter}
	if f := m.columns[filter.Field]; f != nil {
		found.Column = f.Column
	} else {
		relation, column, through := strings.Cut(filter.Field, "__")
		if through {
			found.Related = c.foreignKey(m, relation)
		}
		if found.Related == nil {
			return found, fieldNotFound(list, filter.Field, m.Table, m.all)
		}
		target := c.columnsOf(found.Related.References)
		if found.Column = target[column]; found.Column == nil {
			return found, &problem{contract.ReasonFieldNotFound, fmt.Sprintf("%s: %s, to which %s leads, has no column %s", list, found.Related.References, relation, column)}
		}
	}
	if filter.TokenAttribute != "" {
		return found, attributeProblem(list, &found)
	}
	condition, p := constantCondition(list, found.Column, filter)
	found.Condition = condition
	return found, p
}

// constantCondition compiles a filter that is the same for all tokens.
func constantCondition(list string, column *database.Column, filter contract.Filter) (database.Condition, *problem) {
	condition, err := lookup.FromText(column, filter.Lookup, filter.Value, filter.Values)
	if err != nil {
		return nil, notAllowed("%s: the filter of %s: %s", list, filter.Field, err)
	}
	return condition, nil
}

// attributeProblem says why a filter cannot take a token's attribute, which is a single text.
func attributeProblem(list string, f *PolicyFilter) *problem {
	name := lookup.Named(f.Lookup)
	offered := lookup.WithAttribute(f.Column)
	if !slices.Contains(offered, name) {
		return notAllowed("%s: the filter of %s: lookup %s takes no tokenAttribute for a field of type %s; those that do are %s", list, f.Field, name, f.Column.Kind, strings.Join(offered, ", "))
	}
	return nil
}

// foreignKey returns the foreign key that a relation stands for, by the relation's name or the column's; nil if there
// is none. It finds hidden ones too.
func (c *Catalog) foreignKey(m *Model, relation string) *database.ForeignKey {
	i := slices.IndexFunc(m.Table.ForeignKeys, func(fk *database.ForeignKey) bool {
		if len(fk.Columns) == 1 {
			return fk.Columns[0].Name == relation || m.columns[fk.Columns[0].Name].relation == relation
		}
		target := c.registered[fk.References]
		return target != nil && target.Name == relation
	})
	if i < 0 {
		return nil
	}
	return m.Table.ForeignKeys[i]
}

// columnsOf returns a table's columns by their names, and, if it is registered, also by the names of its fields.
func (c *Catalog) columnsOf(t *database.Table) map[string]*database.Column {
	all := map[string]*database.Column{}
	for _, column := range t.Columns {
		all[column.Name] = column
	}
	if m := c.registered[t]; m != nil {
		for _, f := range m.all {
			all[f.Name] = f.Column
		}
	}
	return all
}
