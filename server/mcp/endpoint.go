package mcp

import (
	"context"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// Endpoint is all that a request is answered from: one state of the endpoint, which never changes. *snapshot.Snapshot
// is one; the conformance fixture puts tools, prompts and resources of its own in front of one. Safe for concurrent use.
//
// The methods that append write compact JSON; their token is one that Authenticate returned.
type Endpoint interface {
	// Settings are the endpoint's own: base path, URL, limits.
	Settings() *contract.Endpoint
	// Authenticate returns the token that an Authorization header shows, or nil. Whatever the reason for a refusal, it
	// takes the same time.
	Authenticate(authorization string, now time.Time) *access.Token
	// Instructions tell an agent in a few lines how the endpoint works; "" is none.
	Instructions(token *access.Token) string

	// AppendTools appends the array of tools/list.
	AppendTools(dst []byte, token *access.Token) []byte
	// Call performs a tool; arguments is a JSON object, or nil.
	Call(ctx context.Context, token *access.Token, tool string, arguments []byte) tools.Result

	// AppendPrompts appends the array of prompts/list.
	AppendPrompts(dst []byte, token *access.Token) []byte
	// Prompt returns a prompt made for the token; arguments is a JSON object, or nil. An error is about the name or the
	// arguments, and is told to the caller.
	Prompt(token *access.Token, name string, arguments []byte) (tools.Prompt, error)

	// AppendResources appends the array of resources/list, AppendResourceTemplates that of resources/templates/list.
	AppendResources(dst []byte, token *access.Token) []byte
	AppendResourceTemplates(dst []byte, token *access.Token) []byte
	// ReadResource returns the text of a resource, which is JSON, or why it cannot be read.
	ReadResource(ctx context.Context, token *access.Token, uri string) tools.Result
}
