package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// toolList are the encoded tools: one piece for each model and operation, shared by all tokens, and one for each generic
// tool; and more of them if tokens may use different arguments.
type toolList struct {
	catalog *catalog.Catalog
	// structured adds the schemas of answers to definitions.
	structured bool
	// found are find_models' pieces by what they say of the other tools.
	found *sync.Map
	// globals are the tools of the other operations that are of no model.
	globals []toolPiece
	// models are by Model.Index.
	models []modelTools
	// generic are in the order of genericOperations, each by its shapes.
	generic []*sync.Map
	// exposed is set if any model is exposed: otherwise tools/list is empty (interface specification section 1).
	exposed bool
}

// modelTools are the tools of one model.
type modelTools struct {
	// offered are the operations that the model offers.
	offered []*call.Operation
	// pieces are their tools, in the same order. They are encoded when a list first has them: a changed Config must not wait
	// for the tools of five hundred models, which perhaps nobody lists.
	pieces func() []modelPiece
}

// modelPiece is a tool of a model, as most tokens see it and, by its shapes, as others do. besideCreate is nil if the tool is
// the same in a list that has the model's create tool.
type modelPiece struct {
	whole, besideCreate *toolPiece
	shapes              *sync.Map
}

// toolPiece is a tool. What the token's own list names stands between its two parts.
type toolPiece struct {
	op            *call.Operation
	before, after []byte
}

var encodedMark = []byte(`\u0000names\u0000`)

func cutPiece(op *call.Operation, d call.Definition) toolPiece {
	before, after, _ := bytes.Cut(encodeTool(d), encodedMark)
	return toolPiece{op: op, before: before, after: after}
}

func (p *toolPiece) size() int { return len(p.before) + len(p.after) }

// appendTo appends the tool as a token sees it.
func (p *toolPiece) appendTo(dst []byte, scope access.Scope) []byte {
	dst = append(dst, p.before...)
	if p.op.Names != nil {
		if names := p.op.Names(scope); names != "" {
			quoted := call.AppendJSON(nil, names)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
	}
	return append(dst, p.after...)
}

// encodeTools encodes the tools of a catalog; structured adds the schemas of their answers.
func encodeTools(c *catalog.Catalog, structured bool) *toolList {
	l := &toolList{catalog: c, structured: structured, found: &sync.Map{}, models: make([]modelTools, len(c.Models()))}
	for _, op := range call.Globals[1:] {
		l.globals = append(l.globals, *l.encode(op, nil, call.Shape{}))
	}
	for range call.Operations {
		l.generic = append(l.generic, &sync.Map{})
	}
	for _, m := range c.Models() {
		l.exposed = l.exposed || m.Declared.Expose
		if m.Declared.Expose && m.Served() {
			l.models[m.Index] = l.encodeModel(m)
		}
	}
	return l
}

func (l *toolList) encodeModel(m *catalog.Model) modelTools {
	var t modelTools
	for _, op := range call.Operations {
		if op.OfferedFor(l.catalog, m) {
			t.offered = append(t.offered, op)
		}
	}
	creates := write.CreateOperation.OfferedFor(l.catalog, m)
	t.pieces = sync.OnceValue(func() []modelPiece {
		pieces := make([]modelPiece, len(t.offered))
		for i, op := range t.offered {
			pieces[i] = modelPiece{whole: l.encode(op, m, call.Shape{}), shapes: &sync.Map{}}
			if creates && op.Shortens {
				pieces[i].besideCreate = l.encode(op, m, call.Shape{BesideCreate: true})
			}
		}
		return pieces
	})
	return t
}

// encode encodes the tool of an operation in a shape; m is nil for one that is of no model.
func (l *toolList) encode(op *call.Operation, m *catalog.Model, s call.Shape) *toolPiece {
	piece := cutPiece(op, op.Define(m, call.Defining{Shape: s, Structured: l.structured, Keeps: l.catalog.Idempotency() != nil, Approves: l.catalog.Approves()}))
	return &piece
}

// piece is the tool of an offered operation as a token sees it; creates is set if the list has the model's create tool.
func (l *toolList) piece(i int, scope access.Scope, creates bool) *toolPiece {
	tools := &l.models[scope.Model().Index]
	piece, op := &tools.pieces()[i], tools.offered[i]
	s := op.ShapeFor(scope)
	s.BesideCreate = creates && piece.besideCreate != nil
	switch s {
	case call.Shape{}:
		return piece.whole
	case call.Shape{BesideCreate: true}:
		return piece.besideCreate
	}
	return shaped(piece.shapes, s, func() *toolPiece { return l.encode(op, scope.Model(), s) })
}

// shaped returns a piece by its shape, and encodes it if no list had it yet.
func shaped(known *sync.Map, s call.Shape, encode func() *toolPiece) *toolPiece {
	if piece, ok := known.Load(s); ok {
		return piece.(*toolPiece)
	}
	piece, _ := known.LoadOrStore(s, encode())
	return piece.(*toolPiece)
}

func encodeTool(d call.Definition) []byte {
	encoded, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings, numbers and maps of them: it cannot fail
	}
	return encoded
}

// appendTools appends the JSON array of tools/list: what the token may use of the exposed models, as the view shows it.
func (set *Set) appendTools(dst []byte, token access.Token, view View) []byte {
	if !set.toolList.exposed {
		return append(dst, "[]"...)
	}
	if set.isGeneric(token, view) {
		return set.appendGeneric(dst, token, view)
	}
	var listed call.OperationSet
	size := len("[]")
	set.eachTool(token, view, func(piece *toolPiece, _ access.Scope) {
		listed |= piece.op.Bit
		size += len(",") + piece.size()
	})
	find := set.toolList.findModels(set.helpFor(listed, view))
	dst = append(append(slices.Grow(dst, size+len(find)), '['), find...)
	dst = set.appendGlobals(dst, token, view)
	set.eachTool(token, view, func(piece *toolPiece, scope access.Scope) { dst = piece.appendTo(append(dst, ','), scope) })
	return append(dst, ']')
}

// findModels is the tool find_models, whose description ends with some help.
func (l *toolList) findModels(help string) []byte {
	if known, ok := l.found.Load(help); ok {
		return known.([]byte)
	}
	find := findModelsOperation.Define(nil, call.Defining{Structured: l.structured})
	find.Description += help
	encoded, _ := l.found.LoadOrStore(help, encodeTool(find))
	return encoded.([]byte)
}

// appendGlobals appends the tools that are of no model and of use to the token, but for find_models.
func (set *Set) appendGlobals(dst []byte, token access.Token, view View) []byte {
	for i := range set.toolList.globals {
		if piece := &set.toolList.globals[i]; set.listsGlobal(token, view, piece.op) {
			dst = append(append(dst, ','), piece.before...)
		}
	}
	return dst
}

// listsGlobal reports whether an operation of no model is of use to the token on a model that is advertised.
func (set *Set) listsGlobal(token access.Token, view View, op *call.Operation) bool {
	for _, m := range set.catalog.Models() {
		if set.lists(view, m) && op.OfferedTo(set.catalog, token.Reach(m)) {
			return true
		}
	}
	return false
}

// eachTool gives, in order, the pieces of what the token may use of the models that the view shows.
func (set *Set) eachTool(token access.Token, view View, do func(*toolPiece, access.Scope)) {
	for _, m := range set.catalog.Models() {
		if view.shows(m) {
			set.eachToolOf(token.Reach(m), do)
		}
	}
}

func (set *Set) eachToolOf(scope access.Scope, do func(*toolPiece, access.Scope)) {
	creates := write.CreateOperation.Usable(set.catalog, scope)
	for i, op := range set.toolList.models[scope.Model().Index].offered {
		if op.Usable(set.catalog, scope) {
			do(set.toolList.piece(i, scope, creates), scope)
		}
	}
}
