package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// reconcileTimeout is how long one reconcile may take; then its requests fail.
	reconcileTimeout = time.Minute
	// stuckAfter is how long one may have taken if it did not heed that; then the manager is not healthy.
	stuckAfter = 3 * reconcileTimeout
)

// Guard stands before every reconciler. It leaves out what another installation looks after, and knows which reconciles
// never end. It is safe for concurrent use.
type Guard struct {
	// leases is nil if nobody else can be there.
	leases *Installations
	now    func() time.Time

	mu      sync.Mutex
	serial  int
	running map[int]started
}

type started struct {
	kind    string
	request reconcile.Request
	at      time.Time
}

// NewGuard returns a guard that lets reconcilers work only where the leases do not yield.
func NewGuard(leases *Installations, now func() time.Time) *Guard {
	return &Guard{leases: leases, now: now, running: map[int]started{}}
}

// Before returns a reconciler that the guard stands before. The kind is the kind that it reconciles.
func (g *Guard) Before(kind string, r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		if g.leases != nil {
			if yields, err := g.leases.yields(ctx, request.Namespace); yields || err != nil {
				return ctrl.Result{RequeueAfter: leasePeriod}, err
			}
		}
		defer g.begin(kind, request)()
		return r.Reconcile(ctx, request)
	})
}

// begin notes that a reconcile runs, until what it returns is called.
func (g *Guard) begin(kind string, request reconcile.Request) (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.serial++
	serial := g.serial
	g.running[serial] = started{kind, request, g.now()}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.running, serial)
	}
}

// check implements healthz.Checker: it fails if a reconcile never ends.
func (g *Guard) check(*http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.running {
		if lasts := g.now().Sub(r.at); lasts > stuckAfter {
			return fmt.Errorf("the reconcile of %s %s does not end: it has run for %s", r.kind, r.request, lasts.Round(time.Second))
		}
	}
	return nil
}
