package tools

import (
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Prompt is the answer of prompts/get: one message of the user's.
type Prompt struct{ Description, Text string }

// prompt is one of the prompts, and what prompts/list shows of it (interface specification section 4.4).
type prompt struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Arguments   []promptArgument `json:"arguments"`
	// about writes the text where there are no arguments, aboutModel where the model's name is the one argument.
	about      func(*Set, access.Token, View) string
	aboutModel func(*Set, access.Scope, View) string
	// may reports whether a token may be told of the model.
	may func(access.Scope) bool
	// operation is the one that tells the same, and must be offered; "" if none does.
	operation string
}

type promptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

const modelArgument = "model_name"

var modelArguments = []promptArgument{{modelArgument, "the model's name, as find_models gives it", true}}

var prompts = []prompt{
	{Name: "explore_models", Description: "How to discover the models of this endpoint and browse their data.",
		Arguments: []promptArgument{}, about: (*Set).explainModels},
	{Name: "understand_model", Description: "The fields, relationships and administration options of one model.",
		Arguments: modelArguments, aboutModel: (*Set).explainModel, may: call.Has(access.View), operation: "describe"},
	{Name: "crud_guide", Description: "How to create, update and delete rows of one model safely, with the rows that belong to them.",
		Arguments: modelArguments, aboutModel: (*Set).explainChanges, may: call.MayReadOrWrite},
	{Name: "bulk_operations_guide", Description: "How to change many rows at once: bulk tools, actions and their confirmation.",
		Arguments: []promptArgument{}, about: (*Set).explainBulk},
}

var promptList, _ = json.Marshal(prompts) // strings and booleans: it cannot fail

// AppendPrompts appends the JSON array of prompts/list. It is the same for every token: what differs is the texts.
func (set *Set) AppendPrompts(dst []byte, _ access.Token) []byte { return append(dst, promptList...) }

// Prompt writes a prompt about what the token may see, which names tools as the token's list does. arguments is raw JSON of any kind, or nil: a prompt without
// arguments ignores it. A model that the token may not view looks like one that does not exist.
func (set *Set) Prompt(token access.Token, view View, name string, arguments []byte) (Prompt, error) {
	i := slices.IndexFunc(prompts, func(p prompt) bool { return p.Name == name })
	if i < 0 {
		return Prompt{}, call.Invalid("Unknown prompt: %s; prompts/list tells which there are", lookup.Excerpt([]byte(name)))
	}
	p := &prompts[i]
	if p.about != nil {
		return Prompt{p.Description, p.about(set, token, view)}, nil
	}
	scope, err := set.promptModel(token, arguments, p.may)
	if err != nil {
		return Prompt{}, err
	}
	if p.operation != "" && !call.FindOperation(p.operation).IsOfferedTo(set.catalog, scope) {
		return Prompt{}, call.Invalid("%s is not offered for %s, so that this prompt tells nothing of it", p.operation, scope.Model().Name)
	}
	return Prompt{p.Description, p.aboutModel(set, scope, view)}, nil
}

// promptModel returns the model that a prompt's arguments name; an empty name is a missing one (docs/design/tools.md, "Prompts").
func (set *Set) promptModel(token access.Token, arguments []byte, may func(access.Scope) bool) (access.Scope, error) {
	var members map[string]json.RawMessage
	if len(arguments) > 0 && json.Unmarshal(arguments, &members) != nil {
		return access.Scope{}, call.Invalid("arguments must be an object")
	}
	var name string
	if raw, ok := members[modelArgument]; ok && json.Unmarshal(raw, &name) != nil {
		return access.Scope{}, call.Invalid("%s must be a string", modelArgument)
	}
	if name == "" {
		return access.Scope{}, call.Invalid("%s is required", modelArgument)
	}
	m := set.catalog.Model(name)
	if m == nil || !may(token.Reach(m)) {
		return access.Scope{}, call.ModelNotFound(lookup.Excerpt([]byte(name)))
	}
	if !m.Served() {
		return access.Scope{}, call.ModelWithheld(m)
	}
	return token.Reach(m), nil
}
