package call

import (
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/rate"
)

// What is kept for the keys of one caller within KeptFor: so many calls, so many bytes of answers, and answers of so many
// bytes at most. An answer that is not kept is missed only if it was lost on its way.
const (
	maxKeptCalls  = 50_000
	maxKeptBytes  = 32 << 20
	maxKeptAnswer = 64 << 10
)

// KeptAnswers counts what is kept for each caller's keys. Each process counts for itself, from its start on: the answers
// themselves are in the database. It is safe for concurrent use.
type KeptAnswers struct {
	calls, bytes rate.Limits
	counted      [len(keyResults)]atomic.Int64
	// Links are the links of exports that were used.
	Links UsedLinks
}

// NewKeptAnswers returns the counts of a process that has kept nothing yet.
func NewKeptAnswers() *KeptAnswers {
	return &KeptAnswers{calls: rate.Limits{Period: KeptFor}, bytes: rate.Limits{Period: KeptFor}}
}

// KeyResult is what became of an idempotency key.
type KeyResult int

// The results: the call happened, its answer was given again, another call has the key, its row was too old and was removed.
const (
	KeyKept KeyResult = iota
	KeyReplayed
	KeyConflict
	KeyForgotten
)

var keyResults = [...]string{"kept", "replayed", "conflict", "forgotten"}

// Count counts keys.
func (k *KeptAnswers) Count(result KeyResult, n int) { k.counted[result].Add(int64(n)) }

// Counted returns how many keys there were of each result.
func (k *KeptAnswers) Counted() map[string]int64 {
	counted := make(map[string]int64, len(keyResults))
	for result, name := range keyResults {
		counted[name] = k.counted[result].Load()
	}
	return counted
}

// TakeCall is an error if one more call of the caller cannot be kept.
func (k *KeptAnswers) TakeCall(caller string, now time.Time) error {
	wait, _ := k.calls.Take(caller, maxKeptCalls, 1, now)
	if wait == 0 {
		return nil
	}
	return rateLimited(wait, "you made more calls with an %s than are kept for a day; nothing was changed: call without a key, or wait", KeyName)
}

// TakeAnswer reports whether an answer of so many bytes is kept.
func (k *KeptAnswers) TakeAnswer(caller string, size int, now time.Time) bool {
	if size > maxKeptAnswer {
		return false
	}
	wait, _ := k.bytes.Take(caller, maxKeptBytes, max(size, 1), now)
	return wait == 0
}

// The answers are kept for a day at least. KeptFor is longer, because the clocks of the server and of the database differ.
const (
	KeptFor      = 25 * time.Hour
	ForgetEvery  = time.Minute
	ForgetAtOnce = 500
	ForgetWithin = 10 * time.Second
)
