package access

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/claims"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Tokens that are for callers are found by hashes, as those with texts are. One for a ServiceAccount or a subject is found by
// the hash of that. One for callers with claims is found by one of the claims, and all of them are compared then.

// An issuerClaim is a claim of an issuer's tokens, by its name.
type issuerClaim struct{ issuer, name string }

func (c issuerClaim) compare(other issuerClaim) int {
	return cmp.Or(cmp.Compare(c.issuer, other.issuer), cmp.Compare(c.name, other.name))
}

// identityHash is the hash of the one ServiceAccount or subject that an identity is for.
func identityHash(i *contract.Identity) hash { return sha256.Sum256([]byte(i.Key())) }

// claimHash is the hash of a value that a claim has. No Identity.Key begins with the same word.
func claimHash(claim issuerClaim, value string) hash {
	key := make([]byte, 0, 128)
	for _, text := range []string{"claim", claim.issuer, claim.name, value} {
		key = strconv.AppendQuote(key, text)
	}
	return sha256.Sum256(key)
}

// commonClaims are how many tokens of a part demand each value of a claim.
func commonClaims(tokens []contract.Token) map[hash]int {
	var common map[hash]int
	for i := range tokens {
		if tokens[i].Identity == nil {
			continue
		}
		for name, value := range tokens[i].Identity.Claims {
			if common == nil {
				common = map[hash]int{}
			}
			common[claimHash(issuerClaim{tokens[i].Identity.Issuer, name}, value)]++
		}
	}
	return common
}

// addIdentity adds the entry by which a token is found that is for callers. It is the claim that the fewest of the part's
// tokens demand: a caller who has it is compared with few of them. A token for nobody gets none.
func (p *directoryPart) addIdentity(h *holder, common map[hash]int) {
	i := h.identity
	p.identities, p.serviceAccounts = true, p.serviceAccounts || i.ServiceAccount != ""
	if i.ServiceAccount != "" || i.Subject != "" {
		p.entries = append(p.entries, entry{identityHash(i), h})
		return
	}
	var rarest entry
	var by issuerClaim
	for _, name := range slices.Sorted(maps.Keys(i.Claims)) {
		claim := issuerClaim{i.Issuer, name}
		if hash := claimHash(claim, i.Claims[name]); rarest.holder == nil || common[hash] < common[rarest.hash] {
			rarest, by = entry{hash, h}, claim
		}
	}
	if rarest.holder != nil {
		p.entries, p.claims = append(p.entries, rarest), append(p.claims, by)
	}
}

// compactClaims returns each claim once, sorted.
func compactClaims(all []issuerClaim) []issuerClaim {
	slices.SortFunc(all, issuerClaim.compare)
	return slices.Clip(slices.Compact(all))
}

// claimsOf are the names of the claims by which tokens of each issuer are found, in any of the parts, and who there are
// tokens for.
func claimsOf(parts []directoryPart) (names map[string][]string, all kinds) {
	var found []issuerClaim
	for _, p := range parts {
		found = append(found, p.claims...)
		all.identities, all.serviceAccounts = all.identities || p.identities, all.serviceAccounts || p.serviceAccounts
	}
	for _, c := range compactClaims(found) {
		if names == nil {
			names = map[string][]string{}
		}
		names[c.issuer] = append(names[c.issuer], c.name)
	}
	return names, all
}

// sameIdentity reports whether two identities are for the same callers, and give them the same.
func sameIdentity(a, b *contract.Identity) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.ServiceAccount == b.ServiceAccount && a.Issuer == b.Issuer && a.Subject == b.Subject && maps.Equal(a.Claims, b.Claims) &&
		maps.Equal(a.Attributes, b.Attributes) && a.Groups == b.Groups && slices.Equal(a.Among, b.Among)
}

// exactly is the hash of the caller's ServiceAccount or subject.
func exactly(caller *identity.Caller) hash {
	i := contract.Identity{ServiceAccount: caller.ServiceAccount}
	if caller.ServiceAccount == "" {
		i = contract.Identity{Issuer: caller.Issuer, Subject: caller.Subject}
	}
	return identityHash(&i)
}

// tokenOf returns the token for the caller's ServiceAccount or subject, or nil.
func (d *Directory) tokenOf(caller *identity.Caller, now time.Time) *holder {
	for _, e := range d.identities.of(exactly(caller)) {
		if !e.holder.expired(now) {
			return e.holder
		}
	}
	return nil
}

// eachByClaims yields each token for callers with claims if this caller has all of them; some tokens more than once.
func (d *Directory) eachByClaims(caller *identity.Caller, now time.Time, found func(*holder)) {
	for _, name := range d.claims[caller.Issuer] {
		for _, value := range claims.Values(caller.Claims, name) {
			for _, e := range d.identities.of(claimHash(issuerClaim{caller.Issuer, name}, value)) {
				if !e.holder.expired(now) && claims.Match(caller.Claims, e.holder.identity.Claims) {
					found(e.holder)
				}
			}
		}
	}
}

// HasIdentities reports whether a token is for callers who show what somebody else issued.
func (d *Directory) HasIdentities() bool { return d.kinds.identities }

// HasServiceAccounts reports whether a token is for a ServiceAccount.
func (d *Directory) HasServiceAccounts() bool { return d.kinds.serviceAccounts }
