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
	if set.settings.Kept.Links.FirstRefusal(link, set.settings.Now()) {
		_ = set.settings.Audit.Write(ctx, &audit.Record{
			Token: link.Token, Tool: link.Tool(), Model: link.Model, Operation: call.ExportOperation + link.Operation, Call: link.ID, Rows: new(int), Outcome: outcome,
		})
	}
}

// fetch is the call of a link, made anew. It has no gate: whoever had to allow the export did so before there was a link.
func (set *Set) fetch(ctx context.Context, token access.Token, link *call.ExportLink) *call.Call {
	c := set.newCall(ctx, token, call.FindOperation(link.Operation))
	c.Gate = nil
	c.Model, c.Now, c.Fetch = link.Model, link.Asked, call.NewFetch(&set.settings, link)
	return c
}

// errMayExport ends a call that would use its link up now.
var errMayExport = errors.New("the token may have the file")

// MayExport makes the call of a link up to the moment at which it would use the link up: its error, a *call.Withdrawn, says that the
// token may not have the file any more.
func (set *Set) MayExport(ctx context.Context, token access.Token, link *call.ExportLink) error {
	c := set.fetch(ctx, token, link)
	c.Fetch.Claim = func() error { return errMayExport }
	_, err := once.Run(c, link.Arguments)
	if errors.Is(err, errMayExport) {
		return nil
	}
	return &call.Withdrawn{Outcome: string(call.ResultOf(nil, err).Code)}
}

// Export writes the file of a link to out, as the token may see the rows now. Before the first row the link is used up. An error
// after something was written means that the file is not whole; Rows are the rows that it has.
func (set *Set) Export(ctx context.Context, token access.Token, link *call.ExportLink, out call.File) (rows int, result call.Result) {
	c := set.fetch(ctx, token, link)
	c.Fetch.To = out
	primary := call.OwnTransactions{DB: set.db}
	c.Fetch.Claim = func() error {
		if err := c.FetchIntent(); err != nil {
			return err
		}
		return once.ClaimLink(c, primary, set.settings.Now())
	}
	_, err := once.Run(c, link.Arguments)
	result = c.ResultOf(nil, err)
	outcome := call.OutcomeOK
	var withdrawn *call.Withdrawn
	switch {
	case errors.Is(err, once.ErrUsed):
		set.RefuseExport(ctx, link, outcomeUsed)
		return 0, call.ResultOf(nil, call.Failf(call.CodeNotFound, "the link was used before"))
	case errors.As(err, &withdrawn):
		outcome = withdrawn.Outcome
		result.Cause = nil // the file is not for the token any more
	case errors.Is(err, read.ErrReader), err != nil && ctx.Err() != nil:
		outcome = outcomeReader // it may go before the first row
		result.Cause = nil      // nobody's fault
	case err != nil:
		outcome = string(result.Code)
	}
	if err == nil || c.Fetch.Rows > 0 || c.Kept.Links.FirstRefusal(link, set.settings.Now()) {
		_ = c.AuditExport(outcome) // what was sent was sent
	}
	return c.Fetch.Rows, result
}
