package tools

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
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

// key is the same for views that show the same.
func (v View) key() string {
	if v.Models == nil {
		return v.Style
	}
	return v.Style + "?" + strings.Join(slices.Sorted(maps.Keys(v.Models)), ",") // no name of a URL has a comma
}

// shows reports whether the view has the model.
func (v View) shows(m *catalog.Model) bool { return v.Models == nil || v.Models[m.Name] }

// Unready says why nothing can be told of the models yet, for the caller; "" if it can.
func (set *Set) Unready() string { return unready(set.catalog) }

func unready(c *catalog.Catalog) string {
	if slices.ContainsFunc(c.Models(), func(m *catalog.Model) bool { return m.Status.Reason == contract.ReasonSchemaUnknown }) {
		return "the database has not answered yet, so that no model is known: try again in a few seconds"
	}
	return ""
}

// lists reports whether a view's list has the tools of a model, or generic tools for it.
func (set *Set) lists(view View, m *catalog.Model) bool {
	return m.Declared.Expose && m.Served() && view.shows(m)
}

// helpFor is what find_models says of the tools that a list model by model has: what they have in common, which their own
// descriptions leave out. Tools that are not in the list are not named.
func (set *Set) helpFor(listed call.OperationSet, view View) string {
	if listed == 0 {
		return set.nothingListed(view)
	}
	var of []string
	for _, op := range call.Operations {
		if listed&op.Bit != 0 {
			of = append(of, strings.TrimSpace(op.Name+"_ "+op.Note))
		}
	}
	help := " Of each model: " + strings.Join(of, ", ") + "."
	say := func(when bool, text string) {
		if when {
			help += " " + text
		}
	}
	names := func(operations ...string) string {
		var some []string
		for _, name := range operations {
			if listed.Has(name) {
				some = append(some, name+"_")
			}
		}
		return strings.Join(some, ", ")
	}
	rows, filtered := names("list", "related", "aggregate", "report"), names("related", "autocomplete")
	say(listed.Has("list", "aggregate"), "search: words, all found.")
	say(listed.Has("list"), "order_by: fields, - descends. cursor: the next_cursor before.")
	say(listed.Has("list", "get", "related"), "fields: those to answer.")
	say(listed.Has("list", "aggregate"), "limit: 100 if absent, at most 1000.")
	say(rows != "", rows+" also take format: columns (fewer bytes) and max_bytes.")
	say(listed.Has("list"), "list_: total: none.")
	say(filtered != "", filtered+" also take filters.")
	say(listed.Has("create", "update", "delete"), "dry_run: check a write, keep nothing.")
	say(listed.Has("bulk"), "atomic: all or nothing.")
	return help
}

// nothingListed is what find_models says in a list without any other model's tools.
func (set *Set) nothingListed(view View) string {
	if view.Models == nil {
		return ""
	}
	return " There are no other tools, because the parameter models of the URL names no model that you may use: " +
		lookup.Excerpt([]byte(strings.Join(slices.Sorted(maps.Keys(view.Models)), ", "))) + "."
}

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
			if op.Usable(set.catalog, scope) {
				count++
			}
		}
	}
	return count
}

// neededFirst are the generic tools that an agent needs first, and which come first. The others follow in their own order.
var neededFirst = []string{"describe", "list", "get", "aggregate"}

// genericOperations are the operations in the order of their generic tools.
func genericOperations() []*call.Operation {
	var first, others []*call.Operation
	for _, name := range neededFirst {
		first = append(first, call.FindOperation(name))
	}
	for _, op := range call.Operations {
		if !slices.Contains(first, op) {
			others = append(others, op)
		}
	}
	return append(first, others...)
}

// defineGeneric returns the operation's generic tool.
func defineGeneric(o *call.Operation, how call.Defining) call.Definition {
	d := o.Define(nil, how)
	properties := call.Properties{call.ModelParameter: {Type: call.Types{"string"}}}
	for name, s := range d.InputSchema.Properties {
		properties[name] = s
	}
	d.InputSchema.Properties = properties
	d.InputSchema.Required = append([]string{call.ModelParameter}, d.InputSchema.Required...)
	return d
}

// aboutGeneric is what find_models says of the generic tools.
const aboutGeneric = " The other tools take a model_name as model."

// appendGeneric appends the generic tools that the token may use on at least one of the models, and the own tools of those
// that are pinned.
func (set *Set) appendGeneric(dst []byte, token access.Token, view View) []byte {
	l := set.toolList
	var tools []byte
	for i, op := range genericOperations() {
		if s, usable := set.genericShape(token, view, op); usable {
			piece := shaped(l.generic[i], s, func() *toolPiece {
				piece := cutPiece(op, defineGeneric(op, call.Defining{Shape: s, Structured: l.structured, Keeps: l.catalog.Idempotency() != nil, Approves: l.catalog.Approves()}))
				return &piece
			})
			tools = append(append(tools, ','), piece.before...)
		}
	}
	help := aboutGeneric
	if len(tools) == 0 {
		help = set.nothingListed(view)
	}
	dst = append(append(dst, '['), l.findModels(help)...)
	dst = append(set.appendGlobals(dst, token, view), tools...)
	for _, m := range set.catalog.Models() {
		if m.Declared.Pinned && view.shows(m) {
			set.eachToolOf(token.Reach(m), func(piece *toolPiece, scope access.Scope) { dst = piece.appendTo(append(dst, ','), scope) })
		}
	}
	return append(dst, ']')
}

// genericShape is the shape of an operation's generic tool: it has the arguments that the token may use on at least one model that
// is advertised. usable is false if the token may use the operation on none.
func (set *Set) genericShape(token access.Token, view View, op *call.Operation) (s call.Shape, usable bool) {
	missing := slices.Clone(op.Optional)
	var values []string
	for _, m := range set.catalog.Models() {
		scope := token.Reach(m)
		if !set.lists(view, m) || !op.IsOfferedTo(set.catalog, scope) {
			continue
		}
		usable = true
		missing = slices.DeleteFunc(missing, func(a call.OptionalArgument) bool { return a.Usable(scope) })
		if op.Values != nil {
			values = append(values, op.Values(scope)...)
		}
		if len(missing) == 0 && op.Values == nil {
			break
		}
	}
	for _, a := range missing {
		s.Without = call.Joined(s.Without, a.Name)
	}
	slices.Sort(values)
	s.Values = strings.Join(slices.Compact(values), ",")
	return s, usable
}
