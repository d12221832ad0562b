package mcp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// pieces writes a file to a client, which must take each piece in time, and only as long as the token may have the file.
type pieces struct {
	to        io.Writer
	deadlines *http.ResponseController
	patience  time.Duration
	// admit says why the file ends here; nil if it goes on. stop ends the statement that reads the rows then.
	admit func() error
	stop  func()
	// written are the bytes that were written.
	written int
}

// Write implements io.Writer. One value may be many pieces long.
func (p *pieces) Write(all []byte) (written int, err error) {
	for rest := all; len(rest) > 0; rest = all[written:] {
		if err := p.admit(); err != nil {
			p.stop()
			return written, err
		}
		_ = p.deadlines.SetWriteDeadline(time.Now().Add(p.patience)) // a writer without deadlines has no connection
		n, err := p.to.Write(rest[:min(len(rest), sendBuffer)])
		written += n
		p.written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// admission returns a function that judges again whether a token may have the file of a link: before each piece whether the token is
// in force, and after each change of the endpoint whether it may still make the call. Which rows the file has was settled when it
// began, by the row policies and attributes of then.
func (h *Handler) admission(ctx context.Context, x *exchange, link *call.ExportLink) func() error {
	judged := x.endpoint
	return func() error {
		endpoint, open := h.options.Endpoint()
		if !open {
			return &call.Withdrawn{Outcome: string(call.CodeUnavailable)}
		}
		token := h.tokenOfLink(endpoint, link, h.options.Now())
		if token.IsNobody() {
			return &call.Withdrawn{Outcome: tools.OutcomeToken}
		}
		if endpoint == judged {
			return nil
		}
		judged = endpoint
		return endpoint.MayExport(ctx, token, link)
	}
}
