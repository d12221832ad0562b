package source

import (
	"reflect"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A view holds the known facts about each Secret, and what follows from them. It does no I/O and has no clock. Its rules
// are in docs/design/controllers.md, "How a change reaches the pods":
//
//   - What the API says of a part is so, whatever was stored. The stored parts are used until the API was heard.
//   - While the API is away after it was heard, what it said last stays.
//   - A main part that does not exist closes the endpoint. A token part that does not exist is missing.
//   - A part that the manager did not sign, or that does not decode or validate, is refused, and the last good one of
//     that Secret stays. After a while what it governs is closed. So is one that is older than what was there before.
//     A main part that was deleted in between may have any revision: a manager that lost it has no key to ask the pods with.
//   - Tokens are answered for from the parts of the layout that the main part names. As long as one of them is missing, the
//     first parts of the layout before are as good, if the main part says so and all of them are there.
type view struct {
	base     string
	verify   func(secret string, p contract.Part) error
	patience time.Duration
	main     *part[contract.Config]
	// tokens are the token parts that the last good main part names, by index.
	tokens []*part[contract.TokenPart]
	// The Secrets beside the Config.
	connection, replicas, ca, client, certificate, tracing, audit *copies
	// followed are the Secrets among them that exist, so that the API will report on them.
	followed []*copies

	// booting reports whether the API still has time to answer first: nothing is applied meanwhile.
	booting bool
	// applied are the token parts of the newest update that was applied.
	applied []*contract.TokenPart
}

// copies are the two copies of a Secret beside the Config.
type copies struct {
	// heard reports whether the API ever said what the Secret holds.
	heard        bool
	api, mounted Secret
}

// newView returns the view of the Config of that name. It has seen nothing yet.
func newView(base string, patience time.Duration, verify func(string, contract.Part) error) *view {
	return &view{
		base: base, verify: verify, patience: patience, booting: true,
		main:       &part[contract.Config]{secret: contract.MainSecret(base), verify: verify, decode: contract.DecodeMain, patience: patience, startsAnew: true},
		connection: &copies{}, replicas: &copies{}, ca: &copies{}, client: &copies{}, certificate: &copies{}, tracing: &copies{}, audit: &copies{},
	}
}

// part returns the token part of that index, a new one if there is none.
func (v *view) part(index int) *part[contract.TokenPart] {
	for i := len(v.tokens); i <= index; i++ {
		v.tokens = append(v.tokens, &part[contract.TokenPart]{
			secret: contract.TokensSecret(v.base, i), verify: v.verify, patience: v.patience,
			decode: func(p contract.Part) (*contract.TokenPart, error) { return contract.DecodeTokens(p, i) },
		})
	}
	return v.tokens[index]
}

// settle keeps the token parts that the last good main part names. Without one they stay as they are.
func (v *view) settle() {
	if v.main.good != nil {
		count := v.main.good.Layout.Parts
		v.part(count - 1)
		v.tokens = v.tokens[:count]
	}
}

// allHeard reports whether it was said of every Secret that counts what it holds.
func (v *view) allHeard() bool {
	return v.main.heard && !slices.ContainsFunc(v.tokens, func(p *part[contract.TokenPart]) bool { return !p.heard }) &&
		!slices.ContainsFunc(v.followed, func(c *copies) bool { return !c.heard })
}

// update returns what follows from all that is known. What it says of token parts that have not changed since the last
// update that was applied are the same pointers.
func (v *view) update(now time.Time) Update {
	u := Update{
		Connection: v.connection.newest(), Replicas: v.replicas.newest(), CA: v.ca.newest(), ClientCertificate: v.client.newest(),
		Certificate: v.certificate.newest(), TracingHeaders: v.tracing.newest(), AuditHeaders: v.audit.newest(),
		Refused: v.refusal(now),
	}
	if u.Config = v.main.content(now); u.Config == nil {
		return u
	}
	count := v.layout(u.Config.Layout, now)
	for i := range count {
		p := v.tokens[i]
		u.Incomplete = u.Incomplete || !p.known()
		content := p.content(now)
		if content != nil && content.Tokens == nil && (count != len(v.applied) || content != v.applied[i]) {
			p.renew() // its tokens were dropped when it was applied before
			content = p.good
		}
		u.TokenParts = append(u.TokenParts, content)
	}
	return u
}

// layout is how many token parts to answer from.
func (v *view) layout(l contract.Layout, now time.Time) int {
	if l.Before > 0 && !v.complete(l.Parts, now) && v.complete(l.Before, now) {
		return l.Before
	}
	return l.Parts
}

// complete reports whether the first parts are all there.
func (v *view) complete(parts int, now time.Time) bool {
	for i := range parts {
		if v.tokens[i].content(now) == nil {
			return false
		}
	}
	return true
}

// appliedUpdate notes what was applied, and drops the tokens: whoever applied it has them now. They make up most of a
// large Config.
func (v *view) appliedUpdate(u Update) {
	v.applied = u.TokenParts
	for _, p := range u.TokenParts {
		if p != nil {
			p.Tokens = nil
		}
	}
}

// refusal is the refused part to tell of: one that closes something before others, and the newest of those.
func (v *view) refusal(now time.Time) *contract.Refusal {
	newest, since := v.main.refusal(now), v.main.since
	for _, p := range v.tokens {
		r := p.refusal(now)
		if r != nil && (newest == nil || r.Closed && !newest.Closed || r.Closed == newest.Closed && p.since.After(since)) {
			newest, since = r, p.since
		}
	}
	if newest != nil && newest.Highest > 0 {
		for _, p := range v.tokens {
			newest.Highest = max(newest.Highest, p.highest)
		}
		newest.Highest = max(newest.Highest, v.main.highest)
	}
	return newest
}

// nextChange is when the clock alone changes what counts, as a refused part is closed. It is false if nothing is to come.
func (v *view) nextChange(now time.Time) (next time.Time, ok bool) {
	consider := func(waits, done bool, at time.Time) {
		if waits && !done && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	consider(v.main.refused != nil, v.main.closed(now), v.main.closing())
	for _, p := range v.tokens {
		consider(p.refused != nil, p.closed(now), p.closing())
	}
	return next, ok
}

// newest returns the copy that counts: what the API said last, or the mount if the API never answered.
func (c *copies) newest() Secret {
	if c.heard {
		return c.api
	}
	return c.mounted
}

// equal reports whether two updates say the same. Configs and token parts are compared as pointers: the view keeps the old
// one if a new one is alike.
func (u Update) equal(other Update) bool {
	return u.Config == other.Config && slices.Equal(u.TokenParts, other.TokenParts) && u.Incomplete == other.Incomplete &&
		reflect.DeepEqual(u.Refused, other.Refused) &&
		u.Connection.equal(other.Connection) && u.Replicas.equal(other.Replicas) && u.CA.equal(other.CA) &&
		u.ClientCertificate.equal(other.ClientCertificate) && u.Certificate.equal(other.Certificate) &&
		u.TracingHeaders.equal(other.TracingHeaders) && u.AuditHeaders.equal(other.AuditHeaders)
}
