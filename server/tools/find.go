package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

const findModels = "find_models"

// mostFound is how many models one answer of find_models names.
const mostFound = 50

// mostWords is how many words of a query count.
const mostWords = 10

// detailFields is the detail with which find_models tells of fields and relations.
const detailFields = "fields"

var findModelsOperation = withArguments(findModels, operation{
	description: func(*catalog.Model) string {
		return "Find the models (tables) that you may view, with the operations that you may use on them; a model with others names its own. Start here."
	},
	outputSchema: func(*catalog.Model) schema { return payloadSchema[modelList]() },
}, (*call).findModels,
	argument[findArguments]{name: "query", into: func(a *findArguments) any { return &a.query },
		help: "words to look for in names, descriptions and fields, the best match first; all models without it"},
	argument[findArguments]{name: "detail", into: func(a *findArguments) any { return &a.detail },
		schema: func(*catalog.Model) schema { return schema{Type: types{"string"}, Enum: []any{detailFields}} },
		help:   "fields: with the fields and relations of each"},
	argument[findArguments]{name: "offset", into: func(a *findArguments) any { return &a.offset }, help: fmt.Sprintf("an answer has %d models", mostFound)},
)

type findArguments struct {
	query, detail string
	offset        count
}

// modelList is find_models' payload.
type modelList struct {
	Count int `json:"count"`
	// More is how many models match behind those that are named.
	More int `json:"more,omitempty"`
	// Operations are those on each model that does not name its own.
	Operations []string    `json:"operations"`
	Models     []modelInfo `json:"models"`
	ending
}

// modelInfo is a model in few words; what its name says already, or what most models have, is left out.
type modelInfo struct {
	ModelName   string `json:"model_name"`
	VerboseName string `json:"verbose_name,omitempty"`
	AppLabel    string `json:"app_label,omitempty"`
	Description string `json:"description,omitempty"`
	// ToolsExposed is false for a model that tools/list leaves out, and otherwise nil.
	ToolsExposed *bool `json:"tools_exposed,omitempty"`
	// Operations are nil if they are those of the list; a model without any has none.
	Operations []string `json:"operations,omitzero"`
	// Fields are names and types, and which are masked, Relations names and models, in few words: describe says more.
	Fields    []string `json:"fields,omitempty"`
	Relations []string `json:"relations,omitempty"`
}

// findModels answers the registered models that the token may view, exposed or not: those that a word of the query is
// about, the best match first, or all of them by name.
func (c *call) findModels(a *findArguments) ([]byte, error) {
	if a.detail != "" && a.detail != detailFields {
		return nil, invalid("detail must be %s, or be left out", detailFields)
	}
	if why := unready(c.catalog); why != "" {
		return nil, failf(CodeUnavailable, "%s", why)
	}
	words := catalog.WordsOf(a.query)
	found := c.rank(words[:min(len(words), mostWords)])
	offset := min(a.offset.or(0), len(found))
	found = found[offset:]
	list := modelList{More: max(0, len(found)-mostFound), Models: []modelInfo{}}
	for _, f := range found[:min(len(found), mostFound)] {
		list.Models = append(list.Models, c.modelInfo(f.scope, a.detail == detailFields))
	}
	list.Operations = operationsOfMost(list.Models)
	for i := range list.Models {
		if m := &list.Models[i]; slices.Equal(m.Operations, list.Operations) {
			m.Operations = nil
		}
	}
	list.Count = len(list.Models)
	end := pageEnd{things: "models", offset: offset, count: list.Count, more: list.More > 0}
	list.ending = end.ending()
	return json.Marshal(list)
}

// foundModel is a model that a query is about.
type foundModel struct {
	scope access.Scope
	score catalog.Score
}

// rank returns the models that the token may view and that have one of the words: those with more of the words first, then
// those where they stand in a better place, then by name. Without words it returns all.
func (c *call) rank(words []string) []foundModel {
	known := c.catalog.Words()
	var found []foundModel
	for _, m := range c.catalog.Models() {
		scope, ok := c.token.Scope(m)
		if !ok {
			continue
		}
		f := foundModel{scope: scope}
		if len(words) > 0 {
			if f.score = known[m.Index].Score(words); f.score.Words == 0 {
				continue
			}
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b foundModel) int {
		return cmp.Or(cmp.Compare(b.score.Words, a.score.Words), cmp.Compare(b.score.Weight, a.score.Weight))
	})
	return found
}

func (c *call) modelInfo(scope access.Scope, withFields bool) modelInfo {
	m := scope.Model()
	info := modelInfo{ModelName: m.Name, AppLabel: m.Module, Description: m.Description(), Operations: []string{}}
	if label := m.Declared.VerboseName; label != strings.ReplaceAll(m.Name, "_", " ") {
		info.VerboseName = label
	}
	if !m.Declared.Expose {
		info.ToolsExposed = new(bool)
	}
	for _, op := range offeredTo(c.catalog, c.token, m) {
		info.Operations = append(info.Operations, op.Name)
	}
	if withFields {
		for _, f := range scope.Fields() {
			text := f.Name + " " + f.Column.Kind.String()
			if f.Masked {
				text += " (masked)"
			}
			info.Fields = append(info.Fields, text)
		}
		for _, r := range scope.Relations() {
			info.Relations = append(info.Relations, r.Name+" "+r.Target.Name)
		}
	}
	return info
}

// operationsOfMost are the operations that most of the models have; of several such, the first.
func operationsOfMost(models []modelInfo) []string {
	most, mostModels, counts := []string{}, 0, map[string]int{}
	for _, m := range models {
		counts[strings.Join(m.Operations, ",")]++
	}
	for _, m := range models {
		if n := counts[strings.Join(m.Operations, ",")]; n > mostModels {
			most, mostModels = m.Operations, n
		}
	}
	return most
}
