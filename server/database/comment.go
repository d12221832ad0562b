package database

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// Comment is an SQL comment that says for whom a statement is, with a space before it, in the form of sqlcommenter:
//
//	/*token='shop%2Fagent',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'*/
//
// The caller's name may hold anything; percent-encoding leaves nothing of it that could end the comment. It is nil if the context
// tells of nobody.
func Comment(ctx context.Context) []byte {
	token := share.Name(ctx)
	if token == "" {
		return nil // the server's own statement
	}
	comment := append([]byte(" /*token='"), encoded(token)...)
	if traceparent := traceparentOf(ctx); traceparent != "" {
		comment = append(append(comment, "',traceparent='"...), encoded(traceparent)...)
	}
	return append(comment, "'*/"...)
}

func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// traceparentOf is the W3C traceparent of the statement's span; without one that of the request, as the caller sent it.
func traceparentOf(ctx context.Context) string {
	header := http.Header{}
	tracing.Carry(ctx, header)
	if carried := header.Get(tracing.Traceparent); carried != "" {
		return carried
	}
	return tracing.GivenParent(ctx)
}
