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

// annotations are what clients are told of a tool's effects.
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
// tool.
type toolList struct {
	// findModels stands before the models' own tools, and tells what is common to them; findModelsOnly before generic ones.
	findModels, findModelsOnly []byte
	// globals are the tools of the other operations that are of no model.
	globals []toolPiece
	// models are by Model.Index.
	models []modelTools
	// generic are in the order of genericOperations.
	generic []toolPiece
	// exposed is set if any model is exposed: otherwise tools/list is empty (interface specification section 1).
	exposed bool
}

// modelTools are the tools of one model.
type modelTools struct {
	// offered are the operations that the model offers.
	offered []*operation
	// pieces are their tools, in the same order. They are encoded when a list first has them: a changed Config must not wait
	// for the tools of five hundred models, which perhaps nobody lists.
	pieces func() []toolPiece
}

// toolPiece is a tool. What the token's own list names stands between its two parts.
type toolPiece struct {
	op            *operation
	before, after []byte
	// besideCreate is the shorter tool of a list that has the model's create tool; nil if it is no shorter.
	besideCreate *toolPiece
}

// namesMark stands in a schema where a token's own list has names.
const namesMark = "\x00names\x00"

var encodedMark = []byte(`\u0000names\u0000`)

func encodePiece(op *operation, m *catalog.Model, structured bool) toolPiece {
	piece := cutPiece(op, op.define(m, defining{structured: structured}))
	if op != createOperation && createOperation.offeredFor(m.Catalog(), m) {
		shorter := cutPiece(op, op.define(m, defining{besideCreate: true, structured: structured}))
		if shorter.size() < piece.size() {
			piece.besideCreate = &shorter
		}
	}
	return piece
}

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
func encodeTools(c *catalog.Catalog, structured bool) toolList {
	find := findModelsOperation.define(nil, defining{structured: structured})
	p := toolList{models: make([]modelTools, len(c.Models())), findModelsOnly: encodeTool(find), generic: encodeGeneric(structured)}
	for _, op := range globals[1:] {
		p.globals = append(p.globals, cutPiece(op, op.define(nil, defining{structured: structured})))
	}
	find.Description += " " + commonHelp
	p.findModels = encodeTool(find)
	for _, m := range c.Models() {
		p.exposed = p.exposed || m.Declared.Expose
		if !m.Declared.Expose || !m.Served() {
			continue
		}
		p.models[m.Index] = encodeModel(c, m, structured)
	}
	return p
}

func encodeModel(c *catalog.Catalog, m *catalog.Model, structured bool) modelTools {
	var t modelTools
	for _, op := range operations {
		if op.offeredFor(c, m) {
			t.offered = append(t.offered, op)
		}
	}
	t.pieces = sync.OnceValue(func() []toolPiece {
		pieces := make([]toolPiece, len(t.offered))
		for i, op := range t.offered {
			pieces[i] = encodePiece(op, m, structured)
		}
		return pieces
	})
	return t
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
	size := len("[]") + len(set.toolList.findModels)
	set.eachTool(token, view, func(piece *toolPiece, _ access.Scope) { size += len(",") + piece.size() })
	dst = append(append(slices.Grow(dst, size), '['), set.toolList.findModels...)
	dst = set.appendGlobals(dst, token, view)
	set.eachTool(token, view, func(piece *toolPiece, scope access.Scope) { dst = piece.appendTo(append(dst, ','), scope) })
	return append(dst, ']')
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
		if m.Declared.Expose && m.Served() && view.shows(m) && op.offeredTo(set.catalog, token.Reach(m)) {
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
	tools := &set.toolList.models[scope.Model().Index]
	creates := createOperation.usable(set.catalog, scope)
	for i, op := range tools.offered {
		if !op.usable(set.catalog, scope) {
			continue
		}
		piece := &tools.pieces()[i]
		if creates && piece.besideCreate != nil {
			piece = piece.besideCreate
		}
		do(piece, scope)
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
