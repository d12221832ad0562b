package approval

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// asked are the fields of a model that the policy's conditions name. Of what they ask of related rows, it is the foreign key.
func (p *policy) asked(m *catalog.Model) []string {
	if p.problem != "" {
		return nil
	}
	a := &askedFields{model: m}
	a.conditions(p.When.Before)
	a.conditions(p.When.After)
	return a.names
}

type askedFields struct {
	model *catalog.Model
	names []string
}

// conditions takes the fields of a condition object.
func (a *askedFields) conditions(object json.RawMessage) {
	for _, m := range jsontext.MembersOf(object) {
		switch key, value := m.Name, m.Value; key {
		case "_any", "_all":
			for _, one := range jsontext.Inside(value) {
				a.conditions(one)
			}
		case "_not":
			a.conditions(value)
		default:
			a.path(key)
			a.otherSide(value)
		}
	}
}

// otherSide takes the fields of what a field is compared with: another field, or an expression. What it asks of other rows is not taken.
func (a *askedFields) otherSide(object json.RawMessage) {
	for _, m := range jsontext.MembersOf(object) {
		switch key, value := m.Name, m.Value; key {
		case "_field":
			a.operand(value)
		case "add", "sub", "mul", "div", "round", "bucket", "days", "hours", "seconds", "number":
			if len(value) > 0 && value[0] == '[' {
				for _, one := range jsontext.Inside(value) {
					a.operand(one)
				}
			} else {
				a.operand(value)
			}
		}
	}
}

// operand takes the fields of an operand: a path, or another expression.
func (a *askedFields) operand(value json.RawMessage) {
	if path, ok := jsontext.ReadString(value); ok {
		a.path(path)
		return
	}
	a.otherSide(value)
}

// path takes the field of a path, or the foreign key of the relation by which it leaves the row.
func (a *askedFields) path(path string) {
	name, _, _ := strings.Cut(path, "__")
	for _, f := range a.model.Fields {
		if f.Name == name {
			a.names = append(a.names, name)
			return
		}
	}
	for _, r := range a.model.Relations {
		if r.Name != name || r.Many || len(r.Ours) != 1 {
			continue
		}
		for _, f := range a.model.Fields {
			if f.Column == r.Ours[0] {
				a.names = append(a.names, f.Name)
			}
		}
	}
}
