package permissions

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Half of a world's tokens have texts. The others are for callers of an identity provider, whose claims give the groups and
// the attribute: the oracle does not know the difference.

// corp is the identity provider, by its name in the Config.
const corp = "corp"

// issued reports whether the callers of a token show what the identity provider issued.
func issued(i int) bool { return i%2 == 1 }

// declared is a token as the server's configuration has it; issuer is the URL of the identity provider.
func (w *world) declared(i int, issuer string) contract.Token {
	t := w.tokens[i]
	if !issued(i) {
		return t
	}
	t.Identity = &contract.Identity{
		Issuer: issuer, Attributes: map[string]string{"region": "claims.region"}, Groups: "claims.groups", Among: []string{"a", "b", "c"},
	}
	if i%4 == 1 {
		t.Identity.Subject = t.Name
	} else {
		t.Identity.Claims = map[string]string{"team": t.Name}
	}
	t.Hashes, t.Groups, t.Attributes = nil, nil, nil
	return t
}

// shownTo returns the tokens that callers show an endpoint, for each token of the world.
func (w *world) shownTo(issuer *harness.Issuer) []string {
	shown := make([]string, len(w.tokens))
	for i, t := range w.tokens {
		if shown[i] = secret(i); !issued(i) {
			continue
		}
		claims := map[string]any{"team": []string{t.Name, "others"}, "groups": append([]string{"unknown"}, t.Groups...)}
		for name, value := range t.Attributes {
			claims[name] = value
		}
		shown[i] = issuer.Token(t.Name, claims)
	}
	return shown
}

// secret is the text of a token.
func secret(i int) string { return fmt.Sprintf("mcp_%016d.%043d", i, i) }
