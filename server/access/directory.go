package access

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A Directory knows the tokens in force, by the hashes of their texts and by the callers that they are for, whatever the
// models are. It never changes: With returns another that shares what is the same, so that a change of one part costs that
// part only.
type Directory struct {
	// texts are found by the hash of what a request shows, identities by hashes of who its caller is. They are apart, so that
	// neither is ever found as the other. nil is a table without entries.
	texts, identities *buckets
	parts             []directoryPart
	// missing is how many parts are missing.
	missing int
	// claims are the names of the claims by which tokens of an issuer are found, sorted.
	claims map[string][]string
	kinds  kinds
	sets   *ruleSets
	// expressions are the expressions that were compiled for callers.
	expressions *expressions
}

// buckets are the entries by the first bits of their hashes. The entries of a bucket are sorted by hash and part.
type buckets [1 << bucketBits][]entry

// bucketBits is such that a bucket has few entries at ten thousand tokens, and an empty directory is small.
const bucketBits = 10

type hash [sha256.Size]byte

func (h hash) bucket() int { return (int(h[0])<<8 | int(h[1])) >> (16 - bucketBits) }

// An entry is one hash of a token: of its text, or of its identity (identityHash). Two parts may have the same hash for a
// moment, while one token gives its text to another: the first part counts, and if it goes the other does.
type entry struct {
	hash   hash
	holder *holder
}

func (e entry) compare(other entry) int {
	return cmp.Or(bytes.Compare(e.hash[:], other.hash[:]), cmp.Compare(e.holder.part, other.holder.part))
}

// same reports whether two entries say the same.
func (e entry) same(other entry) bool { return e.hash == other.hash && e.holder.equal(other.holder) }

// A holder is an MCPToken in force.
type holder struct {
	// name is the token's namespace and name.
	name, uid string
	part      int
	expiry    *time.Time // nil: never
	// shortLived is as in contract.Token.
	shortLived bool
	set        *ruleSet
	// attributes are the token's attributes for row policies, sorted by name.
	attributes []attribute
	// identity says which callers the token is for; nil if it has texts.
	identity *contract.Identity
	// seesAll is set for the Inspector alone: no row policy is for it.
	seesAll bool
}

type attribute struct{ name, value string }

// A directoryPart holds what one part brought.
type directoryPart struct {
	// from is the part itself: another pointer is another content. nil is a part that is missing.
	from    *contract.TokenPart
	entries []entry
	// refused finds its tokens for callers who are refused.
	refused *refusedIndex
	// claims are the claims by which its tokens are found, sorted.
	claims []issuerClaim
	kinds
}

// kinds reports whether there are tokens that are for callers, and whether some of them are ServiceAccounts.
type kinds struct{ identities, serviceAccounts bool }

// NewDirectory returns a directory of no part, and no token.
func NewDirectory() *Directory {
	return &Directory{sets: newRuleSets(), expressions: &expressions{}}
}

// DirectoryOf returns the tokens that a Config has in itself.
func DirectoryOf(config *contract.Config) *Directory { return NewDirectory().With(Whole(config)) }

// Whole returns the tokens of a Config that has them in itself, as its only part.
func Whole(config *contract.Config) []*contract.TokenPart {
	return []*contract.TokenPart{{Version: config.Version, Revision: config.Revision, Tokens: config.Tokens}}
}

// With returns the directory of these parts; nil is a missing part. A part that is the same pointer as before has not
// changed, and is not looked at. Tokens that belong into another part are passed over (contract.PartOf).
func (d *Directory) With(parts []*contract.TokenPart) *Directory {
	before := d.parts
	known := map[string][]entry{} // by the names of the tokens of changed parts
	if len(parts) != len(before) {
		before = make([]directoryPart, len(parts))
		d.remember(known, d.parts...)
	}
	next := &Directory{parts: make([]directoryPart, len(parts)), sets: d.sets, expressions: d.expressions}
	changed := false
	texts, identities := edits{}, edits{}
	for i, part := range parts {
		if part == nil {
			next.missing++
		}
		if before[i].from == part {
			next.parts[i] = before[i]
			continue
		}
		changed = true
		d.remember(known, before[i])
		next.parts[i] = next.read(part, i, len(parts), known)
		next.parts[i].since(before[i], texts, identities)
	}
	if len(parts) == len(d.parts) {
		if !changed {
			return d
		}
		next.texts, next.identities = d.texts, d.identities
	}
	next.texts, next.identities = texts.apply(next.texts), identities.apply(next.identities)
	next.claims, next.kinds = claimsOf(next.parts)
	return next
}

// remember notes the entries of each token of some parts.
func (d *Directory) remember(known map[string][]entry, parts ...directoryPart) {
	for _, p := range parts {
		for first, i := 0, 1; i <= len(p.entries); i++ {
			if i == len(p.entries) || p.entries[i].holder != p.entries[first].holder {
				known[p.entries[first].holder.name] = p.entries[first:i]
				first = i
			}
		}
	}
}

// read returns what a part brings: the tokens in force that belong into it, if this reader understands what they require.
// Unchanged tokens keep their entries.
func (d *Directory) read(part *contract.TokenPart, index, parts int, known map[string][]entry) directoryPart {
	p := directoryPart{from: part}
	if part == nil {
		return p
	}
	p.refused = &refusedIndex{inForce: make([]publicName, 0, len(part.Tokens))}
	p.entries = make([]entry, 0, len(part.Tokens))
	common := commonClaims(part.Tokens)
	for i := range part.Tokens {
		t := &part.Tokens[i]
		if contract.PartOf(t.Namespace, t.Name, parts) != index {
			continue
		}
		if !t.InForce() {
			p.refused.tokens = append(p.refused.tokens, knownToken{t.Namespace + "/" + t.Name, t.PublicID, t.Refused, t.RefusedSums})
			continue
		}
		h, first := d.holderOf(t, index), len(p.entries)
		if t.PublicID != "" {
			p.refused.inForce = append(p.refused.inForce, publicName{t.PublicID, h.name})
		}
		if len(contract.Missing(t.Requires)) > 0 {
			continue
		}
		if t.Identity != nil {
			p.addIdentity(h, common)
		} else {
			p.addTexts(h, t.Hashes)
		}
		if old := known[h.name]; slices.EqualFunc(old, p.entries[first:], entry.same) {
			copy(p.entries[first:], old)
		}
	}
	p.claims = compactClaims(p.claims)
	return p
}

func (p *directoryPart) addTexts(h *holder, hashes []string) {
	for _, text := range hashes {
		e := entry{holder: h}
		if n, err := hex.Decode(e.hash[:], []byte(text)); err == nil && n == len(e.hash) {
			p.entries = append(p.entries, e)
		}
	}
}

// since adds to the edits what a part has more and less than the one before.
func (p directoryPart) since(before directoryPart, texts, identities edits) {
	of := func(e entry) edits {
		if e.holder.identity != nil {
			return identities
		}
		return texts
	}
	kept := make(map[*holder]bool, len(p.entries))
	for _, e := range p.entries {
		kept[e.holder] = true
	}
	for _, e := range before.entries {
		if kept[e.holder] {
			kept[e.holder] = false // none of its entries is new
		} else if _, stays := kept[e.holder]; !stays {
			of(e).at(e).removed = append(of(e).at(e).removed, e)
		}
	}
	for _, e := range p.entries {
		if kept[e.holder] {
			of(e).at(e).added = append(of(e).at(e).added, e)
		}
	}
}

// edits are the changes of a table, by bucket.
type edits map[int]*edit

// at is the edit of an entry's bucket.
func (e edits) at(of entry) *edit {
	bucket := of.hash.bucket()
	if e[bucket] == nil {
		e[bucket] = &edit{}
	}
	return e[bucket]
}

// apply returns the table with the edits made; without any it is the same.
func (e edits) apply(to *buckets) *buckets {
	if len(e) == 0 {
		return to
	}
	next := &buckets{}
	if to != nil {
		*next = *to
	}
	for bucket, edit := range e {
		next[bucket] = edit.apply(next[bucket])
	}
	return next
}

// An edit is the change of a bucket.
type edit struct{ removed, added []entry }

func (e *edit) apply(bucket []entry) []entry {
	next := make([]entry, 0, len(bucket)-len(e.removed)+len(e.added))
	for _, old := range bucket {
		if !slices.Contains(e.removed, old) {
			next = append(next, old)
		}
	}
	next = append(next, e.added...)
	slices.SortFunc(next, entry.compare)
	return next
}

// Revisions are the parts' revisions; a missing part has 0.
func (d *Directory) Revisions() []int64 {
	revisions := make([]int64, len(d.parts))
	for i, p := range d.parts {
		if p.from != nil {
			revisions[i] = p.from.Revision
		}
	}
	return revisions
}

// Missing is how many parts are missing.
func (d *Directory) Missing() int { return d.missing }

// Len is how many hashes there are.
func (d *Directory) Len() int {
	count := 0
	for _, p := range d.parts {
		count += len(p.entries)
	}
	return count
}

func (d *Directory) holderOf(t *contract.Token, part int) *holder {
	h := &holder{
		name: t.Namespace + "/" + t.Name, uid: t.UID, part: part, expiry: t.Expiry, shortLived: t.ShortLived, set: d.sets.of(t.Groups, t.Rules), identity: t.Identity,
	}
	if len(t.Attributes) > 0 {
		h.attributes = make([]attribute, 0, len(t.Attributes))
		for name, value := range t.Attributes {
			h.attributes = append(h.attributes, attribute{name, value})
		}
		slices.SortFunc(h.attributes, attribute.compare)
	}
	return h
}

func (a attribute) compare(b attribute) int { return cmp.Compare(a.name, b.name) }

func (h *holder) equal(other *holder) bool {
	return h.name == other.name && h.uid == other.uid && h.part == other.part && sameTime(h.expiry, other.expiry) && h.shortLived == other.shortLived &&
		h.set == other.set && slices.Equal(h.attributes, other.attributes) && sameIdentity(h.identity, other.identity)
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// expired reports whether the token is refused by its expiry.
func (h *holder) expired(now time.Time) bool { return h.expiry != nil && !now.Before(*h.expiry) }

// find returns the entry of a text's hash, or nil.
func (d *Directory) find(h hash) *entry {
	if found := d.texts.of(h); len(found) > 0 {
		return &found[0]
	}
	return nil
}

// of returns the entries of a hash.
func (b *buckets) of(h hash) []entry {
	if b == nil {
		return nil
	}
	bucket := b[h.bucket()]
	low, high := 0, len(bucket)
	for low < high {
		if middle := (low + high) / 2; bytes.Compare(bucket[middle].hash[:], h[:]) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	end := low
	for end < len(bucket) && bucket[end].hash == h {
		end++
	}
	return bucket[low:end]
}

// attribute is the value of an attribute; false if the token does not have it.
func (h *holder) attribute(name string) (string, bool) {
	for _, a := range h.attributes {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

func (h *holder) in(group string) bool { return slices.Contains(h.set.groups, group) }
