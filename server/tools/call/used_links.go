package call

import (
	"maps"
	"sync"
	"time"
)

// maxLinks is how many links of one token a process remembers. With more that are still valid, no other link of the token is used:
// nobody could tell any more whether it was used before.
const maxLinks = 5000

// UsedLinks are the links of exports that were fetched, or refused, from this process. Others know of them by the endpoint's table
// of idempotency keys, if it has one. The zero value is ready; it is safe for concurrent use.
type UsedLinks struct {
	mu            sync.Mutex
	used, refused linksByToken
}

// linksByToken has, for each token, the ids of its links and when each can be forgotten, because it has expired.
type linksByToken map[string]map[string]time.Time

// Use notes that a link is used, and reports whether it was not used before. With too many links none of the token's can be used.
func (u *UsedLinks) Use(link *ExportLink, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.used.note(link, link.Expires, now)
}

// FirstRefusal reports whether a link was not refused before: whoever tries one again and again must not fill the log.
func (u *UsedLinks) FirstRefusal(link *ExportLink, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused.note(link, now.Add(ExportLife), now)
}

func (l *linksByToken) note(link *ExportLink, until, now time.Time) bool {
	if *l == nil {
		*l = linksByToken{}
	}
	links, known := (*l)[link.Token]
	if !known {
		l.forget(now) // before the memory of another token is needed
		links = map[string]time.Time{}
		(*l)[link.Token] = links
	}
	if _, known := links[link.ID]; known {
		return false
	}
	if len(links) >= maxLinks {
		forgetExpired(links, now)
	}
	if len(links) >= maxLinks {
		return false
	}
	links[link.ID] = until
	return true
}

// forget drops what has expired, and the tokens of which nothing is left.
func (l linksByToken) forget(now time.Time) {
	for token, links := range l {
		if forgetExpired(links, now); len(links) == 0 {
			delete(l, token)
		}
	}
}

func forgetExpired(links map[string]time.Time, now time.Time) {
	maps.DeleteFunc(links, func(_ string, until time.Time) bool { return !now.Before(until) })
}
