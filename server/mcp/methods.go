package mcp

import (
	"net/http"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The methods, as requests name them.
const (
	methodInitialize    = "initialize"
	methodPing          = "ping"
	methodDiscover      = "server/discover"
	methodListTools     = "tools/list"
	methodCallTool      = "tools/call"
	methodListPrompts   = "prompts/list"
	methodGetPrompt     = "prompts/get"
	methodListResources = "resources/list"
	methodListTemplates = "resources/templates/list"
	methodReadResource  = "resources/read"
	methodGetTask       = "tasks/get"
	methodUpdateTask    = "tasks/update"
	methodCancelTask    = "tasks/cancel"
)

// A method is a method of JSON-RPC.
type method struct {
	// label is its name in metrics.
	label string
	// legacy and modern are the eras that have it.
	legacy, modern bool
	// run appends the answer and returns its status.
	run func(x *exchange, id []byte, m *message) (status int)
	// name returns the member of params that the header Mcp-Name repeats; nil if the method has none.
	name func(*parameters) []byte
}

var methods = byLabel(
	method{methodInitialize, true, false, (*exchange).initialize, nil},
	method{methodPing, true, false, (*exchange).ping, nil},
	method{methodDiscover, false, true, (*exchange).discover, nil},
	method{methodListTools, true, true, (*exchange).listTools, nil},
	method{methodCallTool, true, true, (*exchange).callToolRPC, theName},
	method{methodListPrompts, true, true, (*exchange).listPrompts, nil},
	method{methodGetPrompt, true, true, (*exchange).getPrompt, theName},
	method{methodListResources, true, true, (*exchange).listResources, nil},
	method{methodListTemplates, true, true, (*exchange).listTemplates, nil},
	method{methodReadResource, true, true, (*exchange).readResource, theURI},
	method{methodGetTask, false, true, (*exchange).getTask, theTaskID},
	method{methodUpdateTask, false, true, (*exchange).updateTask, theTaskID},
	method{methodCancelTask, false, true, (*exchange).cancelTask, theTaskID},
)

func byLabel(all ...method) map[string]*method {
	m := make(map[string]*method, len(all))
	for i := range all {
		m[all[i].label] = &all[i]
	}
	return m
}

func theName(p *parameters) []byte   { return p.name }
func theURI(p *parameters) []byte    { return p.uri }
func theTaskID(p *parameters) []byte { return p.taskID }

// initialize answers with the server's name, its abilities, and the version that both sides know.
func (x *exchange) initialize(id []byte, m *message) (status int) {
	if x.inBatch {
		return x.fail(id, codeInvalidRequest, "initialize cannot be part of a batch")
	}
	version := ""
	if isString(m.inside.protocolVersion) {
		version = stringValue(m.inside.protocolVersion)
	}
	x.openResult(id, uncached)
	x.out = append(x.out, `"protocolVersion":`...)
	x.out = jsontext.AppendString(x.out, negotiate(version))
	x.out = append(x.out, `,"serverInfo":`...)
	x.out = append(x.out, x.handler.serverInfo...)
	x.out = append(x.out, ',')
	x.appendAbilities()
	return x.closeResult(id)
}

// discover replaces initialize in 2026-07-28 (Discovery).
func (x *exchange) discover(id []byte, _ *message) (status int) {
	x.openResult(id, listTTL)
	x.out = append(x.out, `"supportedVersions":`...)
	x.out = append(x.out, supportedVersionsJSON...)
	x.out = append(x.out, ',')
	x.appendAbilities()
	return x.closeResult(id)
}

// appendAbilities appends the members that initialize and server/discover share.
func (x *exchange) appendAbilities() {
	x.out = append(x.out, `"capabilities":{"tools":{},"prompts":{},"resources":{}`...)
	if x.protocol.modern && x.offersTasks() {
		x.out = append(x.out, `,"extensions":{"`+tasksExtension+`":{}}`...)
	}
	x.out = append(x.out, '}')
	if instructions := x.endpoint.Instructions(x.token, x.view); instructions != "" {
		x.out = append(x.out, `,"instructions":`...)
		x.out = jsontext.AppendString(x.out, instructions)
	}
}

func (x *exchange) ping(id []byte, _ *message) (status int) {
	x.openResult(id, uncached)
	return x.closeResult(id)
}

// listTools answers tools/list, in both forms.
func (x *exchange) listTools(id []byte, _ *message) (status int) {
	if why := x.endpoint.Unready(); why != "" {
		return x.unready(id, why)
	}
	x.openResult(id, listTTL)
	x.out = append(x.out, `"tools":`...)
	x.putList(x.endpoint.Tools(x.token, x.view, !x.inBatch && acceptsGzip(x.header)))
	return x.closeResult(id)
}

// unready answers that the lists are not known yet: a client would keep an empty one.
func (x *exchange) unready(id []byte, why string) (status int) {
	x.answered.Error = string(call.CodeUnavailable)
	if id == nil { // the simple form
		x.out = appendPlainError(x.out, why)
	} else {
		x.fail(id, codeRefused, why)
	}
	return http.StatusServiceUnavailable
}

func (x *exchange) callToolRPC(id []byte, m *message) (status int) {
	if message := checkCall(m.inside.name, m.inside.arguments); message != "" {
		return x.fail(id, codeInvalidParams, message)
	}
	name := stringValue(m.inside.name)
	var elicited *call.Elicited
	if x.elicits(m) {
		var problem string
		if elicited, problem = x.elicitedOf(name, m); problem != "" {
			return x.fail(id, codeInvalidParams, problem)
		}
	}
	result := x.callTool(name, m.inside.arguments, elicited)
	switch {
	case result.UnknownTool:
		return x.fail(id, codeInvalidParams, "Unknown tool: "+quoted(name))
	case elicited != nil && result.Elicitation != nil:
		return x.elicit(id, name, m, &result)
	case result.Waits != "" && x.offersTasks() && x.hasTasks(m):
		if status = x.makeTask(id, name, m, elicited, &result); status != 0 {
			return status
		}
	}
	x.appendToolResult(id, &result)
	return http.StatusOK
}

func (x *exchange) listPrompts(id []byte, _ *message) (status int) {
	x.openResult(id, listTTL)
	x.out = append(x.out, `"prompts":`...)
	x.out = x.endpoint.AppendPrompts(x.out, x.token)
	return x.closeResult(id)
}

// getPrompt answers with a prompt as one message of the user (interface specification section 4.4).
func (x *exchange) getPrompt(id []byte, m *message) (status int) {
	if !isString(m.inside.name) {
		return x.fail(id, codeInvalidParams, "name is required and must be a string")
	}
	prompt, err := x.endpoint.Prompt(x.token, x.view, stringValue(m.inside.name), m.inside.arguments)
	if err != nil {
		return x.fail(id, codeInvalidParams, err.Error())
	}
	if x.span.Recording() {
		x.span.Set(tracing.PromptName.String(stringValue(m.inside.name)))
	}
	x.openResult(id, uncached)
	x.out = append(x.out, `"description":`...)
	x.out = jsontext.AppendString(x.out, prompt.Description)
	x.out = append(x.out, `,"messages":[{"role":"user","content":{"type":"text","text":`...)
	x.out = jsontext.AppendString(x.out, prompt.Text)
	x.out = append(x.out, "}}]"...)
	return x.closeResult(id)
}

func (x *exchange) listResources(id []byte, _ *message) (status int) {
	if why := x.endpoint.Unready(); why != "" {
		return x.unready(id, why)
	}
	x.openResult(id, listTTL)
	x.out = append(x.out, `"resources":`...)
	x.out = x.endpoint.AppendResources(x.out, x.token, x.view)
	return x.closeResult(id)
}

func (x *exchange) listTemplates(id []byte, _ *message) (status int) {
	if why := x.endpoint.Unready(); why != "" {
		return x.unready(id, why)
	}
	x.openResult(id, listTTL)
	x.out = append(x.out, `"resourceTemplates":`...)
	x.out = x.endpoint.AppendResourceTemplates(x.out, x.token, x.view)
	return x.closeResult(id)
}

// readResource answers with the one content of a resource (interface specification section 4.5). The error of a
// resource that cannot be read has a code of its own, which 2026-07-28 forbids (Resources, "Error Handling").
func (x *exchange) readResource(id []byte, m *message) (status int) {
	if !isString(m.inside.uri) {
		return x.fail(id, codeInvalidParams, "uri is required and must be a string")
	}
	result := x.readFrom(stringValue(m.inside.uri))
	if result.IsError {
		code := codeResourceNotRead
		if x.protocol.modern {
			code = codeInvalidParams
		}
		data := append([]byte(`{"uri":`), m.inside.uri...)
		x.appendError(id, code, result.Message, append(data, '}'))
		return http.StatusOK
	}
	x.openResult(id, 0)
	x.out = append(x.out, `"contents":[{"uri":`...)
	x.out = append(x.out, m.inside.uri...)
	x.out = append(x.out, `,"mimeType":"application/json","text":`...)
	x.out = result.AppendQuoted(x.out)
	result.Release()
	x.out = append(x.out, "}]"...)
	return x.closeResult(id)
}
