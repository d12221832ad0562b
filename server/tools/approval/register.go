package approval

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of what waits in one process: of one caller, and of all. keptAfter is how long the register remembers what ended or what
// nobody asked for again.
const (
	maxWaitingOfCaller = 100
	maxWaiting         = 2000
	keptAfter          = time.Hour
)

// answeredAgain is how long a call that waits is answered without being run again, if nothing was decided meanwhile.
const answeredAgain = 5 * time.Second

// Register knows the calls that wait in this process, and what people decided about calls. It outlives a Config, and is safe for
// concurrent use.
type Register struct {
	// process makes cursors that no process before had.
	process string
	// news is told when there is more for the manager, and send sends events to webhooks; nil: none are sent.
	news func()
	send Send

	// waiters is how many calls of the tool wait for a decision.
	waiters atomic.Int32

	mu        sync.Mutex
	count     int64
	entries   map[string]*entry // by digest
	byRequest map[[sha256.Size]byte]*entry
	decisions map[string]*contract.Decision // by digest
	// allowed says of calls that still wait how many people have allowed them, by digest and policy.
	allowed map[string]map[string]int
	// decided is closed when the decisions change.
	decided chan struct{}
	// notified are the webhooks that get events.
	notified notified
}

// entry is a call that waits or waited.
type entry struct {
	contract.Approval
	request [sha256.Size]byte
	// serial is the count of the register's last change of it.
	serial int64
	// asked is when the call was run last, answer what it got.
	asked  time.Time
	answer []byte
	// waitsUntil is when it is too late to allow it.
	waitsUntil time.Time
	// sums are those of the policies that ask, and asks is what they ask for.
	sums []string
	asks []call.PolicyAsks
	// values are those of the call's changes while it waits, as JSON; nil if they are not kept.
	values []byte
	// told is the last state that webhooks were told of. round tells apart the times that the same call was asked for, by when the one
	// before ended; 0 is the first.
	told  string
	round int64
	// task is the call as a task; nil if its client waits for none.
	task *task
}

func (e *entry) waitsError() error { return &call.WaitsError{Approval: e.Name, Answer: e.answer} }

// NewRegister returns a Register that knows nothing yet. news is called when there is more for the manager; it must not block. send may
// be nil.
func NewRegister(news func(), send Send) *Register {
	return &Register{
		process: rand.Text(), news: news, send: send, entries: map[string]*entry{}, byRequest: map[[sha256.Size]byte]*entry{},
		decisions: map[string]*contract.Decision{}, decided: make(chan struct{}),
	}
}

// Decide takes all decisions that there are.
func (r *Register) Decide(decisions map[string]*contract.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decisions = decisions
	close(r.decided)
	r.decided = make(chan struct{})
	r.tellDecided(time.Now())
}

// Allowed takes how many people have allowed the calls that still wait, by their digests and by policy.
func (r *Register) Allowed(allowed map[string]map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for digest, e := range r.entries {
		if !maps.Equal(r.allowed[digest], allowed[digest]) {
			e.asked = time.Time{} // the next answer says so
		}
	}
	r.allowed = allowed
}

// decision is the decision about a digest; nil if there is none.
func (r *Register) decision(digest string) *contract.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decisions[digest]
}

// stillWaits is the error of a call that was run a moment ago and has to wait; nil if it has to be run.
func (r *Register) stillWaits(asked *request, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byRequest[asked.sum]
	if e == nil || e.State != contract.ApprovalWaiting || r.about(e) != nil || now.Sub(e.asked) >= answeredAgain {
		return nil
	}
	if asked.reason != "" && asked.reason != e.Reason {
		e.Reason = asked.reason
		r.changed(e)
	}
	return e.waitsError()
}

// wait notes a call that has to wait, and returns the error that says so.
func (r *Register) wait(h *held, a *contract.Approval, met []*policy, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	before := r.byRequest[h.request.sum]
	e := r.entries[a.Digest]
	if e == nil {
		if err := r.room(a.Caller); err != nil {
			return err
		}
		e = &entry{}
		r.entries[a.Digest] = e
	}
	if e.State != contract.ApprovalWaiting || now.After(e.waitsUntil) {
		*e = entry{Approval: *a, request: h.request.sum, waitsUntil: now.Add(shortest(met)), round: r.roundAfter(e, a.Digest)}
		e.values = r.keptValues(a.Digest, met, h.changes)
		r.changed(e)
		r.tell(e, e.State, nil, now)
	} else if a.Reason != "" && a.Reason != e.Reason {
		e.Reason = a.Reason
		r.changed(e)
	}
	e.asked, e.sums = now, nil
	for _, p := range met {
		e.sums = append(e.sums, p.Sum)
	}
	r.byRequest[h.request.sum] = e
	e.asks = asksOf(met)
	e.answer = e.waits(r.allowed[e.Digest])
	if before == nil || before == e || before.State != contract.ApprovalWaiting {
		return e.waitsError()
	}
	allowed := r.decisions[before.Digest]
	before.By = a.Name
	r.end(before, contract.ApprovalSuperseded, now)
	if allowed == nil || allowed.State != contract.ApprovalApproved {
		return e.waitsError()
	}
	message := "the rows have changed since " + before.Name + " was allowed, so that the call would do something else: nothing was changed. It waits as a new approval; look at the rows, and ask again with the same arguments once that is allowed"
	return &call.ToolError{Code: call.CodeConflict, Message: message,
		Payload: answerOf(map[string]any{"error": message, "code": call.CodeConflict, "approval": a.Name, "superseded": before.Name})}
}

// roundAfter is the round of a call that is asked for now: when the approval before it ended, so that each pod finds the same, unless the
// call was withdrawn. The caller holds the lock.
func (r *Register) roundAfter(before *entry, digest string) int64 {
	switch d := r.decisions[digest]; {
	case d != nil:
		return d.Expires.UnixMilli()
	case before.Ended != nil:
		return before.Ended.UnixMilli()
	}
	return 0
}

// shortest is how long a call waits: the shortest time of the policies that ask.
func shortest(met []*policy) time.Duration {
	least := time.Duration(met[0].ExpiresAfter)
	for _, p := range met[1:] {
		least = min(least, time.Duration(p.ExpiresAfter))
	}
	return least
}

// asksOf is what policies ask for.
func asksOf(met []*policy) []call.PolicyAsks {
	var asks []call.PolicyAsks
	for _, p := range met {
		asks = append(asks, call.PolicyAsks{Name: p.Name, Description: p.Description, Approvals: p.MinApprovals})
	}
	return asks
}

// given is what the policies ask for, and how many people have allowed it.
func (e *entry) given(allowed map[string]int) []call.PolicyAsks {
	asks := slices.Clone(e.asks)
	for i := range asks {
		asks[i].Given = min(allowed[asks[i].Name], asks[i].Approvals)
	}
	return asks
}

// waits is what the caller of a call that waits gets.
func (e *entry) waits(allowed map[string]int) []byte {
	a := call.WaitsAnswer{Code: call.CodeApprovalRequired, Approval: e.Name, Expires: e.waitsUntil.UTC().Truncate(time.Second), Rows: e.Rows, Policies: e.given(allowed),
		Message: "Nothing was changed: other people must allow this call first. Ask again with exactly the same arguments once it is allowed; the tool approvals tells when, and can wait for it."}
	if e.Reason == "" {
		a.Message += " To tell them why it is needed, call again with approval_reason beside the arguments."
	}
	return answerOf(a)
}

// answerOf is an answer as JSON.
func answerOf(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and moments: it cannot fail
	}
	return text
}

// room is an error if no more calls of a caller, or of all, may wait.
func (r *Register) room(caller string) error {
	all, own := 0, 0
	for _, e := range r.entries {
		if e.State != contract.ApprovalWaiting {
			continue
		}
		if all++; e.Caller == caller {
			own++
		}
	}
	if own < maxWaitingOfCaller && all < maxWaiting {
		return nil
	}
	return call.Failf(call.CodeUnavailable, "this call needs an approval, and too many calls wait for one already (%d of yours, %d of all): nothing was changed. Withdraw some of yours with the tool approvals, or ask again when some are decided", own, all)
}

// changed notes that the manager has to be told of an entry. The caller holds the lock.
func (r *Register) changed(e *entry) {
	if e.State != contract.ApprovalWaiting {
		e.values = nil
	}
	r.count++
	e.serial = r.count
	r.news()
}

// about is the decision about a call that waits; nil if there is none, or the call was asked for anew since.
func (r *Register) about(e *entry) *contract.Decision {
	if d := r.decisions[e.Digest]; d != nil && !e.Asked.After(d.Expires) {
		return d
	}
	return nil
}

// use takes the policies of a Config. What waits for policies that are not in force any more ends: if they come back, it is asked for anew.
func (r *Register) use(e *contract.Endpoint) {
	inForce := map[string]bool{}
	for i := range e.Approvals {
		inForce[e.Approvals[i].Sum] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notified = notifiedBy(e)
	for _, e := range r.entries {
		if e.State == contract.ApprovalWaiting && slices.ContainsFunc(e.sums, func(sum string) bool { return !inForce[sum] }) {
			r.tell(e, contract.ApprovalSuperseded, nil, time.Now())
			r.drop(e)
		}
	}
}

// forget removes what ended, or was last asked for, long ago. What waits and is forgotten is not lost: its object stays, and the call
// finds its decision by its digest. The caller holds the lock.
func (r *Register) forget(now time.Time) {
	for _, e := range r.entries {
		if last := e.lastTouched(); now.Sub(last) > keptAfter && (e.State != contract.ApprovalWaiting || now.After(e.waitsUntil)) {
			r.drop(e)
		}
	}
}

// drop removes an entry. The caller holds the lock.
func (r *Register) drop(e *entry) {
	delete(r.entries, e.Digest)
	if r.byRequest[e.request] == e {
		delete(r.byRequest, e.request)
	}
}

func (e *entry) lastTouched() time.Time {
	if e.Ended != nil {
		return *e.Ended
	}
	return e.asked
}

// Serial differs if Page has more; "" if no call waited yet.
func (r *Register) Serial() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		return ""
	}
	return r.cursor(r.count)
}

func (r *Register) cursor(serial int64) string {
	return r.process + "-" + strconv.FormatInt(serial, 10)
}

// Page is the answer to a manager that has seen a cursor.
func (r *Register) Page(after string) contract.ApprovalPage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var seen int64
	if process, number, ok := strings.Cut(after, "-"); ok && process == r.process {
		seen, _ = strconv.ParseInt(number, 10, 64) // what is no number has seen nothing
	}
	var fresh []*entry
	for _, e := range r.entries {
		if e.serial > seen {
			fresh = append(fresh, e)
		}
	}
	slices.SortFunc(fresh, func(a, b *entry) int { return cmp.Compare(a.serial, b.serial) })
	page := contract.ApprovalPage{Approvals: []contract.Approval{}}
	page.More = len(fresh) > contract.MaxApprovalsPage
	for _, e := range fresh[:min(len(fresh), contract.MaxApprovalsPage)] {
		page.Approvals = append(page.Approvals, e.Approval)
		seen = e.serial
	}
	page.Cursor = r.cursor(seen)
	return page
}
