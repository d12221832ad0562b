package access

import (
	"iter"
	"time"
)

// InForce yields, for each token in force, when it expires (nil: never), and whether it lives long in all.
func (d *Directory) InForce(now time.Time) iter.Seq2[*time.Time, bool] {
	return func(yield func(expiry *time.Time, long bool) bool) {
		for _, part := range d.parts {
			var last *holder // the entries of a token stand together
			for _, e := range part.entries {
				if h := e.holder; h != last && !h.expired(now) && !yield(h.expiry, !h.shortLived) {
					return
				}
				last = e.holder
			}
		}
	}
}
