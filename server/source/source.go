// Package source is where a server learns what to answer from: its Config, the Secrets that say how to reach the database,
// and the Secret of the endpoint's certificate. Cluster reads them from a cluster, through the API with the mounted copies
// behind it; whoever has them from elsewhere implements Source.
//
// Packages server and cmd import it. It is the only package of the server that knows Kubernetes.
package source

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Source tells a server what to answer from.
type Source interface {
	// Run calls apply with everything that is known. The first call comes as soon as the newest state that can be had
	// is known, with a Config or without one. Then it calls apply after every change, one call at a time. It returns
	// nil once ctx ends; an error says that this source will never work.
	Run(ctx context.Context, apply func(Update)) error
}

// Update is all that a source knows at one moment. What it points to is never changed.
type Update struct {
	// Config is the Config to answer from; nil if there is none, which closes the endpoint.
	Config *contract.Config
	// TokenParts are the parts of the tokens by index, as many as the layout in use has; nil is a part that is missing. A
	// part that is the same pointer as in the update before has not changed. Its Tokens may be dropped once apply has
	// returned. If there are no TokenParts, the Config has the tokens in itself.
	TokenParts []*contract.TokenPart
	// Incomplete reports whether nothing is known yet about some token parts, not even that they are missing.
	Incomplete bool
	// Refused is a part that was refused, if none of its Secret was accepted since; nil if there is none.
	Refused *contract.Refusal
	// Connection and Replicas are the Secrets of the connections to the database and to its replicas. CA is the certificate
	// by which it is known, ClientCertificate the one that it is shown.
	Connection, Replicas, CA, ClientCertificate Secret
	// Certificate is the Secret of the endpoint's own certificate.
	Certificate Secret
	// TracingHeaders is the Secret of the headers for the collector of traces.
	TracingHeaders Secret
	// AuditHeaders is the Secret of the headers for the collector of audit lines.
	AuditHeaders Secret
}

// Secret is the content of a Secret by key; nil if it does not exist, or is not known yet. It must not be changed.
type Secret map[string][]byte
