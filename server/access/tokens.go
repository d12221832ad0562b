// Package access says who may do what: it finds a token by the text that a request shows, knows the verbs that its
// rules grant on each model, and hands out the Scope through which every statement about a table is made, with the
// condition that its row policies put on the rows.
package access

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// Tokens are the tokens in force, with their rights on the models of one catalog.
type Tokens struct {
	directory *Directory
	grants    *grants
}

// Token is an MCPToken in force, with its rights on the models of one catalog. The zero Token is nobody.
type Token struct {
	holder *holder
	rights *rights
}

// NewTokens returns the tokens of a directory with the rights that these groups and their own rules give them.
func NewTokens(groups []contract.Group, d *Directory, models *catalog.Catalog) *Tokens {
	return &Tokens{d, newGrants(groups, models)}
}

// TokensOf returns the tokens that a Config has in itself.
func TokensOf(config *contract.Config, models *catalog.Catalog) *Tokens {
	return NewTokens(config.Groups, DirectoryOf(config), models)
}

// With returns the tokens of another directory, with their rights on the same models.
func (t *Tokens) With(d *Directory) *Tokens { return &Tokens{d, t.grants} }

// Incomplete reports whether a part of the tokens is missing: nobody can tell whether a token that is not found is one.
func (t *Tokens) Incomplete() bool { return t.directory.missing > 0 }

// Authenticate returns the token that an Authorization header shows, or nobody. Every refusal does the same work, one
// hash and one look-up, so that neither the answer nor its time tells an unknown token from an expired one.
func (t *Tokens) Authenticate(authorization string, now time.Time) Token {
	text := bearer(authorization)
	holder := t.directory.find(sha256.Sum256([]byte(text)))
	if holder == nil || len(text) < contract.MinTokenLength || !holder.expiry.IsZero() && !now.Before(holder.expiry) {
		return Token{}
	}
	return Token{holder, t.grants.of(holder.set)}
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

// Name is the token's namespace and name, for logs and the audit.
func (t Token) Name() string { return t.holder.name }
