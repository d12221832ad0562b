package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// definition is a tool as tools/list shows it.
type definition struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	InputSchema schema      `json:"inputSchema"`
	Annotations annotations `json:"annotations"`
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
	// exposed is whether any model is: where none is, tools/list is empty (interface specification section 1).
	exposed bool
}

type toolPiece struct {
	op   *operation
	json []byte
}

func encodeTools(c *catalog.Catalog) toolList {
	p := toolList{models: make([][]toolPiece, len(c.Models())), findModels: encodeTool(findModelsOperation.define(nil))}
	for _, m := range c.Models() {
		p.exposed = p.exposed || m.Expose
		if !m.Expose || !m.Served() {
			continue
		}
		for _, op := range operations {
			if op.offeredFor(c, m) {
				p.models[m.Index] = append(p.models[m.Index], toolPiece{op, encodeTool(op.define(m))})
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
	set.eachTool(token, func(piece []byte) { size += len(",") + len(piece) })
	dst = append(slices.Grow(dst, size), '[')
	if set.toolList.exposed {
		dst = append(dst, set.toolList.findModels...)
	}
	set.eachTool(token, func(piece []byte) { dst = append(append(dst, ','), piece...) })
	return append(dst, ']')
}

// eachTool gives, in order, the pieces of what the token may use.
func (set *Set) eachTool(token *access.Token, do func(piece []byte)) {
	for _, m := range set.catalog.Models() {
		scope := token.Reach(m)
		for _, piece := range set.toolList.models[m.Index] {
			if piece.op.usable(set.catalog, scope) {
				do(piece.json)
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
