package access

import (
	"encoding/binary"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// policies are the row policies of the model that match the token, and whether they limit what it sees. They limit
// nothing if the model has no policies, or if one that matches gives all rows. If several match, a row must meet only
// one (docs/design/rights.md, "Row policies").
func (s Scope) policies() (matching []*catalog.Policy, limited bool) {
	if h := s.token.holder; h != nil && h.seesAll {
		return nil, false
	}
	for _, p := range s.model.Policies {
		switch {
		case !s.token.holder.matches(p):
		case p.Declared.AllRows:
			return nil, false
		default:
			matching = append(matching, p)
		}
	}
	return matching, len(s.model.Policies) > 0
}

// Allows is the condition of the rows for which an action may run; nil is every row. Like a policy, it looks at whole
// tables.
func (s Scope) Allows(a *catalog.Action) database.Condition {
	if len(a.Where) == 0 {
		return nil
	}
	return s.token.all(a.Where)
}

// all is the condition that a row meets every filter.
func (t Token) all(filters []catalog.RowFilter) database.And {
	all := make(database.And, 0, len(filters))
	for i := range filters {
		all = append(all, t.filter(&filters[i]))
	}
	return all
}

// filter is the condition of one filter for the token. It is never met if the token lacks the attribute, or if the
// attribute is not a value of the column. An empty attribute never meets a lookup of pieces (contains, startswith),
// because an empty piece is in every text.
func (t Token) filter(f *catalog.RowFilter) database.Condition {
	if len(f.AnyOf) > 0 {
		any := make(database.Or, 0, len(f.AnyOf))
		for i := range f.AnyOf {
			any = append(any, t.filter(&f.AnyOf[i]))
		}
		return any
	}
	condition := f.Condition
	if f.TokenAttribute != "" {
		attribute, ok := t.holder.attribute(f.TokenAttribute)
		if !ok || attribute == "" && lookup.ComparesPiece(f.Column, f.Lookup) {
			return database.Never
		}
		var err error
		if condition, err = lookup.FromText(f.Column, f.Lookup, attribute, nil); err != nil {
			return database.Never
		}
	}
	for _, step := range slices.Backward(f.Steps) {
		condition = database.Exists{From: database.NewSource(step.Table, nil), Ours: step.Ours, Theirs: step.Theirs, Where: condition}
	}
	return condition
}

// PolicyNames are the names of the row policies that show the token rows of the model, if Limited: a row is seen if it
// meets one of them, and none is seen if there is no policy.
func (s Scope) PolicyNames() []string {
	var names []string
	matching, _ := s.policies()
	for _, p := range matching {
		names = append(names, p.Declared.Name)
	}
	return names
}

// fingerprint returns the Fingerprint of a token that these policies match.
func (t Token) fingerprint(matching []*catalog.Policy) string {
	text := binary.AppendUvarint(make([]byte, 0, 256), uint64(len(matching)))
	for _, p := range matching {
		text = appendText(text, p.Text)
		for i := range p.Filters {
			text = t.appendAttributes(text, &p.Filters[i])
		}
	}
	return string(text)
}

// appendAttributes appends the attributes that a filter compares with, each with what tells it from one that the token does
// not have.
func (t Token) appendAttributes(text []byte, f *catalog.RowFilter) []byte {
	for i := range f.AnyOf {
		text = t.appendAttributes(text, &f.AnyOf[i])
	}
	if value, ok := t.holder.attribute(f.TokenAttribute); ok {
		return appendText(append(text, 1), value)
	}
	return append(text, 0)
}

// Fixed are the values that the row policy demands of a new row. They come from the fields that the policy compares for
// equality, outside of any. There are none unless exactly one policy matches the token.
func (s Scope) Fixed() []database.Assignment {
	matching, _ := s.policies()
	if len(matching) != 1 {
		return nil
	}
	var fixed []database.Assignment
	for i := range matching[0].Filters {
		f := &matching[0].Filters[i]
		if len(f.AnyOf)+len(f.Steps) > 0 || lookup.Named(f.Lookup) != lookup.Exact || f.Column.Generated || isFixed(fixed, f.Column) {
			continue
		}
		text := f.Value
		if f.TokenAttribute != "" {
			text, _ = s.token.holder.attribute(f.TokenAttribute)
		}
		if _, never := s.token.filter(f).(database.Or); never { // database.Never
			continue
		}
		if value, err := lookup.ParseStoredText(f.Column, text); err == nil {
			fixed = append(fixed, database.Assignment{Column: f.Column, Value: value})
		}
	}
	return fixed
}

func isFixed(fixed []database.Assignment, c *database.Column) bool {
	return slices.ContainsFunc(fixed, func(a database.Assignment) bool { return a.Column == c })
}

// matches reports whether a policy is about the token.
func (h *holder) matches(p *catalog.Policy) bool {
	return p.Declared.Everyone || slices.ContainsFunc(p.Declared.Groups, h.in)
}
