package call

import (
	"sync"
	"time"
)

// maxLinks is how many links a process remembers; with more that are still valid, none is made any more.
const maxLinks = 20_000

// UsedLinks are the links of exports that were fetched, or refused, from this process. Others know of them by the endpoint's table
// of idempotency keys, if it has one. The zero value is ready; it is safe for concurrent use.
type UsedLinks struct {
	mu sync.Mutex
	// until is when a link can be forgotten, because it has expired.
	used, refused map[string]time.Time
}

// Use notes that a link is used, and reports whether it was not used before. With too many links none can be used.
func (u *UsedLinks) Use(id string, expires, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return note(&u.used, id, expires, now)
}

// FirstRefusal reports whether a link was not refused before: whoever tries one again and again must not fill the log.
func (u *UsedLinks) FirstRefusal(id string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return note(&u.refused, id, now.Add(ExportLife), now)
}

func note(links *map[string]time.Time, id string, expires, now time.Time) bool {
	if _, known := (*links)[id]; known {
		return false
	}
	if len(*links) >= maxLinks {
		for other, until := range *links {
			if !now.Before(until) {
				delete(*links, other)
			}
		}
		if len(*links) >= maxLinks {
			return false
		}
	}
	if *links == nil {
		*links = map[string]time.Time{}
	}
	(*links)[id] = expires
	return true
}
