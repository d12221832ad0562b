package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// fixture is an endpoint with what the suite asks for by name, as far as an endpoint can give it: texts, and questions by forms. It has
// the settings and authentication of the endpoint inside, whose only model is a table of jobs: a job waits until people allow it.
type fixture struct {
	mcp.Endpoint
	jobs jobs
}

const fixtureTools = `[
	{"name":"test_simple_text","description":"Returns a text.","inputSchema":{"type":"object"}},
	{"name":"test_error_handling","description":"Always fails.","inputSchema":{"type":"object"}},
	` + askingTools + `,
	` + jobTools + `,
	{"name":"test_logging_tool","description":"Has something to log, for whoever asks for it.","inputSchema":{"type":"object"}},
	{"name":"json_schema_2020_12_tool","description":"Tool with JSON Schema 2020-12 features","inputSchema":{
		"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
			"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}}
]`

// Tools implements mcp.Endpoint.
func (*fixture) Tools(_ access.Token, _ tools.View, packed bool) tools.List {
	return tools.ListOf([]byte(fixtureTools), packed)
}

// Call implements mcp.Endpoint.
func (f *fixture) Call(ctx context.Context, token access.Token, tool string, arguments []byte) call.Result {
	return f.CallElicited(ctx, token, tool, arguments, nil)
}

// CallElicited implements mcp.Endpoint.
func (f *fixture) CallElicited(ctx context.Context, token access.Token, tool string, arguments []byte, elicited *call.Elicited) call.Result {
	if result, ok := ask(tool, elicited); ok {
		return result
	}
	if result, ok := f.job(ctx, token, tool, arguments, elicited); ok {
		return result
	}
	switch tool {
	case "test_simple_text", "test_logging_tool", "json_schema_2020_12_tool":
		return call.Result{Text: []byte("This is a simple text response for testing.")}
	case "test_error_handling":
		return failure(call.CodeInternal, "This tool intentionally returns an error for testing")
	}
	r := failure(call.CodeNotFound, "Unknown tool: "+tool)
	r.UnknownTool = true
	return r
}

func failure(code call.Code, message string) call.Result {
	return call.Result{IsError: true, Code: code, Message: message, Text: encode(map[string]any{"error": message, "code": code})}
}

const fixturePrompts = `[
	{"name":"test_simple_prompt","description":"A prompt without arguments.","arguments":[]},
	{"name":"test_prompt_with_arguments","description":"A prompt with two arguments.","arguments":[
		{"name":"arg1","description":"First test argument","required":true},
		{"name":"arg2","description":"Second test argument","required":true}]}
]`

// AppendPrompts implements mcp.Endpoint.
func (*fixture) AppendPrompts(dst []byte, _ access.Token) []byte {
	return append(dst, fixturePrompts...)
}

// Prompt implements mcp.Endpoint.
func (*fixture) Prompt(_ access.Token, _ tools.View, name string, arguments []byte) (tools.Prompt, error) {
	switch name {
	case "test_simple_prompt":
		return tools.Prompt{Description: "A prompt without arguments.", Text: "This is a simple prompt for testing."}, nil
	case "test_prompt_with_arguments":
		var given struct{ Arg1, Arg2 string }
		if err := json.Unmarshal(arguments, &given); err != nil || given.Arg1 == "" || given.Arg2 == "" {
			return tools.Prompt{}, errors.New("arg1 and arg2 are required")
		}
		text := fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", given.Arg1, given.Arg2)
		return tools.Prompt{Description: "A prompt with two arguments.", Text: text}, nil
	}
	return tools.Prompt{}, errors.New("unknown prompt " + name)
}

const (
	staticText     = "test://static-text"
	templatePrefix = "test://template/"
	templateSuffix = "/data"
)

// AppendResources implements mcp.Endpoint.
func (*fixture) AppendResources(dst []byte, _ access.Token, _ tools.View) []byte {
	return append(dst, `[{"uri":"`+staticText+`","name":"static text","description":"A text that never changes.","mimeType":"application/json"}]`...)
}

// AppendResourceTemplates implements mcp.Endpoint.
func (*fixture) AppendResourceTemplates(dst []byte, _ access.Token, _ tools.View) []byte {
	return append(dst, `[{"uriTemplate":"`+templatePrefix+`{id}`+templateSuffix+`","name":"template","description":"A text about an id.","mimeType":"application/json"}]`...)
}

// ReadResource implements mcp.Endpoint.
func (*fixture) ReadResource(_ context.Context, _ access.Token, uri string) call.Result {
	if uri == staticText {
		return call.Result{Text: []byte(`"This is the content of the static text resource."`)}
	}
	if rest, ok := strings.CutPrefix(uri, templatePrefix); ok {
		if id, ok := strings.CutSuffix(rest, templateSuffix); ok {
			return call.Result{Text: encode(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})}
		}
	}
	return failure(call.CodeNotFound, "Resource "+uri+" not found")
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and a boolean: it cannot fail
	}
	return text
}
