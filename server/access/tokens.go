// Package access says who may do what: it finds a token by the text that a request shows, or by who its caller is, knows the
// verbs that its rules grant on each model, and hands out the Scope through which every statement about a table is made, with the
// condition that its row policies put on the rows.
//
// The server's packages import it. Begin with Token in tokens.go for rights, Scope in scope.go for a model as one token sees it.
package access

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Tokens are the tokens in force, with their rights on the models of one catalog.
type Tokens struct {
	// namespace is the endpoint's.
	namespace string
	directory *Directory
	grants    *grants
	visitors  *visitors
}

// Token is an MCPToken in force, with its rights on the models of one catalog. The zero Token is nobody.
type Token struct {
	holder *holder
	rights *rights
	// visitor is the caller that was found by identity, and holder a part of it; nil for a token that was found by its
	// text.
	visitor *visitor
	// sum is the hash of the text by which the token was found, and caller who showed what somebody else issued: one of the two.
	sum    *hash
	caller *identity.Caller
}

// NewTokens returns the tokens of a directory with the rights that a Config's groups and their own rules give them.
func NewTokens(config *contract.Config, d *Directory, models *catalog.Catalog) *Tokens {
	return &Tokens{config.Endpoint.Namespace, d, newGrants(config.Groups, models), &visitors{}}
}

// TokensOf returns the tokens that a Config has in itself.
func TokensOf(config *contract.Config, models *catalog.Catalog) *Tokens {
	return NewTokens(config, DirectoryOf(config), models)
}

// With returns the tokens of another directory, with their rights on the same models.
func (t *Tokens) With(d *Directory) *Tokens {
	if d == t.directory {
		return t
	}
	return &Tokens{t.namespace, d, t.grants, &visitors{}}
}

// HasIdentities reports whether a token is for callers whose tokens somebody else issued.
func (t *Tokens) HasIdentities() bool { return t.directory.HasIdentities() }

// Incomplete reports whether a part of the tokens is missing: nobody can tell whether a token that is not found is one.
func (t *Tokens) Incomplete() bool { return t.directory.missing > 0 }

// A Bearer is the text that a request shows as its bearer token, with the hash by which it is known. The zero Bearer is none.
type Bearer struct {
	Text string
	Sum  [sha256.Size]byte
}

// ReadBearer reads an Authorization header.
func ReadBearer(authorization string) Bearer {
	text := bearer(authorization)
	return Bearer{text, sha256.Sum256([]byte(text))}
}

// WhyRefused says why a text, or a caller, lets nobody in (Directory.WhyRefused).
func (t *Tokens) WhyRefused(shown Bearer, caller *identity.Caller, now time.Time) Cause {
	return t.directory.WhyRefused(shown, caller, now)
}

// Authenticate returns the token that an Authorization header shows, or nobody.
func (t *Tokens) Authenticate(authorization string, now time.Time) Token {
	return t.Holder(ReadBearer(authorization), now)
}

// Holder returns the token whose text is shown, or nobody. Every refusal does the same work, one hash and one look-up, so
// that neither the answer nor its time tells an unknown token from an expired one.
func (t *Tokens) Holder(shown Bearer, now time.Time) Token {
	token := t.byHash(shown.Sum, now)
	if len(shown.Text) < contract.MinTokenLength {
		return Token{}
	}
	return token
}

func (t *Tokens) byHash(sum hash, now time.Time) Token {
	found := t.directory.find(sum)
	if found == nil || found.holder.expired(now) {
		return Token{}
	}
	return Token{holder: found.holder, rights: t.grants.of(found.holder.set), sum: &found.hash}
}

// bearer returns the credentials of a Bearer header; "", which is no token, for any other.
func bearer(authorization string) string {
	const scheme = "bearer "
	if len(authorization) < len(scheme) || !strings.EqualFold(authorization[:len(scheme)], scheme) {
		return ""
	}
	return strings.Trim(authorization[len(scheme):], " ")
}

// IsNobody reports whether no token in force was shown.
func (t Token) IsNobody() bool { return t.holder == nil }

// Anyone returns a token that has the same rights and nothing else: neither groups nor attributes, a name nor a session. What is
// made with it is the same for every token of the same RightsKey. It is nobody, and asking it whom a row policy is for panics.
func (t Token) Anyone() Token { return Token{rights: t.rights} }

// Inspector returns a token that may view all rows of all models, whatever their row policies, and is in no group. What exposures
// declare is checked with it. No caller has it, and nobody is shown what it reads.
func (t *Tokens) Inspector() Token {
	set := &ruleSet{rules: []contract.Rule{{Models: []string{contract.Wildcard}, Verbs: []string{contract.VerbView}}}}
	return Token{holder: &holder{set: set, seesAll: true}, rights: t.grants.of(set)}
}

// RightsKey stands for the token's rights.
func (t Token) RightsKey() RightsKey { return t.rights.key }

// Name is the token's namespace and name.
func (t Token) Name() string { return t.holder.name }

// Caller tells callers apart: it is the token's Name, and the subject too if somebody else issued what the caller shows. It
// is printable ASCII, and short.
func (t Token) Caller() string {
	if t.visitor != nil {
		return t.visitor.caller
	}
	return t.holder.name
}

// UID is the MCPToken's identity: another one of the same name has another.
func (t Token) UID() string { return t.holder.uid }

// Subject is whom the issuer of what the caller shows says that it issued it to; "" if it is the token's own text.
func (t Token) Subject() string {
	if t.visitor != nil {
		return t.visitor.subject
	}
	return ""
}
