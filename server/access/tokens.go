// Package access says who may do what: it finds a token by the text that a request shows, knows the verbs that its
// rules grant on each model, and hands out the Scope through which every statement about a table is made, with the
// condition that its row policies put on the rows.
package access

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// Tokens are the tokens in force for one catalog. Tokens with the same rules share their rights, and those with the same
// groups and attributes what row policies know of them.
type Tokens struct {
	byHash map[[sha256.Size]byte]*Token
}

// Token is an MCPToken in force.
type Token struct {
	name    string
	expiry  time.Time // zero: never
	rights  *rights
	subject *subject
}

// NewTokens compiles a Config's tokens. Entries without a hash are not in force and are left out.
func NewTokens(config *contract.Config, models *catalog.Catalog) *Tokens {
	t := &Tokens{byHash: make(map[[sha256.Size]byte]*Token, len(config.Tokens))}
	shared, subjects := map[string]*rights{}, map[string]*subject{}
	for _, entry := range config.Tokens {
		if len(entry.Hashes) == 0 {
			continue
		}
		token := &Token{
			name:    entry.Namespace + "/" + entry.Name,
			rights:  compileRights(entry.Rules, models, shared),
			subject: subjectOf(&entry, subjects),
		}
		if entry.Expiry != nil {
			token.expiry = *entry.Expiry
		}
		for _, hash := range entry.Hashes {
			var key [sha256.Size]byte
			if n, err := hex.Decode(key[:], []byte(hash)); err == nil && n == len(key) {
				t.byHash[key] = token
			}
		}
	}
	return t
}

// Authenticate returns the token that an Authorization header shows, or nil. Every refusal does the same work, one hash
// and one look-up, so that neither the answer nor its time tells an unknown token from an expired one.
func (t *Tokens) Authenticate(authorization string, now time.Time) *Token {
	text := bearer(authorization)
	token := t.byHash[sha256.Sum256([]byte(text))]
	if token == nil || len(text) < contract.MinTokenLength || !token.expiry.IsZero() && !now.Before(token.expiry) {
		return nil
	}
	return token
}

// bearer returns the credentials of a Bearer header; "", which is no token, for any other.
func bearer(authorization string) string {
	const scheme = "bearer "
	if len(authorization) < len(scheme) || !strings.EqualFold(authorization[:len(scheme)], scheme) {
		return ""
	}
	return strings.Trim(authorization[len(scheme):], " ")
}

// Name is the token's namespace and name, for logs and the audit.
func (t *Token) Name() string { return t.name }
