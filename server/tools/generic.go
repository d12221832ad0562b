package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// modelParameter is the argument of a generic tool that names the model.
const modelParameter = "model"

// takeModel takes the model's name out of the arguments of a generic tool's call; what is left are the arguments of the
// model's own tool.
func (c *call) takeModel(raw []byte) error {
	if err := c.given.parse(raw); err != nil {
		return err
	}
	name, sent := c.given[modelParameter]
	if !sent {
		return invalid("model parameter is required; %s tells which models there are", findModels)
	}
	if json.Unmarshal(name, &c.model) != nil {
		return invalid("model must be a model's name, not %s; %s tells which models there are", lookup.Excerpt(name), findModels)
	}
	delete(c.given, modelParameter)
	return nil
}

// modelNotFound names the model whose name is most like the given one, if the token may use that model.
func (req *request) modelNotFound(name string) error {
	var names []string
	for _, m := range req.catalog.Models() {
		if m.Served() && mayReadOrWrite(req.token.Reach(m)) {
			names = append(names, m.Name)
		}
	}
	if i := spelling.Nearest(name, names); i >= 0 {
		return failf(CodeNotFound, "Model '%s' not found; the nearest is %s, and %s tells which there are", name, names[i], findModels)
	}
	return modelNotFound(name)
}

// toolFor names an operation's tool for a model in the form that the caller uses.
func (req *request) toolFor(operation string, m *catalog.Model) string {
	if req.generic {
		return naming{generic: true}.call(operation, m, "{}")
	}
	return operation + "_" + m.Name
}

// naming says how a text names tools: as the list of the caller that reads it does.
type naming struct{ generic bool }

// tool names an operation's tool for a model.
func (n naming) tool(operation string, m *catalog.Model) string {
	if n.generic {
		return operation
	}
	return operation + "_" + m.Name
}

// any names an operation's tools for models.
func (n naming) any(operation string) string {
	if n.generic {
		return operation
	}
	return operation + "_<model>"
}

// call is a call of an operation's tool for a model with arguments, a JSON object.
func (n naming) call(operation string, m *catalog.Model, arguments string) string {
	return n.tool(operation, m) + " " + n.arguments(m, arguments)
}

// arguments are the arguments of a call of a model's tool, with the model among them if it is a generic one.
func (n naming) arguments(m *catalog.Model, arguments string) string {
	if !n.generic {
		return arguments
	}
	model := fmt.Sprintf(`{"model": %q`, m.Name)
	if arguments == "{}" {
		return model + "}"
	}
	return model + ", " + arguments[1:]
}

// offeredNames names the tools of a model in the form that the caller uses.
func (req *request) offeredNames(m *catalog.Model) string {
	var names []string
	for _, op := range operations {
		if op.offeredFor(req.catalog, m) {
			name := op.Name
			if !req.generic {
				name = toolName(op, m.Name)
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// one and many are the names of a row and of rows of the model; m is nil for any model's.
func one(m *catalog.Model) string {
	if m == nil {
		return "row"
	}
	return m.Declared.VerboseName
}

func many(m *catalog.Model) string {
	if m == nil {
		return "rows"
	}
	return m.Declared.VerboseNamePlural
}
