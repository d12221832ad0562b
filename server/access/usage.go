package access

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Usage remembers the hour in which each token was used last, and the tokens that were shown though they are not in force. It outlives
// a Config, and is safe for concurrent use. A token that is used again within the hour costs a look-up, and no memory.
type Usage struct {
	mu   sync.RWMutex
	uses map[string]*use
	// refused are the tokens that were shown though they are not in force.
	refused map[string]*contract.RefusedUse
	// mark numbers the first uses of an hour. It begins with the time, so that it is higher than the cursors of an earlier
	// process.
	mark int64
}

type use struct {
	hour atomic.Int64 // since 1970
	mark int64
}

// usageKept is how long a token is remembered that is not used any more.
const usageKept = 24 // hours

// NewUsage returns a Usage of no token.
func NewUsage(now time.Time) *Usage {
	return &Usage{uses: map[string]*use{}, refused: map[string]*contract.RefusedUse{}, mark: now.UnixNano()}
}

// Touch notes that a token, by its namespace/name, was used.
func (u *Usage) Touch(token string, now time.Time) {
	hour := now.Unix() / 3600
	u.mu.RLock()
	known := u.uses[token]
	u.mu.RUnlock()
	if known != nil && known.hour.Load() >= hour {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.refused, token) // it is in force again
	if known = u.uses[token]; known == nil {
		known = &use{}
		u.uses[token] = known
	}
	if known.hour.Load() < hour {
		u.mark++
		known.mark = u.mark
		known.hour.Store(hour)
	}
}

// Refuse notes that a token was shown, from an address, and refused for that cause. Causes other than that the token has expired or is not
// active are passed over.
func (u *Usage) Refuse(cause Cause, address string, now time.Time) {
	if cause.Reason != Expired && cause.Reason != Inactive {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	known := u.refused[cause.Token]
	if known == nil || known.Reason != cause.Condition {
		known = &contract.RefusedUse{Reason: cause.Condition}
		u.refused[cause.Token] = known
	}
	known.Count++
	known.Last, known.From = now.UTC(), address
}

// refusedUses returns the newest uses that were refused, and forgets those of more than a day ago. The caller holds the lock.
func (u *Usage) refusedUses(now time.Time) map[string]contract.RefusedUse {
	var names []string
	for token, use := range u.refused {
		if now.Sub(use.Last) > usageKept*time.Hour {
			delete(u.refused, token)
			continue
		}
		names = append(names, token)
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return u.refused[b].Last.Compare(u.refused[a].Last) })
	told := make(map[string]contract.RefusedUse, min(len(names), contract.MaxRefusedUses))
	for _, token := range names[:min(len(names), contract.MaxRefusedUses)] {
		told[token] = *u.refused[token]
	}
	return told
}

// After returns what was used after an answer with that cursor, and forgets what is old.
func (u *Usage) After(cursor int64, now time.Time) contract.Usage {
	type marked struct {
		token      string
		mark, hour int64
	}
	u.mu.Lock()
	if cursor > u.mark {
		cursor = 0 // it is no cursor of ours
	}
	var news []marked
	for token, use := range u.uses {
		if hour := use.hour.Load(); use.mark > cursor {
			news = append(news, marked{token, use.mark, hour})
		} else if hour < now.Unix()/3600-usageKept {
			delete(u.uses, token)
		}
	}
	answer := contract.Usage{Cursor: u.mark, Refused: u.refusedUses(now)}
	u.mu.Unlock()

	slices.SortFunc(news, func(a, b marked) int { return cmp.Compare(a.mark, b.mark) })
	if len(news) > contract.MaxUsedTokens {
		news = news[:contract.MaxUsedTokens]
		answer.Cursor = news[len(news)-1].mark
	}
	for _, n := range news {
		if answer.Tokens == nil {
			answer.Tokens = make(map[string]time.Time, len(news))
		}
		answer.Tokens[n.token] = time.Unix(n.hour*3600, 0).UTC()
	}
	return answer
}
