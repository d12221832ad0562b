package once

import (
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// ErrUsed says that the link of an export was used before.
var ErrUsed = errors.New("the link was used before")

// ClaimLink uses up the link that the call fetches: for this process, and for all pods if the endpoint has a table of idempotency
// keys, into which it may write. ErrUsed says that somebody has done so before.
func ClaimLink(c *call.Call, primary call.Store, now time.Time) error {
	link := c.Fetch.Link
	if !c.Kept.Links.Use(link, now) {
		return ErrUsed
	}
	table := c.Catalog.Idempotency()
	if table == nil || c.Catalog.ReadOnly() {
		return nil
	}
	shared := *c
	shared.DB, shared.ID = primary, link.ID
	o := &onceCall{call: &shared, table: table, id: call.HashOf(call.ExportArgument, c.Settings.Endpoint, link.ID), request: call.HashOf(call.ExportArgument)}
	err := primary.Transact(c.Ctx, c.Settings.StatementTimeout, o.claim)
	if errors.Is(err, errTaken) {
		return ErrUsed
	}
	if err == nil {
		forget(&shared)
	}
	return err
}
