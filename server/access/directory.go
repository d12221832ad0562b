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

// A Directory knows the tokens in force by their hashes, whatever the models are. It never changes: With returns
// another that shares what is the same, so that a change of one part costs that part only.
type Directory struct {
	buckets buckets
	parts   []directoryPart
	// missing is how many parts are missing.
	missing int
	sets    *ruleSets
}

// buckets are the entries by the first bits of their hashes. Those of a bucket are sorted by hash and part.
type buckets [1 << bucketBits][]entry

// bucketBits is such that a bucket has few entries at ten thousand tokens, and an empty directory is small.
const bucketBits = 10

type hash [sha256.Size]byte

func (h *hash) bucket() int { return (int(h[0])<<8 | int(h[1])) >> (16 - bucketBits) }

// An entry is one hash of a token. Two parts may have the same hash for a moment, while one token gives its text to
// another: the first part counts, and if it goes the other does.
type entry struct {
	hash   hash
	holder *holder
}

func (e entry) compare(other entry) int {
	return cmp.Or(bytes.Compare(e.hash[:], other.hash[:]), cmp.Compare(e.holder.part, other.holder.part))
}

// A holder is an MCPToken in force.
type holder struct {
	// name is the token's namespace and name.
	name, uid string
	part      int
	expiry    time.Time // zero: never
	set       *ruleSet
	// attributes are what row policies know of the token beside its groups.
	attributes []attribute
}

type attribute struct{ name, value string }

// A directoryPart is what one part brought.
type directoryPart struct {
	// from is the part itself: another pointer is another content. nil is a part that is missing.
	from    *contract.TokenPart
	entries []entry
}

// NewDirectory returns a directory of no part, and no token.
func NewDirectory() *Directory { return &Directory{sets: newRuleSets()} }

// DirectoryOf returns the tokens that a Config has in itself.
func DirectoryOf(config *contract.Config) *Directory { return NewDirectory().With(Whole(config)) }

// Whole returns the tokens of a Config that has them in itself, as its only part.
func Whole(config *contract.Config) []*contract.TokenPart {
	return []*contract.TokenPart{{Version: config.Version, Revision: config.Revision, Tokens: config.Tokens}}
}

// With returns the directory of these parts, of which nil is one that is missing. A part that is the same pointer as
// before has not changed, and is not looked at. Tokens that belong into another part are passed over
// (contract.PartOf).
func (d *Directory) With(parts []*contract.TokenPart) *Directory {
	next := &Directory{parts: make([]directoryPart, len(parts)), sets: d.sets}
	changed := make([]bool, max(len(parts), len(d.parts)))
	sameLayout := len(parts) == len(d.parts)
	touched := map[int][]entry{} // the new entries of the buckets that change
	for i, before := range d.parts {
		if sameLayout && before.from == parts[i] {
			continue
		}
		changed[i] = true
		for _, e := range before.entries {
			touched[e.hash.bucket()] = nil
		}
	}
	if sameLayout && !slices.Contains(changed, true) {
		return d
	}
	for i, part := range parts {
		switch {
		case part == nil:
			next.missing++
		case sameLayout && !changed[i]:
			next.parts[i] = d.parts[i]
		default:
			next.parts[i] = next.read(part, i, len(parts))
			for _, e := range next.parts[i].entries {
				touched[e.hash.bucket()] = append(touched[e.hash.bucket()], e)
			}
		}
	}
	next.buckets = d.buckets
	for b, added := range touched {
		next.buckets[b] = replace(d.buckets[b], added, changed)
	}
	return next
}

// Revisions are those of the parts; a missing one has 0.
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

// replace returns a bucket without the entries of changed parts, and with the added ones.
func replace(bucket, added []entry, changed []bool) []entry {
	stays := func(e entry) bool { return !changed[e.holder.part] }
	count := len(added)
	for _, e := range bucket {
		if stays(e) {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	next := make([]entry, 0, count)
	for _, e := range bucket {
		if stays(e) {
			next = append(next, e)
		}
	}
	next = append(next, added...)
	slices.SortFunc(next, entry.compare)
	return next
}

// read returns what a part brings: the tokens in force that belong into it, if this reader understands what they require.
func (d *Directory) read(part *contract.TokenPart, index, parts int) directoryPart {
	p := directoryPart{from: part, entries: make([]entry, 0, len(part.Tokens))}
	for i := range part.Tokens {
		t := &part.Tokens[i]
		if len(t.Hashes) == 0 || contract.PartOf(t.Namespace, t.Name, parts) != index || len(contract.Missing(t.Requires)) > 0 {
			continue
		}
		h := d.holderOf(t, index)
		for _, text := range t.Hashes {
			e := entry{holder: h}
			if n, err := hex.Decode(e.hash[:], []byte(text)); err == nil && n == len(e.hash) {
				p.entries = append(p.entries, e)
			}
		}
	}
	return p
}

func (d *Directory) holderOf(t *contract.Token, part int) *holder {
	h := &holder{name: t.Namespace + "/" + t.Name, uid: t.UID, part: part, set: d.sets.of(t.Groups, t.Rules)}
	if t.Expiry != nil {
		h.expiry = *t.Expiry
	}
	if len(t.Attributes) > 0 {
		h.attributes = make([]attribute, 0, len(t.Attributes))
		for name, value := range t.Attributes {
			h.attributes = append(h.attributes, attribute{name, value})
		}
	}
	return h
}

// find returns the token of a hash, or nil.
func (d *Directory) find(h *hash) *holder {
	bucket := d.buckets[h.bucket()]
	i, found := slices.BinarySearchFunc(bucket, h, func(e entry, h *hash) int { return bytes.Compare(e.hash[:], h[:]) })
	if !found {
		return nil
	}
	return bucket[i].holder
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
