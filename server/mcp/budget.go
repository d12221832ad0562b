package mcp

import (
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/share"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/steps"
)

// budgets bound what requests hold at once: all of them together, and each token's.
//
// Some memory is given back at the client's pace: a body that it sends, an answer that it reads. Of it each token may
// have a quarter, so that several slow tokens still leave room. Places are given back by the server itself, so a token
// may have all but a quarter of them.
type budgets struct {
	// places are requests that are being answered; placesSize is their number.
	places     *share.Pool
	placesSize atomic.Int64
	// exports are files that are being sent; exportsSize is how many there may be.
	exports     *share.Pool
	exportsSize atomic.Int64
	// bodies are the bytes of bodies; answers are the bytes of parsed bodies and of answers that are being read.
	bodies, answers         *share.Pool
	bodiesSize, answersSize int64
}

// defaultMemory is the memory that a process may use if nothing sets a limit.
const defaultMemory = 256 << 20

// What a request needs in addition to its own bytes.
const (
	// requestOverhead is the memory of an open request: its connection's buffers, its goroutine, its headers.
	requestOverhead = 32 << 10
	// parsedBody is how many bytes the parsed form of a body may take while a call runs, for each byte of the body and of
	// what references in it name.
	parsedBody = 8
	// madeAnswer is how many bytes a call may hold for each byte of the largest result: its rows, and the answer that
	// contains them as a text. structuredAnswer is how many more if the answer has them as structuredContent, too.
	madeAnswer       = 2
	structuredAnswer = 1
)

// answerPatience is how long a request waits for the memory of its answer.
const answerPatience = 5 * time.Second

// newBudgets divides the memory that a process may use; 0 stands for the runtime's limit. Bodies get an eighth, answers
// a quarter; the rest is for the garbage of both and for everything else.
func newBudgets(memory int64) *budgets {
	if memory == 0 {
		memory = debug.SetMemoryLimit(-1) // a negative limit sets nothing and returns the limit in force
	}
	if memory == math.MaxInt64 {
		memory = defaultMemory
	}
	bodies, answers := memory/8, memory/4
	return &budgets{
		places:      share.New(1, 1),
		exports:     share.New(1, 1),
		bodies:      share.New(bodies, share.Quarter(bodies)),
		answers:     share.New(answers, share.Quarter(answers)),
		bodiesSize:  bodies,
		answersSize: answers,
	}
}

// grow takes the memory for a body of that many bytes, and reports whether the token may have it.
func (b *budgets) grow(x *exchange, size int64) bool {
	more := size + requestOverhead - x.reading
	if more <= 0 {
		return true
	}
	if !b.bodies.Grow(x.holder, x.reading, more) {
		return x.short(telemetry.ShortOfBodies)
	}
	x.reading += more
	return true
}

// short counts that something was short, unless the client is gone. It returns false.
func (x *exchange) short(of telemetry.Shortage) bool {
	if x.ctx.Err() == nil {
		x.handler.options.Metrics.Busy(of)
	}
	return false
}

// Shares tells what is in use of the places and of the memory now.
func (h *Handler) Shares() (places, memory map[telemetry.Shortage]telemetry.Share) {
	b := h.budgets
	of := func(pool *share.Pool, limit int64) telemetry.Share {
		return telemetry.Share{Used: pool.Used(), Limit: limit}
	}
	return map[telemetry.Shortage]telemetry.Share{
			telemetry.ShortOfRequests: of(b.places, b.placesSize.Load()), telemetry.ShortOfExports: of(b.exports, b.exportsSize.Load()),
		}, map[telemetry.Shortage]telemetry.Share{
			telemetry.ShortOfBodies: of(b.bodies, b.bodiesSize), telemetry.ShortOfAnswers: of(b.answers, b.answersSize),
		}
}

// enter takes a place for a request, and the memory that its answer may need. It returns false if it cannot have them
// in time.
func (b *budgets) enter(x *exchange) bool {
	limits := &x.endpoint.Settings().Limits
	if slots := int64(limits.MaxConcurrentRequests); b.placesSize.Swap(slots) != slots {
		b.places.Resize(slots, share.ButQuarter(slots))
	}
	if !b.places.Try(x.holder, 1) {
		return x.short(telemetry.ShortOfRequests)
	}
	x.place = 1
	copies := int64(madeAnswer)
	if x.endpoint.Settings().Catalogue.StructuredContent {
		copies += structuredAnswer
	}
	need := min(copies*int64(limits.MaxResultBytes)+parsedBody*int64(len(x.in)+steps.Referred(x.in)), b.answersSize/2)
	if b.answers.Wait(x.ctx, x.holder, need, answerPatience) != nil {
		return x.short(telemetry.ShortOfAnswers)
	}
	x.sending = need
	return true
}

// enterExport takes what an export needs while it is sent. It returns false if it cannot have that in time.
func (b *budgets) enterExport(x *exchange) bool {
	if size := exportsAtOnce(x.endpoint.Settings()); b.exportsSize.Swap(size) != size {
		b.exports.Resize(size, share.Quarter(size))
	}
	if b.exports.Wait(x.ctx, x.holder, 1, exportPatience) != nil {
		return x.short(telemetry.ShortOfExports)
	}
	x.exporting = 1
	if b.answers.Wait(x.ctx, x.holder, exportMemory, answerPatience) != nil {
		return x.short(telemetry.ShortOfAnswers)
	}
	x.sending = exportMemory
	return true
}

// made gives back what a request no longer needs once its answer is made: everything except the answer itself.
func (b *budgets) made(x *exchange) {
	held := int64(cap(x.out)+len(x.shared.Plain)) + requestOverhead // what is shared may be this request's alone by the time it is read
	b.answers.Move(x.holder, held-x.sending)
	x.sending = held
	b.leavePlace(x)
	b.leaveBody(x)
}

// leave gives back all that a request holds.
func (b *budgets) leave(x *exchange) {
	b.leavePlace(x)
	b.leaveBody(x)
	if x.exporting != 0 {
		b.exports.Give(x.holder, x.exporting)
		x.exporting = 0
	}
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

// leaveBody gives a body back. What was parsed from it must not be used after that.
func (b *budgets) leaveBody(x *exchange) {
	if x.reading == 0 {
		return
	}
	x.dropBody()
	b.bodies.Give(x.holder, x.reading)
	x.reading = 0
}
