package call

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// ModelParameter is the argument of a generic tool that names the model.
const ModelParameter = "model"

// takeModel takes the model's name out of the arguments of a generic tool's call; what is left are the arguments of the
// model's own tool.
func (c *Call) takeModel(raw []byte) error {
	if err := c.Given.Parse(raw); err != nil {
		return err
	}
	name, sent := c.Given.Take(ModelParameter)
	if !sent {
		return Invalid("model parameter is required; %s tells which models there are", FindModels)
	}
	if json.Unmarshal(name, &c.Model) != nil {
		return Invalid("model must be a model's name, not %s; %s tells which models there are", lookup.Excerpt(name), FindModels)
	}
	return nil
}

// ModelNotFound names the model whose name is most like the given one, if the token may use that model.
func (req *Request) ModelNotFound(name string) error {
	var names []string
	for _, m := range req.Catalog.Models() {
		if m.Served() && MayReadOrWrite(req.Token.Reach(m)) {
			names = append(names, m.Name)
		}
	}
	if i := spelling.Nearest(name, names); i >= 0 {
		return Failf(CodeNotFound, "Model '%s' not found; the nearest is %s, and %s tells which there are", name, names[i], FindModels)
	}
	return ModelNotFound(name)
}

// ToolFor names an operation's tool for a model in the form that the caller uses.
func (req *Request) ToolFor(operation string, m *catalog.Model) string {
	if req.Generic {
		return Naming{Generic: true}.Call(operation, m, "{}")
	}
	return operation + "_" + m.Name
}

// Naming says how a text names tools: as the list of the caller that reads it does.
type Naming struct{ Generic bool }

// Tool names an operation's tool for a model.
func (n Naming) Tool(operation string, m *catalog.Model) string {
	if n.Generic {
		return operation
	}
	return operation + "_" + m.Name
}

// Any names an operation's tools for models.
func (n Naming) Any(operation string) string {
	if n.Generic {
		return operation
	}
	return operation + "_<model>"
}

// Call is a call of an operation's tool for a model with arguments, a JSON object.
func (n Naming) Call(operation string, m *catalog.Model, arguments string) string {
	return n.Tool(operation, m) + " " + n.Arguments(m, arguments)
}

// Arguments are the arguments of a call of a model's tool, with the model among them if it is a generic one.
func (n Naming) Arguments(m *catalog.Model, arguments string) string {
	if !n.Generic {
		return arguments
	}
	model := fmt.Sprintf(`{"model": %q`, m.Name)
	if arguments == "{}" {
		return model + "}"
	}
	return model + ", " + arguments[1:]
}

// offeredNames names the tools of a model in the form that the caller uses.
func (req *Request) offeredNames(m *catalog.Model) string {
	var names []string
	for _, op := range Operations {
		if op.OfferedFor(req.Catalog, m) {
			name := op.Name
			if !req.Generic {
				name = toolName(op, m.Name)
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// NameOf is the name of a row of the model; m is nil for any model's.
func NameOf(m *catalog.Model) string {
	if m == nil {
		return "row"
	}
	return m.Declared.VerboseName
}

// PluralOf is the name of rows of the model; m is nil for any model's.
func PluralOf(m *catalog.Model) string {
	if m == nil {
		return "rows"
	}
	return m.Declared.VerboseNamePlural
}

// Sentence makes a description ready to stand between two sentences.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return " " + text
}

// NamesOf names some things behind what; it is empty if there are none.
func NamesOf[T any](what string, things []T, name func(T) string) string {
	if len(things) == 0 {
		return ""
	}
	names := make([]string, len(things))
	for i, thing := range things {
		names[i] = name(thing)
	}
	return what + strings.Join(names, ", ")
}
