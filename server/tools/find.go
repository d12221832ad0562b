package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// mostFound is how many models one answer of find_models names.
const mostFound = 50

// mostWords is how many words of a query count.
const mostWords = 10

// detailFields is the detail with which find_models tells of fields and relations.
const detailFields = "fields"

var findModelsOperation = call.WithArguments(call.FindModels, call.Operation{
	Description: func(*catalog.Model) string {
		return "Find the models (tables) that you may view, with the operations that you may use on them; a model with others names its own. Start here."
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[modelList]() },
}, findModels,
	call.Argument[findArguments]{Name: "query", Into: func(a *findArguments) any { return &a.query },
		Help: "words to look for in names, descriptions and fields, the best match first; all models without it"},
	call.Argument[findArguments]{Name: "detail", Into: func(a *findArguments) any { return &a.detail },
		Schema: func(*catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"string"}, Enum: []any{detailFields}}
		},
		Help: "fields: with the fields and relations of each"},
	call.Argument[findArguments]{Name: "offset", Into: func(a *findArguments) any { return &a.offset }, Help: fmt.Sprintf("an answer has %d models", mostFound)},
)

type findArguments struct {
	query, detail string
	offset        call.Count
}

// modelList is find_models' payload.
type modelList struct {
	Count int `json:"count"`
	// More is how many models match behind those that are named.
	More int `json:"more,omitempty"`
	// Operations are those on each model that does not name its own.
	Operations []string    `json:"operations"`
	Models     []modelInfo `json:"models"`
	call.Ending
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
	// Measures and Segments are those that a call can name, with what they mean.
	Measures []string `json:"measures,omitempty"`
	Segments []string `json:"segments,omitempty"`
}

// findModels answers the registered models that the token may view, exposed or not: those that a word of the query is
// about, the best match first, or all of them by name.
func findModels(c *call.Call, a *findArguments) ([]byte, error) {
	if a.detail != "" && a.detail != detailFields {
		return nil, call.Invalid("detail must be %s, or be left out", detailFields)
	}
	if why := unready(c.Catalog); why != "" {
		return nil, call.Failf(call.CodeUnavailable, "%s", why)
	}
	if a.query != "" { // there are too many questions to keep their answers
		return foundModels(c.Catalog, c.Token, c.Token, a), nil
	}
	key := call.ShelfKey{What: call.FindModels, About: fmt.Sprint(a.detail, " ", a.offset.Or(0)), Rights: c.Token.RightsKey()}
	return c.AnswerKept(call.Take(c.Shelf, key, func() *call.KeptAnswer {
		return call.AnswerToKeep(foundModels(c.Catalog, c.Token.Anyone(), c.Token, a))
	})), nil
}

// foundModels is the answer of find_models. caller is the token itself, which has the same rights; which declared measures and
// segments it has is found with it, and depends on nothing else.
func foundModels(models *catalog.Catalog, token, caller access.Token, a *findArguments) []byte {
	words := catalog.WordsOf(a.query)
	found := rank(models, token, caller, words[:min(len(words), mostWords)])
	offset := min(a.offset.Or(0), len(found))
	found = found[offset:]
	list := modelList{More: max(0, len(found)-mostFound), Models: []modelInfo{}}
	for _, f := range found[:min(len(found), mostFound)] {
		info := describeFound(models, f.scope, a.detail == detailFields)
		measures, segments := declaredFor(models, caller.Reach(f.scope.Model()))
		info.Measures, info.Segments = meanings(measures), meanings(segments)
		list.Models = append(list.Models, info)
	}
	list.Operations = operationsOfMost(list.Models)
	for i := range list.Models {
		if m := &list.Models[i]; slices.Equal(m.Operations, list.Operations) {
			m.Operations = nil
		}
	}
	list.Count = len(list.Models)
	end := call.PageEnd{Things: "models", Offset: offset, Count: list.Count, More: list.More > 0}
	list.Ending = end.Ending()
	answer, _ := json.Marshal(list) // strings and numbers: it cannot fail
	return answer
}

// foundModel is a model that a query is about.
type foundModel struct {
	scope access.Scope
	score catalog.Score
}

// rank returns the models that the token may view and that have one of the words: those with more of the words first, then
// those where they stand in a better place, then by name. Without words it returns all.
func rank(models *catalog.Catalog, token, caller access.Token, words []string) []foundModel {
	known := models.Words()
	var found []foundModel
	for _, m := range models.Models() {
		scope, ok := token.Scope(m)
		if !ok {
			continue
		}
		f := foundModel{scope: scope}
		if len(words) > 0 {
			if f.score = scoreOf(models, known[m.Index], caller.Reach(m), words); f.score.Words == 0 {
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

// scoreOf is how much a model is about words. Its measures and segments count if the caller has them, which is asked only if it
// matters.
func scoreOf(models *catalog.Catalog, known catalog.ModelWords, scope access.Scope, words []string) catalog.Score {
	plain, declared := known.Score(words), scope.Model().Declared
	if len(declared.Measures)+len(declared.Segments) == 0 {
		return plain
	}
	all := known.With(declared.Measures).With(declared.Segments)
	if all.Score(words) == plain {
		return plain
	}
	measures, segments := declaredFor(models, scope)
	theirs := known.With(measures).With(segments)
	return theirs.Score(words)
}

// declaredFor are the measures and segments that the token of a scope can name in calls.
func declaredFor(models *catalog.Catalog, scope access.Scope) (measures, segments []contract.Declared) {
	offered := func(name string) bool {
		return slices.ContainsFunc(call.OfferedTo(models, scope.Token(), scope.Model()), func(op *call.Operation) bool { return op.Name == name })
	}
	declared := scope.Model().Declared
	if len(declared.Measures) > 0 && offered("aggregate") {
		measures = read.Measures(scope)
	}
	if len(declared.Segments) > 0 && (offered("list") || offered("aggregate")) {
		segments = read.Segments(scope)
	}
	return measures, segments
}

// meanings are names with what they mean.
func meanings(all []contract.Declared) []string {
	var texts []string
	for _, d := range all {
		text := d.Name
		if d.Description != "" {
			text += ": " + d.Description
		}
		texts = append(texts, text)
	}
	return texts
}

func describeFound(models *catalog.Catalog, scope access.Scope, withFields bool) modelInfo {
	m := scope.Model()
	info := modelInfo{ModelName: m.Name, AppLabel: m.Module, Description: m.Description(), Operations: []string{}}
	if label := m.Declared.VerboseName; label != strings.ReplaceAll(m.Name, "_", " ") {
		info.VerboseName = label
	}
	if !m.Declared.Expose {
		info.ToolsExposed = new(bool)
	}
	for _, op := range call.OfferedTo(models, scope.Token(), m) {
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
