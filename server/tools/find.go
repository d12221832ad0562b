package tools

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

const findModels = "find_models"

var findModelsOperation = withArguments(operation{
	name: findModels, global: true, hints: reads,
	description: func(*catalog.Model) string {
		return "Find the models (tables) that you may view, with the operations that you may use on each. Start here."
	},
	outputSchema: func(*catalog.Model) schema { return payloadSchema[modelList]() },
}, (*call).findModels,
	argument[findArguments]{name: "query", into: func(a *findArguments) any { return &a.query },
		help: "text to look for in names and descriptions; all models without it"},
)

type findArguments struct{ query string }

// modelList is find_models' payload.
type modelList struct {
	Count  int         `json:"count"`
	Models []modelInfo `json:"models"`
}

type modelInfo struct {
	ModelName         string   `json:"model_name"`
	VerboseName       string   `json:"verbose_name"`
	VerboseNamePlural string   `json:"verbose_name_plural"`
	AppLabel          string   `json:"app_label"`
	Description       string   `json:"description"`
	ToolsExposed      bool     `json:"tools_exposed"`
	Operations        []string `json:"operations"`
	Resource          string   `json:"resource"`
}

// findModels answers the registered models that the token may view, exposed or not, whose names or description contain
// the query.
func (c *call) findModels(a *findArguments) ([]byte, error) {
	found := modelList{Models: []modelInfo{}}
	for _, m := range c.catalog.Models() {
		if _, ok := c.token.Scope(m); !ok || !mentions(m, a.query) {
			continue
		}
		info := modelInfo{
			ModelName: m.Name, VerboseName: m.Declared.VerboseName, VerboseNamePlural: m.Declared.VerboseNamePlural, AppLabel: m.Module,
			Description: describeModel(m), ToolsExposed: m.Declared.Expose, Operations: []string{}, Resource: "data://" + m.Name + "/",
		}
		for _, op := range offeredTo(c.catalog, c.token, m) {
			info.Operations = append(info.Operations, op.name)
		}
		found.Models = append(found.Models, info)
	}
	found.Count = len(found.Models)
	return json.Marshal(found)
}

func mentions(m *catalog.Model, query string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	for _, text := range []string{m.Name, m.Declared.VerboseName, m.Declared.VerboseNamePlural, describeModel(m)} {
		if strings.Contains(strings.ToLower(text), query) {
			return true
		}
	}
	return false
}

// describeModel is the exposure's description, or else the table's comment.
func describeModel(m *catalog.Model) string {
	if m.Declared.Description == "" {
		return m.Table.Comment
	}
	return m.Declared.Description
}
