package mcp

import (
	"encoding/json"
	"net/http"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// elicits reports whether the client that sent a message can ask its person by a form (MCP 2026-07-28, Elicitation, "Capabilities"):
// it says so, or it says nothing of how it asks.
func (x *exchange) elicits(m *message) bool {
	if !x.protocol.modern {
		return false
	}
	elicitation, _ := jsontext.Member(m.inside.meta.clientCapabilities, "elicitation")
	if !isObject(elicitation) {
		return false
	}
	form, says := jsontext.Member(elicitation, "form")
	if !says {
		_, says = jsontext.Member(elicitation, "url")
		return !says
	}
	return isObject(form)
}

// elicitedOf reads what a call brings back of a question. A problem refuses the request; "" is none.
func (x *exchange) elicitedOf(tool string, m *message) (elicited *call.Elicited, problem string) {
	elicited = &call.Elicited{}
	if m.inside.requestState != nil {
		if !isString(m.inside.requestState) {
			return nil, "requestState must be a string"
		}
		carried, err := x.endpoint.OpenState(x.token, tool, m.inside.arguments, stringValue(m.inside.requestState))
		if err != nil {
			return nil, err.Error()
		}
		elicited.Carried = carried
	}
	if m.inside.inputResponses != nil {
		if !isObject(m.inside.inputResponses) || json.Unmarshal(m.inside.inputResponses, &elicited.Results) != nil {
			return nil, "inputResponses must be an object: the key of each of inputRequests, and the result of that request"
		}
	}
	return elicited, ""
}

// elicit answers a call by a question for the caller's person.
func (x *exchange) elicit(id []byte, tool string, m *message, result *call.Result) (status int) {
	defer result.Release()
	q := result.Elicitation
	state, err := x.endpoint.SealState(x.token, tool, m.inside.arguments, q.Carried)
	if err != nil { // the arguments were read before: it cannot fail
		return x.fail(id, codeInvalidParams, err.Error())
	}
	x.openResultOf(inputRequired, id, uncached)
	x.out = append(x.out, `"inputRequests":{`...)
	x.out = jsontext.AppendString(x.out, q.Key)
	x.out = append(x.out, `:{"method":"elicitation/create","params":{"mode":"form","message":`...)
	x.out = jsontext.AppendString(x.out, q.Message)
	x.out = append(x.out, `,"requestedSchema":`...)
	x.out = append(x.out, q.Schema...)
	x.out = append(x.out, `}}},"requestState":`...)
	x.out = jsontext.AppendString(x.out, state)
	x.closeResult(id)
	return http.StatusOK
}
