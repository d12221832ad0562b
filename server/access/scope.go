package access

import (
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Scope is one served model as one token may see it. Every statement about the model's table is made through it: it
// alone gives the Source that a plan needs, with the rows' condition in it, and it alone says which fields there are.
type Scope struct {
	token *Token
	model *catalog.Model
}

// Verbs are what the token may do to a model.
func (t *Token) Verbs(m *catalog.Model) Verbs { return t.rights.verbs[m.Index] }

// Scope returns the model as the token may see it; false where it may not view it, or where the model is withheld.
func (t *Token) Scope(m *catalog.Model) (Scope, bool) {
	return Scope{t, m}, m.Served() && t.Verbs(m).Has(View)
}

// Model is the model that is seen.
func (s Scope) Model() *catalog.Model { return s.model }

// Source is the model's table with the condition that its rows must meet for this token.
func (s Scope) Source() database.Source { return database.NewSource(s.model.Table, nil) }

// Fields are the visible fields, in the table's order.
func (s Scope) Fields() []*catalog.Field { return s.model.Fields }

// Field returns the visible field of that name, or nil.
func (s Scope) Field(name string) *catalog.Field { return s.model.Field(name) }

// Relations are those that lead to models which the token may view.
func (s Scope) Relations() []*catalog.Relation {
	var visible []*catalog.Relation
	for _, r := range s.model.Relations {
		if _, ok := s.token.Scope(r.Target); ok {
			visible = append(visible, r)
		}
	}
	return visible
}

// Follow returns the relation of that name and the scope that it leads to; false where there is none, or where the
// token may not view what it leads to: both look the same.
func (s Scope) Follow(name string) (*catalog.Relation, Scope, bool) {
	r := s.model.Relation(name)
	if r == nil {
		return nil, Scope{}, false
	}
	target, ok := s.token.Scope(r.Target)
	return r, target, ok
}

// SearchFields are the model's search fields, less those behind relations that the token may not follow.
func (s Scope) SearchFields() []catalog.SearchField {
	var visible []catalog.SearchField
	for _, f := range s.model.Search {
		if f.Relation != nil {
			if _, ok := s.token.Scope(f.Relation.Target); !ok {
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
	target, ok := s.token.Scope(r.Target)
	if !ok {
		return database.Or{}
	}
	return database.Exists{From: target.Source(), Ours: r.Ours, Theirs: r.Theirs, Where: where}
}
