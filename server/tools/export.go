package tools

import (
	"context"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/once"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// The outcomes of fetching a link that are no codes of errors, in the audit log.
const (
	outcomeAsked   = "intent"
	outcomeUsed    = "used"
	outcomeReader  = "reader_gone"
	OutcomeExpired = "expired"
	// OutcomeToken: the token is not in force any more.
	OutcomeToken = "token_refused"
)

// OpenExport reads the text of an export's link; false if this endpoint did not make it.
func (set *Set) OpenExport(text string) (*call.ExportLink, bool) {
	return call.OpenExport(&set.settings, text)
}

// RefuseExport tells the audit why a link is refused, once for each link.
func (set *Set) RefuseExport(ctx context.Context, link *call.ExportLink, outcome string) {
	if set.settings.Kept.Links.FirstRefusal(link.ID, set.settings.Now()) {
		set.settings.Audit.Write(ctx, &audit.Record{
			Token: link.Token, Tool: link.Tool(), Model: link.Model, Operation: call.ExportOperation + link.Operation, Call: link.ID, Rows: new(int), Outcome: outcome,
		})
	}
}

// Export writes the file of a link to out, as the token may see the rows now. Before the first row the link is used up. An error
// after something was written means that the file is not whole; Rows are the rows that it has.
func (set *Set) Export(ctx context.Context, token access.Token, link *call.ExportLink, out call.File) (rows int, result call.Result) {
	op := call.FindOperation(link.Operation)
	c := set.newCall(ctx, token, op)
	c.Model, c.Now = link.Model, link.Asked
	c.Fetch = &call.Fetch{Link: link, To: out}
	primary := call.OwnTransactions{DB: set.db}
	c.Fetch.Claim = func() error { return once.ClaimLink(c, primary, set.settings.Now()) }
	_, err := once.Run(c, link.Arguments)
	result = c.ResultOf(nil, err)
	outcome := call.OutcomeOK
	switch {
	case errors.Is(err, once.ErrUsed):
		set.RefuseExport(ctx, link, outcomeUsed)
		return 0, call.ResultOf(nil, call.Failf(call.CodeNotFound, "the link was used before"))
	case errors.Is(err, read.ErrReader):
		outcome = outcomeReader
		result.Cause = nil // nobody's fault
	case err != nil:
		outcome = string(result.Code)
	}
	if err == nil || c.Fetch.Rows > 0 || c.Kept.Links.FirstRefusal(link.ID, set.settings.Now()) {
		c.Generic = link.Generic // in the name of the tool
		c.AuditExport(outcome)
	}
	return c.Fetch.Rows, result
}
