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

// modelNotFound tells of the model whose name is most like the one that was given, if the token may use that.
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
		return fmt.Sprintf(`%s {"model": %q}`, operation, m.Name)
	}
	return operation + "_" + m.Name
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

// one and many are what a row of the model is called, and rows are; m is nil for any model's.
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
