package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// definition is a tool as tools/list shows it. Annotations are annotations or briefAnnotations.
type definition struct {
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	InputSchema  schema  `json:"inputSchema"`
	OutputSchema *schema `json:"outputSchema,omitempty"`
	Annotations  any     `json:"annotations"`
}

// briefAnnotations leave out what a client takes for granted by MCP's rules: of a tool that only reads, whether it destroys
// or can be repeated means nothing, and otherwise a tool is taken to destroy and not to be repeated.
type briefAnnotations struct {
	ReadOnlyHint    bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool `json:"destructiveHint,omitempty"`
	IdempotentHint  bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   bool  `json:"openWorldHint"`
}

// brief are the same annotations, briefly.
func (a annotations) brief() briefAnnotations {
	if a.ReadOnlyHint {
		return briefAnnotations{ReadOnlyHint: true}
	}
	b := briefAnnotations{IdempotentHint: a.IdempotentHint}
	if !a.DestructiveHint {
		b.DestructiveHint = &a.DestructiveHint
	}
	return b
}

// annotations tell clients about a tool's effects.
type annotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// hintsOf are the annotations of operations with an effect on rows.
var hintsOf = map[contract.Effect]annotations{
	contract.Shows: {ReadOnlyHint: true, IdempotentHint: true}, contract.Tells: {ReadOnlyHint: true, IdempotentHint: true},
	contract.Adds: {}, contract.Changes: {DestructiveHint: true, IdempotentHint: true}, contract.Destroys: {DestructiveHint: true},
}

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
	offered []*operation
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
	op            *operation
	before, after []byte
}

// namesMark stands in a schema where a token's own list has names.
const namesMark = "\x00names\x00"

var encodedMark = []byte(`\u0000names\u0000`)

func cutPiece(op *operation, d definition) toolPiece {
	before, after, _ := bytes.Cut(encodeTool(d), encodedMark)
	return toolPiece{op: op, before: before, after: after}
}

func (p *toolPiece) size() int { return len(p.before) + len(p.after) }

// appendTo appends the tool as a token sees it.
func (p *toolPiece) appendTo(dst []byte, scope access.Scope) []byte {
	dst = append(dst, p.before...)
	if p.op.names != nil {
		if names := p.op.names(scope); names != "" {
			quoted := appendJSON(nil, names)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
	}
	return append(dst, p.after...)
}

// encodeTools encodes the tools of a catalog; structured adds the schemas of their answers.
func encodeTools(c *catalog.Catalog, structured bool) *toolList {
	l := &toolList{catalog: c, structured: structured, found: &sync.Map{}, models: make([]modelTools, len(c.Models()))}
	for _, op := range globals[1:] {
		l.globals = append(l.globals, *l.encode(op, nil, shape{}))
	}
	for range operations {
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
	for _, op := range operations {
		if op.offeredFor(l.catalog, m) {
			t.offered = append(t.offered, op)
		}
	}
	creates := createOperation.offeredFor(l.catalog, m)
	t.pieces = sync.OnceValue(func() []modelPiece {
		pieces := make([]modelPiece, len(t.offered))
		for i, op := range t.offered {
			pieces[i] = modelPiece{whole: l.encode(op, m, shape{}), shapes: &sync.Map{}}
			if creates && op.shortens {
				pieces[i].besideCreate = l.encode(op, m, shape{besideCreate: true})
			}
		}
		return pieces
	})
	return t
}

// encode encodes the tool of an operation in a shape; m is nil for one that is of no model.
func (l *toolList) encode(op *operation, m *catalog.Model, s shape) *toolPiece {
	piece := cutPiece(op, op.define(m, defining{shape: s, structured: l.structured, keeps: l.catalog.Idempotency() != nil}))
	return &piece
}

// piece is the tool of an offered operation as a token sees it; creates is set if the list has the model's create tool.
func (l *toolList) piece(i int, scope access.Scope, creates bool) *toolPiece {
	tools := &l.models[scope.Model().Index]
	piece, op := &tools.pieces()[i], tools.offered[i]
	s := op.shapeFor(scope)
	s.besideCreate = creates && piece.besideCreate != nil
	switch s {
	case shape{}:
		return piece.whole
	case shape{besideCreate: true}:
		return piece.besideCreate
	}
	return shaped(piece.shapes, s, func() *toolPiece { return l.encode(op, scope.Model(), s) })
}

// shaped returns a piece by its shape, and encodes it if no list had it yet.
func shaped(known *sync.Map, s shape, encode func() *toolPiece) *toolPiece {
	if piece, ok := known.Load(s); ok {
		return piece.(*toolPiece)
	}
	piece, _ := known.LoadOrStore(s, encode())
	return piece.(*toolPiece)
}

func encodeTool(d definition) []byte {
	encoded, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings, numbers and maps of them: it cannot fail
	}
	return encoded
}

// AppendTools appends the JSON array of tools/list: what the token may use of the exposed models, as the view shows it.
func (set *Set) AppendTools(dst []byte, token access.Token, view View) []byte {
	if !set.toolList.exposed {
		return append(dst, "[]"...)
	}
	if set.isGeneric(token, view) {
		return set.appendGeneric(dst, token, view)
	}
	var listed operationSet
	size := len("[]")
	set.eachTool(token, view, func(piece *toolPiece, _ access.Scope) {
		listed |= piece.op.bit
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
	find := findModelsOperation.define(nil, defining{structured: l.structured})
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
func (set *Set) listsGlobal(token access.Token, view View, op *operation) bool {
	for _, m := range set.catalog.Models() {
		if set.lists(view, m) && op.offeredTo(set.catalog, token.Reach(m)) {
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
	creates := createOperation.usable(set.catalog, scope)
	for i, op := range set.toolList.models[scope.Model().Index].offered {
		if op.usable(set.catalog, scope) {
			do(set.toolList.piece(i, scope, creates), scope)
		}
	}
}

// sentence makes a description ready to stand between two sentences.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return " " + text
}

// namesOf names some things behind what; it is empty if there are none.
func namesOf[T any](what string, things []T, name func(T) string) string {
	if len(things) == 0 {
		return ""
	}
	names := make([]string, len(things))
	for i, thing := range things {
		names[i] = name(thing)
	}
	return what + strings.Join(names, ", ")
}
