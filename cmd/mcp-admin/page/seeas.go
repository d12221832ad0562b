package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// trialTime is how long the endpoint may take to answer.
const trialTime = 20 * time.Second

// seeing is what a token is given.
type seeing struct {
	// Tokens are names to choose from, More how many others there are.
	Tokens []string
	More   int
	// Token is the one that was chosen, by its namespace and name; "" before.
	Token, Namespace, Name string
	Groups                 []string
	// All is how many tools it has, Bytes how many bytes their list has, Reads how many of them only read.
	All, Bytes, Reads int
	Tools             []toolRow
	Pages             pages
	// Issuers says that the endpoint lets in callers of identity providers.
	Issuers bool
	// InCluster says that the token's text is in a Secret, which the person must be allowed to read.
	InCluster bool
}

// toolRow is a tool. Share is what it takes of the list, as percents of the largest tool's part.
type toolRow struct {
	Name, About  string
	Bytes, Share int
	Reads        bool
}

// perTools is how many tools are on a page, mostAbout how many characters of what each does.
const (
	perTools  = 100
	mostAbout = 160
)

// seeAs shows what a token is given.
func (q *request) seeAs() (any, error) {
	q.Title = "See as"
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	s := &seeing{Token: strings.TrimSpace(q.FormValue("token")), InCluster: q.source().Cluster() != nil, Issuers: len(objects.Endpoint.Spec.Authentication.OIDC) > 0}
	for i := range objects.Tokens {
		if len(s.Tokens) < mostNames {
			s.Tokens = append(s.Tokens, cluster.Key(&objects.Tokens[i]).String())
		}
	}
	slices.Sort(s.Tokens)
	s.More = len(objects.Tokens) - len(s.Tokens)
	if s.Token == "" {
		return s, nil
	}
	token, err := tokenIn(objects.Tokens, q.key().Namespace, s.Token)
	if err != nil {
		return nil, err
	}
	s.Token, s.Namespace, s.Name, s.Groups = cluster.Key(token).String(), token.Namespace, token.Name, token.Spec.NamedGroups()
	q.Title = "See as " + s.Token
	q.alike(q.source().Command("call", cluster.Key(token), token.Name))
	ctx, cancel := context.WithTimeout(q.Context(), trialTime)
	defer cancel()
	callee, err := q.source().Callee(ctx, q.key(), cluster.Key(token))
	if err != nil {
		return nil, err
	}
	tools, err := callee.List(ctx, q.client())
	if err != nil {
		return nil, err
	}
	largest := 1
	for _, t := range tools {
		largest = max(largest, t.Bytes)
		s.Bytes += t.Bytes
		if reads(t.Tool) {
			s.Reads++
		}
	}
	s.All = len(tools)
	s.Pages = q.pagesOf(len(tools), perTools, "page", "tools")
	for _, t := range tools[s.Pages.first:s.Pages.last] {
		about, _, _ := strings.Cut(t.Description, "\n")
		s.Tools = append(s.Tools, toolRow{t.Name, bounded(about, mostAbout), t.Bytes, max(1, t.Bytes*100/largest), reads(t.Tool)})
	}
	return s, nil
}

// tokenIn is the token of that name, NAME or NAMESPACE/NAME, among an endpoint's.
func tokenIn(tokens []v1alpha1.MCPToken, namespace, name string) (*v1alpha1.MCPToken, error) {
	if !strings.Contains(name, "/") {
		name = namespace + "/" + name
	}
	i := slices.IndexFunc(tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t).String() == name })
	if i < 0 {
		return nil, &unknownToken{token: name}
	}
	return &tokens[i], nil
}

// client is what the endpoint is told who calls: audit lines tell it, and nobody checks it.
func (q *request) client() string { return "mcp-admin's page, of " + q.source().Person() }

// reads reports whether the endpoint says of a tool that it changes nothing.
func reads(t *mcp.Tool) bool { return t.Annotations != nil && t.Annotations.ReadOnlyHint }

// trial is a call of a tool as a token's holder.
type trial struct {
	Token, Namespace, Name string
	Tool, About            string
	Bytes                  int
	// Arguments are what the form has; Schema is what the tool takes.
	Arguments, Schema string
	// NoArguments says that it takes nothing.
	NoArguments bool
	// Problem says why nothing was called.
	Problem string
	// Answer is nil before a call.
	Answer *answer
}

// answer is what came of a call: rows, or fields of a description, or the text as it is.
type answer struct {
	*call.Rows
	// RowsLeft is how many rows are not shown.
	RowsLeft int
	Fields   []described
	// Policy says which rows the token sees of the described model.
	Policy string
	Text   string
	// Error and Code are those of a refusal.
	Error, Code string
	Bytes       int
	Took        time.Duration
}

// described is a field of a described model.
type described struct {
	Name, Type, Help string
	Related          string
}

// perAnswer and maxAnswer bound what is shown of an answer: rows, and characters.
const (
	perAnswer = 100
	maxAnswer = 20_000
)

// try tries a tool that only reads.
func (q *request) try() (any, error) {
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	token, err := tokenIn(objects.Tokens, "", q.PathValue("tokens")+"/"+q.PathValue("token"))
	if err != nil {
		return nil, err
	}
	key := cluster.Key(token)
	t := &trial{Token: key.String(), Namespace: key.Namespace, Name: key.Name, Tool: q.PathValue("tool"), Arguments: strings.TrimSpace(q.FormValue("arguments"))}
	q.Title = t.Tool + " as " + t.Token
	ctx, cancel := context.WithTimeout(q.Context(), trialTime)
	defer cancel()
	callee, err := q.source().Callee(ctx, q.key(), key)
	if err != nil {
		return nil, err
	}
	tools, err := callee.List(ctx, q.client())
	if err != nil {
		return nil, err
	}
	model := ""
	i := slices.IndexFunc(tools, func(one call.Listed) bool { return one.Name == t.Tool })
	if i < 0 { // of many models the token has one generic tool, which takes the model
		i, model = genericOf(tools, t.Tool)
	}
	switch {
	case i < 0:
		return nil, fmt.Errorf("MCPToken %s is given no tool %q", t.Token, t.Tool)
	case !reads(tools[i].Tool):
		return nil, fmt.Errorf("the tool %s changes something; only tools that read can be tried here", t.Tool)
	}
	t.Tool, t.About, t.Bytes = tools[i].Name, tools[i].Description, tools[i].Bytes
	q.Title = t.Tool + " as " + t.Token
	t.Schema = indented(tools[i].InputSchema)
	t.NoArguments = len(inputSchema(tools[i].Tool).Properties) == 0
	if t.Arguments == "" {
		t.Arguments = exampleOf(tools[i].Tool, model)
	}
	q.alikeCall(key, t)
	if !q.URL.Query().Has("arguments") && !t.NoArguments {
		return t, nil
	}
	arguments, err := check(tools[i].Tool, t.Arguments)
	if err != nil {
		t.Problem = sentenceCase(err.Error())
		return t, nil
	}
	t.Answer, err = q.ask(ctx, callee, t.Tool, arguments)
	return t, err
}

// alikeCall adds the command that makes the same call.
func (q *request) alikeCall(token types.NamespacedName, t *trial) {
	args := []string{token.Name, t.Tool}
	if compact := new(bytes.Buffer); json.Compact(compact, []byte(t.Arguments)) == nil && compact.String() != "{}" {
		args = append(args, "--json", compact.String())
	}
	q.alike(q.source().Command("call", token, args...))
}

// inputOf has the needed parts of a tool's input schema.
type inputOf struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
}

func inputSchema(tool *mcp.Tool) *inputOf {
	input := &inputOf{}
	encoded, err := json.Marshal(tool.InputSchema)
	if err == nil {
		_ = json.Unmarshal(encoded, input) // what it does not say is not checked
	}
	return input
}

// genericOf is the generic tool that does the same as the tool of a model, such as list for list_order, and that model; -1 if there is none.
func genericOf(tools []call.Listed, name string) (at int, model string) {
	operation, model, _ := strings.Cut(name, "_")
	at = slices.IndexFunc(tools, func(one call.Listed) bool {
		_, takes := inputSchema(one.Tool).Properties["model"]
		return one.Name == operation && takes && model != ""
	})
	return at, model
}

// exampleOf are arguments to begin with. The model is for generic tools; "" is none.
func exampleOf(tool *mcp.Tool, model string) string {
	input := inputSchema(tool)
	example := map[string]any{}
	for _, name := range input.Required {
		switch of := input.Properties[name].Type.(type) {
		case string:
			example[name] = map[string]any{"integer": 1, "number": 1, "boolean": false, "array": []any{}, "object": map[string]any{}, "string": ""}[of]
		case []any:
			example[name] = 1
		default:
			example[name] = ""
		}
	}
	if _, takes := input.Properties["model"]; takes && model != "" {
		example["model"] = model
	}
	_, limited := input.Properties["limit"]
	_, computes := input.Properties["measures"]
	switch {
	case computes:
		example["measures"] = map[string]any{"rows": map[string]any{"count": "*"}}
	case limited:
		example["limit"] = 10
	}
	text, _ := json.Marshal(example) // numbers and texts: it cannot fail
	return string(text)
}

// check reads arguments, and looks whether those are there that the tool needs. What else is wrong the endpoint says, and better.
func check(tool *mcp.Tool, text string) (map[string]any, error) {
	arguments, err := call.ReadArguments(text)
	if err != nil {
		return nil, fmt.Errorf("the arguments cannot be sent: %w", err)
	}
	for _, name := range inputSchema(tool).Required {
		if _, given := arguments[name]; !given {
			return nil, fmt.Errorf("the tool %s needs the argument %q", tool.Name, name)
		}
	}
	return arguments, nil
}

// ask makes the call.
func (q *request) ask(ctx context.Context, callee *call.Callee, tool string, arguments map[string]any) (*answer, error) {
	session, err := callee.Open(ctx, q.client())
	if err != nil {
		return nil, err
	}
	defer session.Close()
	start := q.page.now()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, err
	}
	return answerOf(result, q.page.now().Sub(start)), nil
}

func answerOf(result *mcp.CallToolResult, took time.Duration) *answer {
	a := &answer{Took: took.Round(100 * time.Microsecond)}
	text := call.TextOf(result)
	a.Bytes = len(text)
	if result.IsError {
		said, _ := call.ReadFailure(text)
		a.Error, a.Code = said.Error, said.Code
		return a
	}
	if rows, ok := call.ReadRows(text); ok {
		if a.Rows = rows; len(rows.Cells) > perAnswer {
			a.RowsLeft = len(rows.Cells) - perAnswer
			rows.Cells = rows.Cells[:perAnswer]
		}
	} else {
		a.Fields, a.Policy = describedIn(text)
	}
	a.Text = text
	if indented := new(bytes.Buffer); json.Indent(indented, []byte(text), "", "  ") == nil {
		a.Text = indented.String()
	}
	a.Text = bounded(a.Text, maxAnswer)
	return a
}

// describedIn are the fields that a description of a model tells.
func describedIn(text string) (fields []described, policy string) {
	var told struct {
		Rows   string
		Fields []struct {
			Name, Type string
			Help       string `json:"help_text"`
			Related    string `json:"related_model"`
		}
	}
	if json.Unmarshal([]byte(text), &told) != nil {
		return nil, ""
	}
	for _, f := range told.Fields {
		if f.Type != "" {
			fields = append(fields, described{f.Name, f.Type, f.Help, f.Related})
		}
	}
	if len(fields) == 0 {
		return nil, ""
	}
	return fields, told.Rows
}

func indented(value any) string {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return ""
	}
	return bounded(string(text), maxAnswer)
}
