package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// absenceGrace is how long an endpoint may have no ready pod before its objects stop being Programmed. A restarted pod
// is soon back with the same Config, so the status of thousands of tokens need not be written twice. The endpoint itself
// says at once that no pod is ready.
const absenceGrace = 10 * time.Second

// absences remembers what endpoints' pods had applied before none was ready any more. It is safe for concurrent use.
type absences struct {
	memo[types.NamespacedName, absence]
}

type absence struct {
	// revision is what every pod had applied when one was ready last.
	revision int64
	// since is when no pod was found ready; zero while one is.
	since time.Time
}

// note takes an endpoint's reports. If the last ready pod went less than absenceGrace ago, it returns the revision that
// all pods had before, and how long that still counts. Else it returns zeros.
func (a *absences) note(endpoint types.NamespacedName, reports podReports, now time.Time) (revision int64, left time.Duration) {
	if reports.counted() > 0 {
		a.set(endpoint, absence{revision: reports.applied()})
		return 0, 0
	}
	last, known := a.get(endpoint)
	if known && last.since.IsZero() {
		last.since = now
		a.set(endpoint, last)
	}
	if left = absenceGrace - now.Sub(last.since); !known || left <= 0 {
		return 0, 0
	}
	return last.revision, left
}
