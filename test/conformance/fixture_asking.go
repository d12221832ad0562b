package main

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The tools that ask the caller's person, as an action's confirmation does. What they carry from round to round is in the requestState
// that the handler seals.
const (
	askName   = "test_input_required_result_elicitation"
	askState  = "test_input_required_result_request_state"
	askTamper = "test_input_required_result_tampered_state"
	askRounds = "test_input_required_result_multi_round"
	askStream = "test_streaming_elicitation"
)

const askingTools = `{"name":"` + askName + `","description":"Asks for a name.","inputSchema":{"type":"object"}},
	{"name":"` + askState + `","description":"Asks for a yes.","inputSchema":{"type":"object"}},
	{"name":"` + askTamper + `","description":"Asks for a yes.","inputSchema":{"type":"object"}},
	{"name":"` + askRounds + `","description":"Asks twice.","inputSchema":{"type":"object"}},
	{"name":"` + askStream + `","description":"Asks for a name.","inputSchema":{"type":"object"}}`

// ask runs a tool that asks; false if it is none.
func ask(tool string, elicited *call.Elicited) (call.Result, bool) {
	switch tool {
	case askName, askStream:
		if name, ok := given(elicited, "user_name", "name"); ok {
			return said("Hello, " + name + "!"), true
		}
		return question("user_name", "What is your name?", "name", "string", "name"), true
	case askState, askTamper:
		if _, ok := given(elicited, "confirm", "ok"); ok && elicited.Carried != "" {
			return said("state-ok"), true
		}
		return question("confirm", "Please confirm", "ok", "boolean", "asked"), true
	case askRounds:
		if color, ok := given(elicited, "step2", "color"); ok && elicited.Carried != "" {
			return said(elicited.Carried + " likes " + color), true
		}
		if name, ok := given(elicited, "step1", "name"); ok {
			return question("step2", "Step 2: What is your favorite color?", "color", "string", name), true
		}
		return question("step1", "Step 1: What is your name?", "name", "string", "first"), true
	}
	return call.Result{}, false
}

// given is what a person gave in a form that they accepted.
func given(elicited *call.Elicited, key, field string) (string, bool) {
	if elicited == nil || elicited.Results[key].Action != call.Accept {
		return "", false
	}
	value, ok := elicited.Results[key].Content[field]
	return call.PlainText(value), ok
}

// question asks for one field. A client that cannot be asked gets the text.
func question(key, message, field, kind, carried string) call.Result {
	schema := encode(map[string]any{"type": "object", "properties": map[string]any{field: map[string]string{"type": kind}}, "required": []string{field}})
	r := said(message)
	r.Elicitation = &call.Elicitation{Key: key, Message: message, Schema: json.RawMessage(schema), Carried: carried}
	return r
}

func said(text string) call.Result { return call.Result{Text: []byte(text)} }
