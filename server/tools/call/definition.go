package call

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Properties are the members of an object by name. The model comes first, then the others in the order of their names.
type Properties map[string]Schema

// MarshalJSON implements json.Marshaler.
func (p Properties) MarshalJSON() ([]byte, error) {
	model, ok := p[ModelParameter]
	if !ok {
		return json.Marshal(map[string]Schema(p))
	}
	first, err := json.Marshal(map[string]Schema{ModelParameter: model})
	if err != nil || len(p) == 1 {
		return first, err
	}
	others := make(map[string]Schema, len(p)-1)
	for name, s := range p {
		if name != ModelParameter {
			others[name] = s
		}
	}
	rest, err := json.Marshal(others)
	return append(append(first[:len(first)-1], ','), rest[1:]...), err
}

// Definition is a tool as tools/list shows it. Annotations are annotations or briefAnnotations.
type Definition struct {
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	InputSchema  Schema  `json:"inputSchema"`
	OutputSchema *Schema `json:"outputSchema,omitempty"`
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
func (a Annotations) brief() briefAnnotations {
	if a.ReadOnlyHint {
		return briefAnnotations{ReadOnlyHint: true}
	}
	b := briefAnnotations{IdempotentHint: a.IdempotentHint}
	if !a.DestructiveHint {
		b.DestructiveHint = &a.DestructiveHint
	}
	return b
}

// Annotations tell clients about a tool's effects.
type Annotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// hintsOf are the annotations of operations with an effect on rows.
var hintsOf = map[contract.Effect]Annotations{
	contract.Shows: {ReadOnlyHint: true, IdempotentHint: true}, contract.Tells: {ReadOnlyHint: true, IdempotentHint: true},
	contract.Withdraws: {IdempotentHint: true},
	contract.Adds:      {}, contract.Changes: {DestructiveHint: true, IdempotentHint: true}, contract.Destroys: {DestructiveHint: true},
}

// namesMark marks the place in a schema at which a token's own list has names.
const namesMark = "\x00names\x00"
