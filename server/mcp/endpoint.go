package mcp

import (
	"context"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Endpoint is all that a request is answered from: one state of the endpoint, which never changes. *snapshot.Snapshot
// is one. The conformance fixture wraps one and adds its own tools, prompts and resources. Safe for concurrent use.
//
// The methods that append write compact JSON. Their token is one that Authenticate returned.
type Endpoint interface {
	// Settings are the endpoint's own, as one pod has them: base path, URL, limits.
	Settings() *contract.Endpoint
	// TokenRate is this pod's share of each token's rate, and among how many pods it is shared; 0 requests a second are no limit.
	TokenRate() (perSecond float64, pods int)
	// Authenticate returns the token whose text is shown, or nobody. A refusal takes the same time whatever its reason.
	Authenticate(shown access.Bearer, now time.Time) access.Token
	// WhyRefused says why a text, or a caller if one is given, lets nobody in, for the operator alone. The time it takes depends on
	// what is shown.
	WhyRefused(shown access.Bearer, caller *identity.Caller, now time.Time) access.Cause
	// HasIdentities reports whether a token is for callers who show what somebody else issued, and Identify returns the
	// token that is for a caller, or nobody and why.
	HasIdentities() bool
	Identify(caller *identity.Caller, now time.Time) (access.Token, access.Refused)
	// TokensIncomplete reports whether a part of the tokens is missing, so that a token which is not found may be one.
	TokensIncomplete() bool
	// Instructions tell an agent in a few lines how the endpoint works; "" if there are none.
	Instructions(token access.Token, view tools.View) string

	// Unready says why the endpoint cannot tell yet what it has, for the caller; "" if it can.
	Unready() string
	// Tools is the array of tools/list, as the view shows it; packed asks for its compressed form.
	Tools(token access.Token, view tools.View, packed bool) tools.List
	// Call performs a tool; arguments is a JSON object, or nil.
	Call(ctx context.Context, token access.Token, tool string, arguments []byte) call.Result
	// CallElicited performs a tool for a client that can ask its person, with what the person said.
	CallElicited(ctx context.Context, token access.Token, tool string, arguments []byte, elicited *call.Elicited) call.Result
	// SealState makes the requestState of a question, and OpenState returns what it carries; the error may be shown.
	SealState(token access.Token, tool string, arguments []byte, carried string) (string, error)
	OpenState(token access.Token, tool string, arguments []byte, text string) (carried string, err error)

	// HasTasks reports whether calls may become tasks, and HoldTask makes one of a call that waits for an approval; false if it cannot
	// be one.
	HasTasks() bool
	HoldTask(token access.Token, waitsFor string, made call.TaskCall) (call.Task, bool)
	// Task is what became of a task of the token's own, and CancelTask withdraws one; false if this server knows none of that id.
	Task(token access.Token, id string) (call.Task, bool)
	CancelTask(token access.Token, id string) bool
	// RunTask runs a task that is due, and returns its result; false if it is not due.
	RunTask(ctx context.Context, token access.Token, id string) (result call.Result, ran bool)

	// Recognise returns the token in force whose text has the hash of a credential, or nobody.
	Recognise(c access.Credential, now time.Time) access.Token
	// OpenExport reads the text of an export's link; false if this endpoint did not make it. It may have expired.
	OpenExport(text string) (*call.ExportLink, bool)
	// Export uses a link up and writes its file; MayExport judges again whether the token may have it, and returns a *call.Withdrawn
	// if not. RefuseExport tells the audit why a link is refused.
	MayExport(ctx context.Context, token access.Token, link *call.ExportLink) error
	Export(ctx context.Context, token access.Token, link *call.ExportLink, out call.File) (rows int, result call.Result)
	RefuseExport(ctx context.Context, link *call.ExportLink, outcome string)

	// AppendPrompts appends the array of prompts/list.
	AppendPrompts(dst []byte, token access.Token) []byte
	// Prompt returns a prompt made for the token and its list of tools; arguments is a JSON object, or nil. An error is about the name or the
	// arguments; the caller may read it.
	Prompt(token access.Token, view tools.View, name string, arguments []byte) (tools.Prompt, error)

	// AppendResources appends the array of resources/list, as the view shows it; AppendResourceTemplates does the same for
	// resources/templates/list.
	AppendResources(dst []byte, token access.Token, view tools.View) []byte
	AppendResourceTemplates(dst []byte, token access.Token, view tools.View) []byte
	// ReadResource returns the text of a resource, which is JSON, or why it cannot be read.
	ReadResource(ctx context.Context, token access.Token, uri string) call.Result
}
