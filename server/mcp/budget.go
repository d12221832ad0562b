package mcp

import (
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// budgets bound what requests hold at once: all of them together, and those of one token.
//
// Memory that a client gives back at its own pace (a body that it sends, an answer that it reads) is a quarter for each
// token, so that even several that are slow leave room. Places are given back by the server itself, which lets a token
// have all but a quarter of them.
type budgets struct {
	// places are requests that are answered; placesSize is their number.
	places     *share.Pool
	placesSize atomic.Int64
	// bodies are the bytes of bodies; answers those of what is made of them, and of answers that are being read.
	bodies, answers *share.Pool
	answersSize     int64
}

// defaultMemory is what a process may use if nothing says so.
const defaultMemory = 256 << 20

// What a request needs beside its own bytes.
const (
	// requestOverhead is that of a request that is open: its connection's buffers, its goroutine, its headers.
	requestOverhead = 32 << 10
	// parsedBody is how many bytes, for each byte of a body, what is made of it may take while a call runs.
	parsedBody = 8
	// madeAnswer is how many bytes, for each byte of the largest result, a call may hold: its rows, and the answer that
	// has them as a text.
	madeAnswer = 2
)

// answerPatience is how long a request waits for the memory of its answer.
const answerPatience = 5 * time.Second

// newBudgets divides the memory that a process may use; 0 is what the runtime was told. An eighth is for bodies, a quarter
// for answers; the rest is for the garbage of both, and all else.
func newBudgets(memory int64) *budgets {
	if memory == 0 {
		memory = debug.SetMemoryLimit(-1) // a negative limit is not set; the one in force is returned
	}
	if memory == math.MaxInt64 {
		memory = defaultMemory
	}
	bodies, answers := memory/8, memory/4
	return &budgets{
		places:      share.New(1, 1),
		bodies:      share.New(bodies, share.Quarter(bodies)),
		answers:     share.New(answers, share.Quarter(answers)),
		answersSize: answers,
	}
}

// grow takes what a body of so many bytes needs, and reports whether the token may have it.
func (b *budgets) grow(x *exchange, size int64) bool {
	more := size + requestOverhead - x.reading
	if more <= 0 {
		return true
	}
	if !b.bodies.Grow(x.holder, x.reading, more) {
		return false
	}
	x.reading += more
	return true
}

// enter takes a place for a request, and the memory that its answer may need; false if it cannot have them in time.
func (b *budgets) enter(x *exchange) bool {
	limits := &x.endpoint.Settings().Limits
	if slots := int64(limits.MaxConcurrentRequests); b.placesSize.Swap(slots) != slots {
		b.places.Resize(slots, share.ButQuarter(slots))
	}
	if !b.places.Try(x.holder, 1) {
		return false
	}
	x.place = 1
	need := min(madeAnswer*int64(limits.MaxResultBytes)+parsedBody*int64(len(x.in)), b.answersSize/2)
	if b.answers.Wait(x.ctx, x.holder, need, answerPatience) != nil {
		return false
	}
	x.sending = need
	return true
}

// made gives back what a request needs no more when its answer is there: all but the answer itself.
func (b *budgets) made(x *exchange) {
	held := int64(cap(x.out)) + requestOverhead
	b.answers.Move(x.holder, held-x.sending)
	x.sending = held
	b.leavePlace(x)
	b.leaveBody(x)
}

// leave gives back all that a request holds.
func (b *budgets) leave(x *exchange) {
	b.leavePlace(x)
	b.leaveBody(x)
	if x.sending != 0 {
		b.answers.Give(x.holder, x.sending)
		x.sending = 0
	}
}

func (b *budgets) leavePlace(x *exchange) {
	if x.place != 0 {
		b.places.Give(x.holder, x.place)
		x.place = 0
	}
}

// leaveBody lets a body go. What was parsed of it is used no more.
func (b *budgets) leaveBody(x *exchange) {
	if x.reading == 0 {
		return
	}
	x.dropBody()
	b.bodies.Give(x.holder, x.reading)
	x.reading = 0
}
