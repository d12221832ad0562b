package access

import (
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Scope is one served model as one token may see it. Every statement about the model's table is made through it: only a
// Scope gives the Source that a plan needs, with the row policy in it, and only a Scope says which fields are visible.
type Scope struct {
	token Token
	model *catalog.Model
}

// Verbs say what the token may do to a model.
func (t Token) Verbs(m *catalog.Model) Verbs { return t.rights.verbs[m.Index] }

// Scope returns the model as the token may see it; false if it may not view it, or if the model is withheld.
func (t Token) Scope(m *catalog.Model) (Scope, bool) {
	return Scope{t, m}, m.Served() && t.Verbs(m).Has(View)
}

// Rows returns the model as the token may see its rows by way of other models; false if it may not view it, or if the
// model's rows are not to be seen. Whatever shows or asks about related rows gets their scope here.
func (t Token) Rows(m *catalog.Model) (Scope, bool) {
	scope, ok := t.Scope(m)
	return scope, ok && m.Declared.ShowsRows()
}

// Reach returns the model whether or not the token may view it, for operations that need another verb. If Has(View) is
// false, no content of a row may be shown.
func (t Token) Reach(m *catalog.Model) Scope { return Scope{t, m} }

// Unscoped is a whole table, without the row policy. It is for the rows that a deletion takes along, the rows that an
// action changed, and the audit table. What is read through it is shown only if today's scope allows it.
func (t Token) Unscoped(table *database.Table) database.Source {
	return database.NewSource(table, nil)
}

// Model is the model that is seen.
func (s Scope) Model() *catalog.Model { return s.model }

// Token is the token that sees the model.
func (s Scope) Token() Token { return s.token }

// Has reports whether the token has all of these verbs on the model.
func (s Scope) Has(verbs Verbs) bool { return s.token.Verbs(s.model).Has(verbs) }

// Of returns another model as the same token reaches it.
func (s Scope) Of(m *catalog.Model) Scope { return Scope{s.token, m} }

// Source is the model's table with the condition that its rows must meet for this token: the row policy.
func (s Scope) Source() database.Source {
	return database.NewSource(s.model.Table, s.limit().condition)
}

// Actions are the declared actions that the token may run on the model: it may view it, and either has all of the verbs
// that the action requires or a rule that names it (docs/design/actions.md, "Rights to actions"). An action that
// requires no verbs needs such a rule. For a withheld model they are the actions it would have.
func (s Scope) Actions() []*catalog.Action {
	if !s.Has(View) {
		return nil
	}
	declared := s.model.Actions
	if !s.model.Served() {
		declared = nil
		for _, a := range s.model.Declared.Actions {
			declared = append(declared, &catalog.Action{Action: a})
		}
	}
	var allowed []*catalog.Action
	for _, a := range declared {
		verbs, known := required(a.Requires)
		if known && verbs != 0 && s.Has(verbs) || s.token.rights.names(s.model, a.Name) {
			allowed = append(allowed, a)
		}
	}
	return allowed
}

// Fields are the visible fields, in the table's order.
func (s Scope) Fields() []*catalog.Field { return s.model.Fields }

// Field returns the visible field of that name, or nil.
func (s Scope) Field(name string) *catalog.Field { return s.model.Field(name) }

// Relations are the relations that lead to rows which the token may see.
func (s Scope) Relations() []*catalog.Relation {
	var visible []*catalog.Relation
	for _, r := range s.model.Relations {
		if _, ok := s.token.Rows(r.Target); ok {
			visible = append(visible, r)
		}
	}
	return visible
}

// Keys are the relations to one row of models that the token may view, whether or not it may see their rows: what foreign
// keys name.
func (s Scope) Keys() []*catalog.Relation {
	var keys []*catalog.Relation
	for _, r := range s.model.Relations {
		if _, ok := s.token.Scope(r.Target); ok && !r.Many {
			keys = append(keys, r)
		}
	}
	return keys
}

// Follow returns the relation of that name and the scope that it leads to; false if there is none, or if the
// token may not see the rows that it leads to: both look the same.
func (s Scope) Follow(name string) (*catalog.Relation, Scope, bool) {
	r := s.model.Relation(name)
	if r == nil {
		return nil, Scope{}, false
	}
	target, ok := s.token.Rows(r.Target)
	return r, target, ok
}

// SearchFields are the model's search fields, less those behind relations that the token may not follow. None is masked.
func (s Scope) SearchFields() []catalog.SearchField {
	var visible []catalog.SearchField
	for _, f := range s.model.Search {
		if f.Relation != nil {
			if _, ok := s.token.Rows(f.Relation.Target); !ok {
				continue
			}
		}
		visible = append(visible, f)
	}
	return visible
}

// Related is the condition that a row is related, through the relation, to one that this token may see and that meets
// the condition; nil is any.
func (s Scope) Related(r *catalog.Relation, where database.Condition) database.Condition {
	target, ok := s.token.Rows(r.Target)
	if !ok {
		return database.Never
	}
	return database.Exists{From: target.Source(), Ours: r.Ours, Theirs: r.Theirs, Where: where}
}
