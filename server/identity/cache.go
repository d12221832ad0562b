package identity

import (
	"crypto/sha256"
	"sync"
	"time"
)

// The limits of the cache.
const (
	maxEntries = 4096
	// maxBytes is for the texts of the tokens together: what is known of a token is some times as large as its text.
	maxBytes = 4 << 20
)

// A cache holds the tokens that were checked, by the SHA-256 of their texts. Only a token that its issuer has signed comes in,
// so that nobody can fill it with rubbish.
type cache struct {
	mutex   sync.RWMutex
	entries map[[sha256.Size]byte]*entry
	bytes   int
	// generation grows when entries are dropped because something changed.
	generation uint64
}

// An entry is a token that was checked.
type entry struct {
	caller  *Caller
	refusal Refusal
	// until is the moment from which the token must be checked again.
	until time.Time
	// url is the issuer's in the token; issuer is the one whose settings the token was checked by.
	url    string
	issuer *issuer
	// key is the sum of the key that has signed the token.
	key  [sha256.Size]byte
	size int
}

func newCache() *cache { return &cache{entries: map[[sha256.Size]byte]*entry{}} }

// get returns the entry of a token; nil if it must be checked.
func (c *cache) get(sum [sha256.Size]byte, now time.Time) *entry {
	c.mutex.RLock()
	e := c.entries[sum]
	c.mutex.RUnlock()
	if e == nil || !now.Before(e.until) {
		return nil
	}
	return e
}

// current returns the generation by which a check begins.
func (c *cache) current() uint64 {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return c.generation
}

// add stores what was found of a token. It reports false if something changed since the check began.
func (c *cache) add(sum [sha256.Size]byte, e *entry, generation uint64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if generation != c.generation {
		return false
	}
	c.remove(sum)
	for other := range c.entries { // in no order: whoever is thrown out by chance is checked again, no more
		if len(c.entries) < maxEntries && c.bytes+e.size <= maxBytes {
			break
		}
		c.remove(other)
	}
	c.entries[sum] = e
	c.bytes += e.size
	return true
}

func (c *cache) remove(sum [sha256.Size]byte) {
	if e := c.entries[sum]; e != nil {
		c.bytes -= e.size
		delete(c.entries, sum)
	}
}

// drop removes the entries that are no longer right, and has checks that are under way begin again.
func (c *cache) drop(wrong func(*entry) bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.generation++
	c.removeIf(wrong)
}

// sweep removes the entries that are too old.
func (c *cache) sweep(now time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.removeIf(func(e *entry) bool { return !now.Before(e.until) })
}

func (c *cache) removeIf(wrong func(*entry) bool) {
	for sum, e := range c.entries {
		if wrong(e) {
			c.remove(sum)
		}
	}
}
