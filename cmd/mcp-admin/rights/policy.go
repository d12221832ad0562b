package rights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Policy is a row policy of a model, as people read it.
type Policy struct {
	Name string `json:"name"`
	// For says whom it is for: "everyone", or groups.
	For string `json:"for"`
	// Words say which rows it shows; Condition is the same in short.
	Words     string `json:"words"`
	Condition string `json:"condition"`
}

// Declared is a model as its exposure declares it; nil if there is none of that name.
func (m *Matrix) Declared(model string) *contract.Model {
	i := slices.IndexFunc(m.config.Models, func(c contract.Model) bool { return c.Name == model })
	if i < 0 {
		return nil
	}
	return &m.config.Models[i]
}

// Policies are the row policies of a model that have one of the names; of nil names, all.
func (m *Matrix) Policies(model string, names []string) []Policy {
	declared := m.Declared(model)
	if declared == nil {
		return nil
	}
	var told []Policy
	for i := range declared.RowPolicies {
		if p := &declared.RowPolicies[i]; names == nil || slices.Contains(names, p.Name) {
			told = append(told, policyOf(p))
		}
	}
	return told
}

func policyOf(p *contract.RowPolicy) Policy {
	told := Policy{Name: p.Name, For: "everyone", Words: "all rows", Condition: "true"}
	if !p.Everyone {
		told.For = "group " + strings.Join(p.Groups, ", ")
	}
	if p.AllRows {
		return told
	}
	var words, conditions []string
	for i := range p.Filters {
		words = append(words, inWords(&p.Filters[i]))
		conditions = append(conditions, condition(&p.Filters[i], len(p.Filters) > 1))
	}
	told.Words = "rows in which " + strings.Join(words, ", and ")
	told.Condition = strings.Join(conditions, " AND ")
	return told
}

// comparisons are the lookups: in words, and as an operator that stands between the field and the value.
var comparisons = map[string][2]string{
	"exact": {"is", "="}, "iexact": {"is, in upper or lower case,", "= (any case)"}, "ne": {"is not", "<>"},
	"contains": {"contains", "contains"}, "icontains": {"contains, in upper or lower case,", "contains (any case)"},
	"startswith": {"starts with", "starts with"}, "istartswith": {"starts, in upper or lower case, with", "starts with (any case)"},
	"endswith": {"ends with", "ends with"}, "iendswith": {"ends, in upper or lower case, with", "ends with (any case)"},
	"gt": {"is greater than", ">"}, "gte": {"is at least", ">="}, "lt": {"is less than", "<"}, "lte": {"is at most", "<="},
	"in": {"is one of", "IN"}, "range": {"is between", "BETWEEN"}, "isnull": {"is empty:", "IS NULL ="},
	"contained_by": {"has nothing beside", "contained by"}, "overlap": {"has one of", "overlaps"}, "has_key": {"has the key", "has key"},
}

// compared says a lookup in words and as an operator. Parts of dates, such as year, are compared as equal.
func compared(f *contract.Filter) (words, operator string) {
	lookup := cmp.Or(f.Lookup, "exact")
	if c, known := comparisons[lookup]; known {
		return c[0], c[1]
	}
	return "has the " + lookup, lookup + " ="
}

// field says a field's path in words: the last part, and by which relations it is reached.
func field(path string) string {
	parts := strings.Split(path, "__")
	last := len(parts) - 1
	if last == 0 {
		return path
	}
	return parts[last] + " of " + strings.Join(parts[:last], "'s ")
}

func inWords(f *contract.Filter) string {
	if len(f.Any) > 0 {
		words := make([]string, len(f.Any))
		for i := range f.Any {
			words[i] = inWords(&f.Any[i])
		}
		return strings.Join(words, ", or ")
	}
	words, _ := compared(f)
	value := fmt.Sprintf("%q", f.Value)
	switch {
	case f.TokenAttribute != "":
		value = "the token's attribute " + f.TokenAttribute
	case f.Lookup == "range" && len(f.Values) == 2:
		value = fmt.Sprintf("%q and %q", f.Values[0], f.Values[1])
	case len(f.Values) > 0:
		value = listed(f.Values, ", ")
	}
	return field(f.Field) + " " + words + " " + value
}

func condition(f *contract.Filter, among bool) string {
	if len(f.Any) > 0 {
		conditions := make([]string, len(f.Any))
		for i := range f.Any {
			conditions[i] = condition(&f.Any[i], false)
		}
		text := strings.Join(conditions, " OR ")
		if among && len(f.Any) > 1 {
			return "(" + text + ")"
		}
		return text
	}
	_, operator := compared(f)
	value := fmt.Sprintf("%q", f.Value)
	switch {
	case f.TokenAttribute != "":
		value = "token." + f.TokenAttribute
	case f.Lookup == "range" && len(f.Values) == 2:
		value = fmt.Sprintf("%q AND %q", f.Values[0], f.Values[1])
	case len(f.Values) > 0:
		value = "(" + listed(f.Values, ", ") + ")"
	}
	return strings.ReplaceAll(f.Field, "__", ".") + " " + operator + " " + value
}

func listed(values []string, between string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, between)
}
