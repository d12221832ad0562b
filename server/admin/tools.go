package admin

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

// schema is the piece of JSON Schema that tools need: closed objects without combinators.
type schema struct {
	Type                 string            `json:"type,omitempty"`
	Description          string            `json:"description,omitempty"`
	Properties           map[string]schema `json:"properties,omitzero"`
	Required             []string          `json:"required,omitempty"`
	AdditionalProperties *bool             `json:"additionalProperties,omitempty"`
	Items                *schema           `json:"items,omitempty"`
	AnyOf                []schema          `json:"anyOf,omitempty"`
	Enum                 []any             `json:"enum,omitempty"`
	Minimum              *int              `json:"minimum,omitempty"`
	Maximum              *int              `json:"maximum,omitempty"`
}

func closed(properties map[string]schema, required ...string) schema {
	return schema{Type: "object", Properties: properties, Required: required, AdditionalProperties: new(bool)}
}

// toolPieces are the encoded tools: one piece for each model and operation, shared by all tokens.
type toolPieces struct {
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

func encodeTools(c *catalog.Catalog) toolPieces {
	p := toolPieces{models: make([][]toolPiece, len(c.Models())), findModels: encodeTool(defineFindModels())}
	for _, m := range c.Models() {
		p.exposed = p.exposed || m.Expose
		if !m.Expose || !m.Served() {
			continue
		}
		for i := range operations {
			if op := &operations[i]; op.offeredFor(c, m) {
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
func (a *Admin) AppendTools(dst []byte, token *access.Token) []byte {
	size := len("[]") + len(a.tools.findModels)
	a.eachTool(token, func(piece []byte) { size += len(",") + len(piece) })
	dst = append(slices.Grow(dst, size), '[')
	if a.tools.exposed {
		dst = append(dst, a.tools.findModels...)
	}
	a.eachTool(token, func(piece []byte) { dst = append(append(dst, ','), piece...) })
	return append(dst, ']')
}

// eachTool gives, in order, the pieces of what the token may use.
func (a *Admin) eachTool(token *access.Token, do func(piece []byte)) {
	for _, m := range a.catalog.Models() {
		scope := token.Reach(m)
		for _, piece := range a.tools.models[m.Index] {
			if piece.op.usable(a.catalog, scope) {
				do(piece.json)
			}
		}
	}
}

func defineFindModels() definition {
	return definition{
		Name:        findModels,
		Description: "Find the models (tables) that you may view, with the operations that you may use on each. Start here.",
		InputSchema: closed(map[string]schema{"query": {Type: "string", Description: "text to look for in names and descriptions; all models without it"}}),
		Annotations: reads,
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

func fieldTypes(m *catalog.Model) string {
	var b strings.Builder
	for i, f := range m.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name + " " + f.Column.Kind.String())
	}
	return b.String()
}

// searchNames names the search fields that any token that sees the model may use.
func searchNames(m *catalog.Model) string {
	var names []string
	for _, s := range m.Search {
		if s.Relation == nil {
			names = append(names, s.Field.Name)
		}
	}
	if len(names) == 0 {
		return "the model's search fields"
	}
	return strings.Join(names, ", ")
}
