package access

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// The reasons to refuse what a request shows, besides those of package identity and of callers.go.
const (
	// Missing: the request shows nothing.
	Missing identity.Refusal = "missing"
	// Unknown: no MCPToken has that text, or had it lately.
	Unknown identity.Refusal = "unknown"
	// OtherText: an MCPToken has that public id, and another text.
	OtherText identity.Refusal = "other_text"
	// Expired and Inactive: so is the MCPToken.
	Expired  identity.Refusal = "expired"
	Inactive identity.Refusal = "inactive"
	// NotAccepted: the MCPToken is not in force for another reason, which its condition has.
	NotAccepted identity.Refusal = "not_accepted"
)

// A Cause tells the operator why nobody was let in. The caller is never told.
type Cause struct {
	Reason identity.Refusal
	// Token is the MCPToken's namespace and name, PublicID the part of the text that may be shown; each "" if not known.
	Token, PublicID string
	// Condition is the reason in the MCPToken's condition; "" if it is in force, or not known.
	Condition string
	// Genuine reports whether the caller has what the MCPToken is known by, so that it was used. A public id alone is no secret.
	Genuine bool
}

// WhyRefused says why a text lets nobody in, or a caller to whom somebody else issued it, if one is given. It must not be asked before the
// caller has its answer: the time that it takes depends on the text.
func (d *Directory) WhyRefused(shown Bearer, caller *identity.Caller, now time.Time) Cause {
	cause := Cause{Reason: Unknown}
	table, sum := d.texts, hash(shown.Sum)
	switch {
	case caller != nil:
		cause.Reason, table, sum = NoToken, d.identities, exactly(caller)
	case shown.Text == "":
		return Cause{Reason: Missing}
	default:
		cause.PublicID = contract.PublicTokenID(shown.Text)
	}
	for _, found := range table.of(sum) {
		if found.holder.expired(now) {
			cause.Reason, cause.Token, cause.Condition, cause.Genuine = Expired, found.holder.name, conditionExpired, true
			return cause
		}
	}
	if t := d.refused(sha256.Sum256(sum[:])); t != nil {
		cause.of(t)
		cause.Genuine = true
		return cause
	}
	if t := d.withPublicID(cause.PublicID); t != nil {
		// The manager may not have known the token's text when it wrote the entry.
		if cause.of(t); t.refused == "" || len(t.sums) > 0 {
			cause.Reason, cause.Condition = OtherText, ""
		}
	}
	return cause
}

// The conditions' reasons that a cause has of its own.
const (
	conditionExpired  = "Expired"
	conditionInactive = "Inactive"
)

// of makes a token that is not in force the cause.
func (c *Cause) of(t *knownToken) {
	c.Token, c.Condition = t.name, t.refused
	switch t.refused {
	case conditionExpired:
		c.Reason = Expired
	case conditionInactive:
		c.Reason = Inactive
	default:
		c.Reason = NotAccepted
	}
}

// A knownToken is what refusals need of an MCPToken. It is kept in the place of the part's own entry: whoever gave the part drops those,
// as they are most of its memory.
type knownToken struct {
	// name is its namespace and name. publicID, refused and sums are as in contract.Token; an MCPToken in force has but its public id.
	name, publicID, refused string
	sums                    []string
}

// publicName is the public id and the name of an MCPToken in force: there are many.
type publicName struct{ id, name string }

// A refusedIndex finds the tokens of a part by what refused callers show. It is made when the first caller is refused. Safe for concurrent
// use.
type refusedIndex struct {
	tokens     []knownToken
	inForce    []publicName
	make       sync.Once
	bySum      map[hash]*knownToken
	byPublicID map[string]*knownToken
}

func (x *refusedIndex) fill() {
	x.bySum, x.byPublicID = map[hash]*knownToken{}, map[string]*knownToken{}
	for _, t := range x.inForce {
		x.byPublicID[t.id] = &knownToken{name: t.name, publicID: t.id}
	}
	for i := range x.tokens {
		t := &x.tokens[i]
		if t.publicID != "" {
			x.byPublicID[t.publicID] = t
		}
		for _, text := range t.sums {
			var sum hash
			if n, err := hex.Decode(sum[:], []byte(text)); len(text) == 2*len(sum) && err == nil && n == len(sum) {
				x.bySum[sum] = t
			}
		}
	}
}

// refused is the token that has a RefusedSum, or nil.
func (d *Directory) refused(sum hash) *knownToken {
	return d.indexed(func(x *refusedIndex) *knownToken { return x.bySum[sum] })
}

// withPublicID is the token whose text has that public part, or nil.
func (d *Directory) withPublicID(id string) *knownToken {
	if id == "" {
		return nil
	}
	return d.indexed(func(x *refusedIndex) *knownToken { return x.byPublicID[id] })
}

// indexed is the first token that look finds in the index of a part, or nil.
func (d *Directory) indexed(look func(*refusedIndex) *knownToken) *knownToken {
	for _, part := range d.parts {
		if part.from == nil {
			continue
		}
		part.refused.make.Do(part.refused.fill)
		if t := look(part.refused); t != nil {
			return t
		}
	}
	return nil
}
