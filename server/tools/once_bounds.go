package tools

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/rate"
)

// What is kept for the keys of one caller within keptFor: so many calls, so many bytes of answers, and answers of so many
// bytes at most. An answer that is not kept is missed only if it was lost on its way.
const (
	maxKeptCalls  = 50_000
	maxKeptBytes  = 32 << 20
	maxKeptAnswer = 64 << 10
)

// KeptAnswers counts what is kept for each caller's keys. Each process counts for itself, from its start on: the answers
// themselves are in the database. It is safe for concurrent use.
type KeptAnswers struct{ calls, bytes rate.Limits }

// NewKeptAnswers returns the counts of a process that has kept nothing yet.
func NewKeptAnswers() *KeptAnswers {
	return &KeptAnswers{calls: rate.Limits{Period: keptFor}, bytes: rate.Limits{Period: keptFor}}
}

// takeCall is an error if one more call of the caller cannot be kept.
func (k *KeptAnswers) takeCall(caller string, now time.Time) error {
	wait, _ := k.calls.Take(caller, maxKeptCalls, 1, now)
	if wait == 0 {
		return nil
	}
	return rateLimited(wait, "you made more calls with an %s than are kept for a day; nothing was changed: call without a key, or wait", keyName)
}

// takeAnswer reports whether an answer of so many bytes is kept.
func (k *KeptAnswers) takeAnswer(caller string, size int, now time.Time) bool {
	if size > maxKeptAnswer {
		return false
	}
	wait, _ := k.bytes.Take(caller, maxKeptBytes, max(size, 1), now)
	return wait == 0
}
