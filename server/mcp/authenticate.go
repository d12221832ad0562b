package mcp

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Verifier checks what others have issued to callers; *identity.Verifier is one.
type Verifier interface {
	// Verify returns who a text was issued to, or why it is refused. The sum is the text's SHA-256.
	Verify(ctx context.Context, text string, sum [32]byte, now time.Time) (*identity.Caller, identity.Refusal)
	// Recheck returns who claims speak of that were verified some minutes ago, or why they do not count any more.
	Recheck(claims map[string]any, now time.Time) (*identity.Caller, identity.Refusal)
}

// authenticate finds the request's token in x.endpoint; if there is none, it answers and returns false. While a part of
// the tokens is missing nobody can tell whether a token is bad: the client is asked to come again.
func (h *Handler) authenticate(a *answer, r *http.Request, x *exchange) bool {
	x.token = h.tokenOf(r.Context(), x, x.endpoint)
	switch {
	case !x.token.IsNobody():
		return true
	case x.endpoint.TokensIncomplete() && authorization(r.Header) != "":
		refuseIncomplete(a)
	default:
		a.w.Header()["Www-Authenticate"] = h.resourceOf(x.endpoint.Settings()).challenge
		a.refuse(http.StatusUnauthorized, tokenRefused)
	}
	return false
}

// refuseIncomplete asks the client to come again, as a part of the tokens is missing.
func refuseIncomplete(a *answer) {
	a.header("Retry-After", retryAfter)
	a.refuse(http.StatusServiceUnavailable, "Some of the endpoint's tokens are not known at the moment")
}

// readmit checks the token again, against the present endpoint; false if the token may do nothing any more.
func (x *exchange) readmit() bool {
	endpoint, open := x.handler.options.Endpoint()
	if !open {
		return false
	}
	x.endpoint = endpoint
	x.token = x.handler.tokenOf(x.ctx, x, endpoint)
	return !x.token.IsNobody()
}

// tokenOf returns the token of what a request shows, or nobody: the token with that text, or else the token for the caller to
// whom somebody else issued it. The operator is told of refusals, afterwards.
func (h *Handler) tokenOf(ctx context.Context, x *exchange, endpoint Endpoint) access.Token {
	now := h.options.Now()
	token := endpoint.Authenticate(x.shown, now)
	if !token.IsNobody() {
		return token
	}
	refused := refusedCaller{endpoint: endpoint, shown: x.shown, address: x.address, client: x.header.Get("User-Agent"), at: now}
	if h.options.Verifier != nil && endpoint.HasIdentities() && identity.IsToken(x.shown.Text) {
		token, refused.caller, refused.reason = h.identify(ctx, endpoint, x.shown, now)
	}
	if token.IsNobody() {
		h.refusals.note(refused)
	}
	return token
}

// identify returns the token that is for the caller to whom somebody else issued what is shown, or nobody and why.
func (h *Handler) identify(ctx context.Context, endpoint Endpoint, shown access.Bearer, now time.Time) (access.Token, *identity.Caller, identity.Refusal) {
	caller, reason := h.options.Verifier.Verify(ctx, shown.Text, shown.Sum, now)
	if caller == nil || reason != identity.Accepted {
		return access.Token{}, nil, reason
	}
	token, refused := endpoint.Identify(caller, now)
	if refused.Reason == access.Ambiguous && h.ambiguous.due(now) {
		h.options.Log.Warn("Two MCPTokens with equally many claims are for one caller, who is refused. Give one of the two more claims",
			"tokens", refused.Tokens[:])
	}
	return token, caller, refused.Reason
}

// A reminder says a thing at most once a minute.
type reminder struct{ last atomic.Int64 }

// due reports whether it is time to say it.
func (r *reminder) due(now time.Time) bool {
	last := r.last.Load()
	return now.Unix() >= last+60 && r.last.CompareAndSwap(last, now.Unix())
}

// authorization returns the one Authorization header; "" if there is none, or more than one.
func authorization(header http.Header) string {
	if values := header["Authorization"]; len(values) == 1 {
		return values[0]
	}
	return ""
}
