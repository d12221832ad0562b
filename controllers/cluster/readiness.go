package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// readiness tells whether a manager works, or could at once if it became the leader: a standby is ready as well.
type readiness struct {
	caches []cache.Cache
	synced atomic.Bool
	api    rest.Interface
}

// apiTimeout is how long the API server may take to answer a check.
const apiTimeout = 2 * time.Second

// AddChecks makes /readyz and /healthz of a manager tell the truth.
func AddChecks(mgr manager.Manager, g *Guard, caches ...cache.Cache) error {
	api, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	r := &readiness{caches: caches, api: api.RESTClient()}
	return errors.Join(
		mgr.Add(r),
		mgr.AddReadyzCheck("caches", r.checkCaches),
		mgr.AddReadyzCheck("api-server", r.checkAPI),
		mgr.AddHealthzCheck("reconcilers", g.check),
	)
}

// Start implements manager.Runnable: it notes that the caches are full.
func (r *readiness) Start(ctx context.Context) error {
	for _, c := range r.caches {
		if !c.WaitForCacheSync(ctx) {
			return nil // the manager ends
		}
	}
	r.synced.Store(true)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a standby has caches too.
func (r *readiness) NeedLeaderElection() bool { return false }

func (r *readiness) checkCaches(*http.Request) error {
	if !r.synced.Load() {
		return errors.New("the caches are not full yet")
	}
	return nil
}

// checkAPI asks for the API server's version, which every user may read.
func (r *readiness) checkAPI(request *http.Request) error {
	ctx, cancel := context.WithTimeout(request.Context(), apiTimeout)
	defer cancel()
	if err := r.api.Get().AbsPath("/version").Do(ctx).Error(); err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	return nil
}
