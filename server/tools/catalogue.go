package tools

import (
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// View is what a request wants its lists to show (docs/design/catalogue.md, "What a URL may ask"). The zero View is the
// endpoint's own style and all models. It says nothing of what may be called.
type View struct {
	// Style is one of contract's styles; "" is the endpoint's own.
	Style string
	// Models are the names of the models to show; nil is all. A name that no model has, or one that the token may not see,
	// shows nothing.
	Models map[string]bool
}

// shows reports whether the view has the model.
func (v View) shows(m *catalog.Model) bool { return v.Models == nil || v.Models[m.Name] }

// commonHelp is what the tools of all models have in common. Their own descriptions leave it out.
const commonHelp = `Of each model: describe_ (fields, relations; look there first), list_, get_, create_, update_ (data: only what changes), ` +
	`delete_, bulk_ (items: {data} to create, {id, data} to update, {id} to delete), actions_, action_ (one that asks changes nothing before confirm: true), ` +
	`related_, history_, autocomplete_, aggregate_ (count, sum, top lists: no lists for that). filters: {"field": value} or {"field__lookup": value}, ANDed; lookups: ne, in, range, gt, gte, lt, lte, isnull, ` +
	`icontains, istartswith, year, …; relation__field for related rows. search: words, all found. order_by: fields, - descends. ` +
	`fields: those to answer (get_, related_ too). limit: 100 if absent, at most 1000. cursor: the next_cursor before. ` +
	`list_, related_, aggregate_ also take format: columns (fewer bytes), max_bytes, total: none; related_ and autocomplete_ filters. ` +
	`dry_run: check a write, keep nothing.`

// isGeneric reports whether the token's list has the generic tools.
func (set *Set) isGeneric(token access.Token, view View) bool {
	style := view.Style
	if style == "" {
		style = set.settings.Catalogue.Style
	}
	switch style {
	case contract.StyleGeneric:
		return true
	case contract.StylePerModel:
		return false
	}
	most := set.settings.Catalogue.MaxTools
	return most > 0 && set.countTools(token, view) > most
}

// countTools is how many tools the token's list has model by model, with find_models.
func (set *Set) countTools(token access.Token, view View) int {
	count := 1
	for i := range set.toolList.globals {
		if set.listsGlobal(token, view, set.toolList.globals[i].op) {
			count++
		}
	}
	for _, m := range set.catalog.Models() {
		if !view.shows(m) {
			continue
		}
		scope := token.Reach(m)
		for _, op := range set.toolList.models[m.Index].offered {
			if op.usable(set.catalog, scope) {
				count++
			}
		}
	}
	return count
}

// neededFirst are the generic tools that an agent needs first, and which come first. The others follow in their own order.
var neededFirst = []string{"describe", "list", "get", "aggregate"}

// genericOperations are the operations in the order of their generic tools.
func genericOperations() []*operation {
	var first, others []*operation
	for _, name := range neededFirst {
		first = append(first, findOperation(name))
	}
	for _, op := range operations {
		if !slices.Contains(first, op) {
			others = append(others, op)
		}
	}
	return append(first, others...)
}

// encodeGeneric encodes the generic tools; structured adds the schemas of their answers. They name no model, so that they are the same whatever the models are.
func encodeGeneric(structured bool) []toolPiece {
	var pieces []toolPiece
	for _, op := range genericOperations() {
		pieces = append(pieces, cutPiece(op, op.defineGeneric(structured)))
	}
	return pieces
}

// defineGeneric returns the operation's generic tool.
func (o *operation) defineGeneric(structured bool) definition {
	d := o.define(nil, defining{structured: structured})
	properties := properties{modelParameter: {Type: types{"string"}, Description: "the model's name, as find_models gives it"}}
	for name, s := range d.InputSchema.Properties {
		properties[name] = s
	}
	d.InputSchema.Properties = properties
	d.InputSchema.Required = append([]string{modelParameter}, d.InputSchema.Required...)
	return d
}

// appendGeneric appends the generic tools that the token may use on at least one of the models, and the own tools of those
// that are pinned.
func (set *Set) appendGeneric(dst []byte, token access.Token, view View) []byte {
	dst = append(append(dst, '['), set.toolList.findModelsOnly...)
	dst = set.appendGlobals(dst, token, view)
	for i := range set.toolList.generic {
		if piece := &set.toolList.generic[i]; set.usableSomewhere(token, view, piece.op) {
			dst = append(append(dst, ','), piece.before...)
		}
	}
	for _, m := range set.catalog.Models() {
		if m.Declared.Pinned && view.shows(m) {
			set.eachToolOf(token.Reach(m), func(piece *toolPiece, scope access.Scope) { dst = piece.appendTo(append(dst, ','), scope) })
		}
	}
	return append(dst, ']')
}

// usableSomewhere reports whether the token may use the operation on a model that is advertised.
func (set *Set) usableSomewhere(token access.Token, view View, op *operation) bool {
	for _, m := range set.catalog.Models() {
		if m.Declared.Expose && m.Served() && view.shows(m) && op.offeredFor(set.catalog, m) && op.usable(set.catalog, token.Reach(m)) {
			return true
		}
	}
	return false
}

// properties are the members of an object by name. The model comes first, then the others in the order of their names.
type properties map[string]schema

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	model, ok := p[modelParameter]
	if !ok {
		return json.Marshal(map[string]schema(p))
	}
	first, err := json.Marshal(map[string]schema{modelParameter: model})
	if err != nil || len(p) == 1 {
		return first, err
	}
	others := make(map[string]schema, len(p)-1)
	for name, s := range p {
		if name != modelParameter {
			others[name] = s
		}
	}
	rest, err := json.Marshal(others)
	return append(append(first[:len(first)-1], ','), rest[1:]...), err
}
