// Package observe asks the server's pods for their Status and keeps the newest report of each. Every pod has a worker
// of its own: one that hangs holds nothing up but the news about itself (docs/design/controllers.md, "Observing pods").
//
// The controllers import it; it knows the contract and pods, and nothing else of the project.
package observe

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// AdminPort is where a server's pod has /status.
const AdminPort = "8081"

const (
	// longPoll is how long a pod may wait for news before it answers.
	longPoll = 20 * time.Second
	// grace is how much longer than that an answer may take.
	grace = 10 * time.Second
	// The first pause after a failed attempt, and the longest.
	firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second
	// patience is how long the first answer of a pod is waited for.
	patience = 3 * time.Second
)

// Options say how pods are reached.
type Options struct {
	// Address returns the host and port of a pod's admin listener; nil is the pod's IP and AdminPort.
	Address func(*corev1.Pod) string
	// OnReport is called after a report came that differs from the one before, and after the first attempt to ask a pod
	// failed. It must not block.
	OnReport func(endpoint types.NamespacedName)
	// OnApprovals is called with what a pod tells of calls that wait, or waited, for approvals. It must not block. If it returns false, the
	// pod is asked again later. Nil is that nobody wants to know.
	OnApprovals func(endpoint types.NamespacedName, approvals []contract.Approval) bool
	Log         logr.Logger
}

// Poller keeps the newest report of each pod that it was told of. It is safe for concurrent use.
type Poller struct {
	options Options
	ctx     context.Context

	mu        sync.Mutex
	endpoints map[types.NamespacedName]map[types.UID]*worker
	looks     map[types.NamespacedName]string
}

// New returns a Poller whose workers end with the context.
func New(ctx context.Context, options Options) *Poller {
	if options.Address == nil {
		options.Address = func(pod *corev1.Pod) string { return net.JoinHostPort(pod.Status.PodIP, AdminPort) }
	}
	return &Poller{
		options:   options,
		ctx:       ctx,
		endpoints: map[types.NamespacedName]map[types.UID]*worker{},
		looks:     map[types.NamespacedName]string{},
	}
}

// Look makes the endpoint's pods look at their database once for each new request, which is any text; "" is none. It
// counts from the next Observe on.
func (p *Poller) Look(endpoint types.NamespacedName, request string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks[endpoint] = request; request == "" {
		delete(p.looks, endpoint)
	}
}

// Observe makes these the endpoint's pods: new ones are asked from now on, and others no longer. Pods without an address
// are not asked. key is the bearer token of /status.
func (p *Poller) Observe(endpoint types.NamespacedName, key string, pods []corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.endpoints[endpoint]
	workers := map[types.UID]*worker{}
	for i := range pods {
		pod := &pods[i]
		if pod.Status.PodIP == "" {
			continue
		}
		target := target{address: p.options.Address(pod), key: key, look: p.looks[endpoint], ready: IsReady(pod)}
		w := old[pod.UID]
		if w != nil && w.target == target {
			workers[pod.UID] = w
			delete(old, pod.UID)
			continue
		}
		next := &worker{
			poller: p, endpoint: endpoint, target: target, since: time.Now(),
			pod: klog.KObj(pod), connection: connection{address: target.address},
		}
		if w != nil {
			next.report = w.latest()
			next.asked = next.report != nil
			next.approvals.cursor = w.approvals.cursorNow()
		}
		var ctx context.Context
		ctx, next.stop = context.WithCancel(p.ctx)
		workers[pod.UID] = next
		go next.run(ctx)
	}
	for _, gone := range old {
		gone.stop()
	}
	if p.endpoints[endpoint] = workers; len(workers) == 0 {
		delete(p.endpoints, endpoint)
		delete(p.looks, endpoint)
	}
}

// Report returns the newest report of a pod, or nil if there is none, and how long it is worth waiting for the very
// first one: until the first attempt ended, and for a few seconds at most. The report must not be changed.
func (p *Poller) Report(endpoint types.NamespacedName, pod types.UID) (*contract.Status, time.Duration) {
	p.mu.Lock()
	w := p.endpoints[endpoint][pod]
	p.mu.Unlock()
	if w == nil {
		return nil, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked {
		return w.report, 0
	}
	return w.report, max(0, patience-time.Since(w.since))
}

// target is where a pod's admin listener is, and what opens it.
type target struct {
	address, key string
	// look is the newest request to look at the database.
	look string
	// ready reports whether the pod is Ready. One that has just become so is asked at once, whatever the pause that failures
	// led to, and its first report is waited for again: it counts from now on.
	ready bool
}

// IsReady reports whether a pod has the condition Ready.
func IsReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// worker asks one pod.
type worker struct {
	poller   *Poller
	endpoint types.NamespacedName
	target   target
	pod      klog.ObjectRef
	since    time.Time
	stop     context.CancelFunc
	// connection is for all that run asks, one after the other.
	connection connection
	approvals  approvalsRead
	// usageCursor is the cursor of the pod's last answer about used tokens.
	usageCursor atomic.Int64

	mu sync.Mutex
	// asked reports whether the first attempt has ended.
	asked  bool
	report *contract.Status
}

func (w *worker) latest() *contract.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.report
}

// run asks until the context ends. A pod that cannot be asked keeps its last report: it has that revision at least.
// There is a pause after a failure, and after an answer that came early and had nothing new in it.
func (w *worker) run(ctx context.Context) {
	defer w.connection.close()
	pause := firstPause
	for ctx.Err() == nil {
		asked := time.Now()
		report, err := w.ask(ctx)
		switch {
		case err != nil:
			w.poller.options.Log.V(1).Info("A pod could not be asked for its status", "pod", w.pod, "reason", err.Error())
			if w.failed() {
				w.poller.options.OnReport(w.endpoint)
			}
			sleep(ctx, pause)
			pause = min(2*pause, longestPause)
		case w.keep(report):
			w.poller.options.OnReport(w.endpoint)
			pause = firstPause
		case time.Since(asked) < firstPause:
			sleep(ctx, firstPause)
		}
		if err := w.readApprovals(ctx); err != nil {
			w.poller.options.Log.V(1).Info("A pod did not tell which calls wait for approvals", "pod", w.pod, "reason", err.Error())
			sleep(ctx, firstPause)
		}
	}
}

// keep makes a report the newest, and returns whether it differs from the one before.
func (w *worker) keep(report *contract.Status) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := w.report == nil || w.report.Serial != report.Serial
	w.report, w.asked = report, true
	return news
}

// failed notes that an attempt failed, and returns whether it was the first one.
func (w *worker) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.asked
	w.asked = true
	return first
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ask waits for a report that is not the one at hand. Models that are at hand are not sent again.
func (w *worker) ask(ctx context.Context) (*contract.Status, error) {
	last := w.latest()
	wait := longPoll
	if w.approvals.due(last) { // they could not be read a moment ago
		wait = approvalsPause
	}
	query := url.Values{"wait": {wait.String()}}
	if last != nil {
		query.Set("seen", last.Serial)
	}
	if last != nil && last.ModelsSerial != "" {
		query.Set("models", last.ModelsSerial)
	}
	if w.target.look != "" {
		query.Set("look", w.target.look)
	}
	ctx, cancel := context.WithTimeout(ctx, longPoll+grace)
	defer cancel()
	body, err := w.connection.get(ctx, "/status?"+query.Encode(), w.target.key, contract.MaxStatusBytes)
	if err != nil {
		return nil, err
	}
	report, err := readReport(body)
	if err == nil && last != nil && last.ModelsSerial != "" && report.ModelsSerial == last.ModelsSerial {
		report.Models = last.Models
	}
	return report, err
}
