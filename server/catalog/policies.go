package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Policy is a row policy whose fields are found. A row must meet all of its Filters. AllRows has none.
type Policy struct {
	Declared contract.RowPolicy
	Filters  []RowFilter
	// Text is what is declared, as JSON: it tells policies apart.
	Text string
}

// RowFilter is one filter of a policy or of an action's where: a condition that is the same for all tokens, one that takes a token's attribute,
// or several, and a row must meet at least one.
type RowFilter struct {
	contract.Filter
	// AnyOf are alternative filters: a row must meet at least one. If there are any, the rest is not set.
	AnyOf []RowFilter
	// Column is the column that is compared, hidden or not: this model's own, or a column of the table to which Steps lead.
	Column *database.Column
	// Steps lead to another table. At least one of its rows must meet the condition; empty for the model's own columns.
	Steps []FilterStep
	// Condition is the comparison if it takes no attribute; nil if it does.
	Condition database.Condition
}

// FilterStep leads from one table to rows of another, whose Theirs equal the first one's Ours.
type FilterStep struct {
	Table        *database.Table
	Ours, Theirs []*database.Column
}

// resolvePolicies finds the columns that row policies compare. If a policy cannot be understood, the model is withheld:
// without the policy callers would see rows that they must not see.
func (c *Catalog) resolvePolicies(m *Model) *problem {
	for _, declared := range m.Declared.RowPolicies {
		text, _ := json.Marshal(declared) // it came as JSON: it cannot fail
		policy := &Policy{Declared: declared, Text: string(text)}
		for _, filter := range declared.Filters {
			f, p := c.rowFilter(m, fmt.Sprintf("rowPolicies %s", declared.Name), filter)
			if p != nil {
				return p
			}
			policy.Filters = append(policy.Filters, f)
		}
		m.Policies = append(m.Policies, policy)
	}
	return nil
}

// rowFilter finds what a filter compares, or what its alternative filters compare.
func (c *Catalog) rowFilter(m *Model, list string, filter contract.Filter) (RowFilter, *problem) {
	found := RowFilter{Filter: filter}
	if len(filter.Any) > 0 {
		for _, one := range filter.Any {
			f, p := c.rowFilter(m, list, one)
			if p != nil {
				return found, p
			}
			found.AnyOf = append(found.AnyOf, f)
		}
		return found, nil
	}
	if p := c.findCompared(m, list, &found); p != nil {
		return found, p
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
func attributeProblem(list string, f *RowFilter) *problem {
	name := lookup.Named(f.Lookup)
	offered := lookup.WithAttribute(f.Column)
	if !slices.Contains(offered, name) {
		return notAllowed("%s: the filter of %s: lookup %s takes no tokenAttribute for a field of type %s; those that do are %s", list, f.Field, name, f.Column.Kind, strings.Join(offered, ", "))
	}
	return nil
}
