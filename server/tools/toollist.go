package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// definition is a tool as tools/list shows it.
type definition struct {
	Name         string      `json:"name"`
	Description  string      `json:"description"`
	InputSchema  schema      `json:"inputSchema"`
	OutputSchema *schema     `json:"outputSchema,omitempty"`
	Annotations  annotations `json:"annotations"`
}

// annotations are all written out: a client's defaults for absent ones are the most alarming.
type annotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// The annotations of operations that read, and of those that change something in a way that can be undone or cannot.
var (
	reads    = annotations{ReadOnlyHint: true, IdempotentHint: true}
	adds     = annotations{}
	changes  = annotations{DestructiveHint: true, IdempotentHint: true}
	destroys = annotations{DestructiveHint: true}
)

// toolList are the encoded tools: one piece for each model and operation, shared by all tokens.
type toolList struct {
	findModels []byte
	// models are by Model.Index; an operation that is not offered has no piece.
	models [][]toolPiece
	// exposed is set if any model is exposed: otherwise tools/list is empty (interface specification section 1).
	exposed bool
}

// toolPiece is a tool. What the token's own list names stands between its two parts.
type toolPiece struct {
	op            *operation
	before, after []byte
}

// namesMark stands in a schema where a token's own list has names.
const namesMark = "\x00names\x00"

var encodedMark = []byte(`\u0000names\u0000`)

func encodePiece(op *operation, m *catalog.Model, structured bool) toolPiece {
	before, after, _ := bytes.Cut(encodeTool(op.define(m, structured)), encodedMark)
	return toolPiece{op, before, after}
}

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
	p := toolList{models: make([][]toolPiece, len(c.Models())), findModels: encodeTool(findModelsOperation.define(nil, structured))}
	for _, m := range c.Models() {
		p.exposed = p.exposed || m.Declared.Expose
		if !m.Declared.Expose || !m.Served() {
			continue
		}
		for _, op := range operations {
			if op.offeredFor(c, m) {
				p.models[m.Index] = append(p.models[m.Index], encodePiece(op, m, structured))
			}
		}
	}
	return p
}

func encodeTool(d definition) []byte {
	encoded, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings, numbers and maps of them: it cannot fail
	}
	return encoded
}

// AppendTools appends the JSON array of tools/list: what the token may use of the exposed models.
func (set *Set) AppendTools(dst []byte, token *access.Token) []byte {
	size := len("[]") + len(set.toolList.findModels)
	set.eachTool(token, func(piece *toolPiece, _ access.Scope) { size += len(",") + len(piece.before) + len(piece.after) })
	dst = append(slices.Grow(dst, size), '[')
	if set.toolList.exposed {
		dst = append(dst, set.toolList.findModels...)
	}
	set.eachTool(token, func(piece *toolPiece, scope access.Scope) { dst = piece.appendTo(append(dst, ','), scope) })
	return append(dst, ']')
}

// eachTool gives, in order, the pieces of what the token may use.
func (set *Set) eachTool(token *access.Token, do func(*toolPiece, access.Scope)) {
	for _, m := range set.catalog.Models() {
		scope := token.Reach(m)
		pieces := set.toolList.models[m.Index]
		for i := range pieces {
			if pieces[i].op.usable(set.catalog, scope) {
				do(&pieces[i], scope)
			}
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
