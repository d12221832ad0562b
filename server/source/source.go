// Package source is where a server learns what to answer from: its Config, the Secrets that say how to reach the
// database, and that of the endpoint's certificate. Cluster reads them from a cluster, through the API with the mounted
// copies behind it; whoever has them from elsewhere implements Source.
//
// Packages server and cmd import it. It is the only package of the server that knows Kubernetes.
package source

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Source tells a server what to answer from.
type Source interface {
	// Run calls apply with everything that is known, first as soon as the newest that can be had is known (whether or
	// not that is a Config), then whenever it changed, one call at a time. It returns nil once ctx ends; an error says
	// that this source will never work.
	Run(ctx context.Context, apply func(Update)) error
}

// Update is all that a source knows at one moment. What it points to is never changed.
type Update struct {
	// Config is what to answer from; nil if there is none, and the endpoint is closed.
	Config *contract.Config
	// Refused is the newest Config that was refused, if none has been accepted since.
	Refused *contract.Refusal
	// Connection and CA are the Secrets of the database's connection and certificates, Certificate that of the
	// endpoint's own.
	Connection, CA, Certificate Secret
}

// Secret is the content of a Secret by key; nil if it does not exist, or is not known yet. It must not be changed.
type Secret map[string][]byte
