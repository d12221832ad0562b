package engines

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// texts holds all texts that a caller gets (instructions, prompts, tools and their arguments) against the list that the
// same caller gets, and against what calls do.
func texts(s *suite, t *testing.T) {
	keeping := start(t, s.Engine, func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_kept"} })
	for _, query := range []string{"?tools=per-model", "?tools=generic", "?tools=generic&models=book,author", "?tools=per-model&models=country,jotting", "?tools=generic&models=country,jotting"} {
		for _, token := range []string{"root", "viewer", "clerk", "adder", "deleter", "bookish", "editor"} {
			s.check(t, token+" at "+query, func(t *testing.T) {
				for _, on := range []*suite{s, keeping} {
					r := callerTexts{suite: on, token: token, query: query}
					r.take(t)
					r.namedToolsAreListed(t)
					r.examplesWork(t)
					r.listedArgumentsWork(t)
				}
			})
		}
	}
	s.check(t, "every argument that works is listed in one of the faces", func(t *testing.T) {
		for _, on := range []*suite{s, keeping} {
			everyArgumentIsListed(on, t)
		}
	})
	s.check(t, "what the lists say of measures leads to calls that work", func(t *testing.T) {
		for query, tool := range map[string]string{"?tools=per-model": "aggregate_book", "?tools=generic": "aggregate"} {
			r := callerTexts{suite: s, token: "root", query: query}
			r.take(t)
			for _, words := range []string{`{n: {count: "*"}`, `{sum: field, filters:`, `{ratio: [s, n]}`, `{n__gte: 2}`, `[-n]`} {
				if !strings.Contains(r.told["the tool "+tool], words) {
					t.Errorf("%s: %s does not say %s: %s", query, tool, words, r.told["the tool "+tool])
				}
			}
			groups := s.ok(t, "root", tool, `{`+map[string]string{"aggregate": `"model":"book",`}[tool]+
				`"measures":{"n":{"count":"*"},"s":{"sum":"price","filters":{"id__gt":0}},"r":{"ratio":["s","n"]}},"group_by":["author_id"],"having":{"n__gte":2},"order_by":["-n"]}`)
			for _, group := range at(t, groups, "results").([]any) {
				if n := fmt.Sprint(group.(object)["n"]); n == "0" || n == "1" || group.(object)["r"] == nil {
					t.Errorf("%s: the group %v", query, group)
				}
			}
			if len(at(t, groups, "results").([]any)) == 0 {
				t.Error("no author has two books")
			}
		}
	})
	s.check(t, "a URL that names no model is told so", func(t *testing.T) {
		for _, style := range []string{"per-model", "generic"} {
			r := callerTexts{suite: s, token: "root", query: "?tools=" + style + "&models=nosuch"}
			r.take(t)
			if len(r.tools) != 1 || !strings.Contains(r.tools[0].Description, "nosuch") || !strings.Contains(r.told["the instructions"], "nosuch") {
				t.Errorf("%s: %+v\n%s", style, r.tools, r.told["the instructions"])
			}
		}
	})
	s.check(t, "a model without inlines or relations has none", func(t *testing.T) {
		for tool, arguments := range map[string]string{"get": `{"model":"sample","id":1,"include_inlines":true,"include_related":true}`, "get_sample": `{"id":1,"include_inlines":true,"include_related":true}`} {
			row := s.ok(t, "root", tool, arguments)
			want(t, row, `{}`, "_inlines")
			want(t, row, `{}`, "_related")
		}
	})
}

// callerTexts are all texts of an endpoint that one caller reads.
type callerTexts struct {
	*suite
	token, query string
	tools        []listedTool
	names        map[string]bool
	// told are the texts by what they are.
	told map[string]string
}

type listedTool struct {
	Name, Description string
	InputSchema       struct {
		Properties map[string]struct {
			Type        any
			Description string
			Enum        []any
		}
	}
}

// rpc makes one JSON-RPC request and reads its result.
func (r *callerTexts) rpc(t *testing.T, method, params string, into any) {
	t.Helper()
	_, body := r.endpoint.PostTo(r.query, secret(r.token), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	var answer struct {
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error != nil || json.Unmarshal(answer.Result, into) != nil {
		t.Fatalf("%s %s: %s", method, params, body)
	}
}

// take reads the list and all texts.
func (r *callerTexts) take(t *testing.T) {
	t.Helper()
	r.takeList(t)
	var hello struct{ Instructions string }
	r.rpc(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`, &hello)
	r.told["the instructions"] = hello.Instructions
	r.prompt(t, "explore_models", "")
	r.prompt(t, "bulk_operations_guide", "")
	for _, model := range r.models() {
		r.prompt(t, "understand_model", model)
		r.prompt(t, "crud_guide", model)
	}
}

// takeList reads the list and its texts.
func (r *callerTexts) takeList(t *testing.T) {
	t.Helper()
	var list struct{ Tools []listedTool }
	r.rpc(t, "tools/list", "{}", &list)
	r.tools, r.names, r.told = list.Tools, map[string]bool{}, map[string]string{}
	for _, tool := range r.tools {
		r.names[tool.Name] = true
		text := tool.Description
		for _, p := range tool.InputSchema.Properties {
			text += "\n" + p.Description
		}
		r.told["the tool "+tool.Name] = text
	}
}

// models are the models that have tools in the list, and that the token may view.
func (r *callerTexts) models() []string {
	var found []string
	for _, m := range models() {
		shown, _ := r.endpoint.Call(secret(r.token), "find_models", `{}`)
		_, only, narrowed := strings.Cut(r.query, "models=")
		if strings.Contains(shown, fmt.Sprintf(`"model_name":%q`, m.Name)) && (!narrowed || slices.Contains(strings.Split(only, ","), m.Name)) {
			found = append(found, m.Name)
		}
	}
	return found
}

func (r *callerTexts) prompt(t *testing.T, name, model string) {
	t.Helper()
	var got struct {
		Messages []struct{ Content struct{ Text string } }
	}
	r.rpc(t, "prompts/get", fmt.Sprintf(`{"name":%q,"arguments":{"model_name":%q}}`, name, model), &got)
	r.told["the prompt "+name+" "+model] = got.Messages[0].Content.Text
}

var (
	ofModel = regexp.MustCompile(`\b(` + strings.Join(contract.OperationNames(), "|") + `)_(<model>|[a-z_]+)?`)
	byModel = regexp.MustCompile(`\b(` + strings.Join(contract.OperationNames(), "|") + `) \{"model"`)
	global  = regexp.MustCompile(`\b(find_models|transact|undo) (\{|takes)|\b(find_models|transact)\b`)
)

// namedToolsAreListed makes sure that no text names a tool that the list does not have.
func (r *callerTexts) namedToolsAreListed(t *testing.T) {
	t.Helper()
	all := r.endpoint.Status().Models
	isModel := func(name string) bool {
		return slices.ContainsFunc(all, func(m contract.ModelStatus) bool { return m.Name == name })
	}
	some := func(operation string) bool {
		return slices.ContainsFunc(r.tools, func(tool listedTool) bool { return strings.HasPrefix(tool.Name, operation+"_") })
	}
	for _, what := range slices.Sorted(maps.Keys(r.told)) {
		text := r.told[what]
		for _, named := range ofModel.FindAllStringSubmatch(text, -1) {
			listed := true
			switch operation, model := named[1], named[2]; {
			case model == "<model>" || model == "":
				listed = some(operation)
			case isModel(model):
				listed = r.names[operation+"_"+model]
			}
			if !listed {
				t.Errorf("%s names %s, which the list does not have", what, named[0])
			}
		}
		for _, named := range byModel.FindAllStringSubmatch(text, -1) {
			if !r.names[named[1]] {
				t.Errorf("%s names the generic tool %s, which the list does not have", what, named[1])
			}
		}
		for _, named := range global.FindAllStringSubmatch(text, -1) {
			if name := named[1] + named[3]; !r.names[name] {
				t.Errorf("%s names %s, which the list does not have", what, name)
			}
		}
		if strings.Contains(what, "instructions") && strings.Contains(text, "_guide") {
			t.Error("the instructions send the caller to prompts, which only people start")
		}
	}
}

var example = regexp.MustCompile(`(?m)\b([a-z_]+) (\{".*)$`)

// examplesWork makes each call that a prompt shows. What the rows of the database decide (whether there is such an id, or such a
// value already) an example cannot know.
func (r *callerTexts) examplesWork(t *testing.T) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(r.told)) {
		if !strings.HasPrefix(what, "the prompt") {
			continue
		}
		for _, found := range example.FindAllStringSubmatch(r.told[what], -1) {
			tool, rest := found[1], found[2]
			var arguments map[string]any
			if json.NewDecoder(strings.NewReader(rest)).Decode(&arguments) != nil || !r.names[tool] {
				continue // a piece of another call, or with an ellipsis
			}
			if operation, _, _ := strings.Cut(tool, "_"); operation == "bulk" && r.names["transact"] {
				tool, arguments = "transact", map[string]any{"dry_run": true, "steps": []any{map[string]any{"tool": tool, "arguments": arguments}}}
			}
			sent, _ := json.Marshal(arguments) // it was JSON
			answer, failed := r.call(t, r.token, tool, string(sent))
			switch code := fmt.Sprint(answer["code"]); {
			case !failed, code == "not_found", code == "conflict", code == "protected":
			case code == "validation_error" && regexp.MustCompile(`must be unique|names a row that does not exist|no such`).MatchString(fmt.Sprint(answer)):
			default:
				t.Errorf("%s shows %s %s, which fails: %v", what, tool, sent, answer)
			}
		}
	}
}

// refused reports whether an argument is refused whatever its value is.
func refused(answer object, argument string) bool {
	text := fmt.Sprint(answer["error"])
	return strings.Contains(text, fmt.Sprintf("unknown argument %q", argument)) || strings.Contains(text, argument+" is not for") || strings.Contains(text, argument+" cannot be kept") || strings.Contains(text, argument+" is for calls that change")
}

// listedArgumentsWork makes sure that each argument of each listed tool is taken: by its model, or by one of the models that the
// caller's list is about.
func (r *callerTexts) listedArgumentsWork(t *testing.T) {
	t.Helper()
	for _, tool := range r.tools {
		for name, p := range tool.InputSchema.Properties {
			if name == "model" {
				continue
			}
			on := []string{""}
			if _, generic := tool.InputSchema.Properties["model"]; generic && tool.Name != "undo" {
				on = r.written()
			}
			if !slices.ContainsFunc(on, func(model string) bool { return r.takes(t, tool.Name, model, name, p.Type) }) {
				t.Errorf("%s of %s is listed, and always refused", name, tool.Name)
			}
			if operation, _, _ := strings.Cut(tool.Name, "_"); operation == "bulk" && name == "operation" {
				for _, value := range p.Enum {
					r.bulkTakes(t, tool.Name, on, fmt.Sprint(value))
				}
			}
		}
	}
}

// written are the models of the caller's list, whether or not it may view them.
func (r *callerTexts) written() []string {
	_, only, narrowed := strings.Cut(r.query, "models=")
	if narrowed {
		return strings.Split(only, ",")
	}
	var all []string
	for _, m := range models() {
		all = append(all, m.Name)
	}
	return all
}

var samples = map[string]string{"string": `"x"`, "integer": `1`, "number": `1`, "boolean": `true`, "array": `[]`, "object": `{}`, "<nil>": `1`}

// takes reports whether a call with this one argument says nothing against the argument itself.
func (r *callerTexts) takes(t *testing.T, tool, model, name string, kind any) bool {
	t.Helper()
	if kinds, several := kind.([]any); several {
		kind = kinds[0]
	}
	arguments := fmt.Sprintf(`{%q:%s}`, name, samples[fmt.Sprint(kind)])
	if name == "id" {
		arguments = `{"id":"424242"}` // nothing is to be deleted
	}
	if model != "" {
		arguments = fmt.Sprintf(`{"model":%q,%s`, model, arguments[1:])
	}
	if tool == "undo" && name == "dry_run" {
		arguments = `{"call":"x","dry_run":true}`
	}
	answer, failed := r.call(t, r.token, tool, arguments)
	return !failed || !refused(answer, name) && answer["code"] != "permission_denied"
}

func (r *callerTexts) bulkTakes(t *testing.T, tool string, on []string, operation string) {
	t.Helper()
	for _, model := range on {
		arguments := fmt.Sprintf(`{"operation":%q,"items":[]}`, operation)
		if model != "" {
			arguments = fmt.Sprintf(`{"model":%q,%s`, model, arguments[1:])
		}
		if answer, failed := r.call(t, r.token, tool, arguments); !failed || answer["code"] != "permission_denied" && !strings.Contains(fmt.Sprint(answer), "must be one of") {
			return
		}
	}
	t.Errorf("the operation %s of %s is listed, and always refused", operation, tool)
}

// everyArgumentIsListed calls each tool of root with each argument that any tool has: arguments that neither face lists
// are refused.
func everyArgumentIsListed(s *suite, t *testing.T) {
	t.Helper()
	faces := map[string]map[string]bool{} // the arguments of an operation of a model, in either face
	kinds := map[string]any{}
	for _, query := range []string{"?tools=generic", "?tools=per-model"} {
		r := callerTexts{suite: s, token: "root", query: query}
		r.take(t)
		for _, tool := range r.tools {
			if contract.FindOperation(tool.Name) != nil && contract.FindOperation(tool.Name).Global {
				continue
			}
			if faces[tool.Name] == nil {
				faces[tool.Name] = map[string]bool{}
			}
			for name, p := range tool.InputSchema.Properties {
				faces[tool.Name][name], kinds[name] = true, p.Type
			}
		}
	}
	for tool, own := range faces {
		operation, model, ofModel := strings.Cut(tool, "_")
		if !ofModel {
			continue
		}
		r := callerTexts{suite: s, token: "root"}
		for name, kind := range kinds {
			if !own[name] && !faces[operation][name] && r.takes(t, tool, "", name, kind) {
				t.Errorf("%s of %s works for %s, and neither face lists it", name, operation, model)
			}
		}
	}
}
