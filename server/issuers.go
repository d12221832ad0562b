package server

import (
	"context"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// newVerifier returns what checks the tokens that others issue. It outlives every Config, and calls changed when there is news
// of an issuer.
func newVerifier(s *Server, changed func()) *identity.Verifier {
	return identity.NewVerifier(identity.Options{API: s.API, StateDir: s.StateDir, Log: s.Log, Changed: changed})
}

// configureVerifier has the tokens of others checked as the Config says. The keys of the cluster are read only if a token is
// for a ServiceAccount, as one in a part that is missing may be. The keys that a Config which is gone asked for stay known,
// and nobody is let in by them.
func (c *core) configureVerifier(update *source.Update) {
	if update.Config != nil {
		c.verifier.Configure(update.Config.Endpoint.Authentication, c.tokens.HasServiceAccounts() || c.tokens.Missing() > 0)
	}
}

// watchIssuers keeps the issuers' keys, and the status of them, up to date until ctx ends.
func (c *core) watchIssuers(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.verifier.Run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.statusChanged:
			c.mu.Lock()
			c.publish()
			c.mu.Unlock()
		}
	}
}
