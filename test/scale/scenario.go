package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// scenario is how many objects there are: endpoints, and exposures and tokens of each.
type scenario struct {
	Endpoints int `json:"endpoints"`
	Exposures int `json:"exposuresEach"`
	Tokens    int `json:"tokensEach"`
}

func (s scenario) objectsEach() int { return 1 + s.Exposures + s.Tokens }
func (s scenario) objects() int     { return s.Endpoints * s.objectsEach() }

func (s scenario) String() string {
	if s.Endpoints == 1 {
		return fmt.Sprintf("one endpoint, %d models, %d tokens", s.Exposures, s.Tokens)
	}
	return fmt.Sprintf("%d endpoints, %d exposures and %d tokens each", s.Endpoints, s.Exposures, s.Tokens)
}

func (s scenario) endpoint(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: namespaceOf(i), Name: fmt.Sprintf("shop-%d", i)}
}

// object makes the i-th object: endpoint by endpoint, each with its exposures and tokens.
func (s scenario) object(i int) client.Object {
	at, rest := s.endpoint(i/s.objectsEach()), i%s.objectsEach()
	switch {
	case rest == 0:
		return newEndpoint(at.Namespace, at.Name)
	case rest <= s.Exposures:
		return newExposure(at.Namespace, at.Name, rest)
	}
	return newToken(at.Namespace, at.Name, fmt.Sprintf("%s-token-%d", at.Name, rest-s.Exposures))
}

// run is one scenario at work in a laboratory.
type run struct {
	scenario
	*lab
	out      io.Writer
	began    time.Time
	steps    []string
	idleTime time.Duration
	probes   *probes
	result   *result
}

const (
	// stalled is how long no object may become Ready until the rest is given up.
	stalled = 90 * time.Second
	// settleLimit bounds the wait for quiet.
	settleLimit = 3 * time.Minute
)

// The steps of a scenario that may be left out. Each measures rows of the table.
const (
	stepQuiet   = "quiet"
	stepSteady  = "steady"
	stepEdit    = "edit"
	stepIdle    = "idle"
	stepRestart = "restart"
	stepCeiling = "ceiling"
)

var allSteps = []string{stepQuiet, stepSteady, stepEdit, stepIdle, stepRestart, stepCeiling}

// measure does everything in turn, but for the steps that are not asked for.
func (r *run) measure(ctx context.Context) error {
	for _, step := range []struct {
		name, what string
		do         func(context.Context) error
	}{
		{"", "the manager starts", r.manager.start},
		{"", "endpoints to issue and revoke tokens at", r.makeProbes},
		{"", "objects are created; meanwhile tokens are issued and revoked", r.create},
		{stepQuiet, "tokens are issued and revoked while all else is quiet", r.quiet},
		{stepSteady, "20 changes a second", r.steady},
		{stepEdit, "a group is edited", r.editGroup},
		{stepIdle, "nothing is done", r.idle},
		{stepRestart, "the manager is killed and started", r.restart},
		{stepCeiling, "the API server's own ceiling", r.measureCeiling},
	} {
		if step.name != "" && !slices.Contains(r.steps, step.name) {
			continue
		}
		r.say("%s …", step.what)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.out, "%6.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// makeProbes makes what tokens are issued and revoked at while the others are created: three endpoints beside them, or
// the one endpoint.
func (r *run) makeProbes(ctx context.Context) error {
	namespaces := map[string]bool{probeNamespace: true}
	for i := range r.Endpoints {
		namespaces[namespaceOf(i)] = true
	}
	for name := range namespaces {
		if err := r.client.Create(ctx, newNamespace(name)); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err := r.client.Create(ctx, newConnection(name)); err != nil {
			return err
		}
	}
	r.probes = &probes{lab: r.lab}
	if r.Endpoints == 1 {
		return r.createRange(ctx, 0, 1+r.Exposures)
	}
	for i := range 3 {
		at := types.NamespacedName{Namespace: probeNamespace, Name: fmt.Sprintf("%sshop-%d", probePrefix, i)}
		r.probes.endpoints = append(r.probes.endpoints, at)
		if err := r.client.Create(ctx, newEndpoint(at.Namespace, at.Name)); err != nil {
			return err
		}
		for j := range 10 {
			if err := r.client.Create(ctx, newExposure(at.Namespace, at.Name, j)); err != nil {
				return err
			}
		}
	}
	return r.probes.stock(ctx, 20)
}

const probeNamespace = probePrefix + "scale"

// createRange creates some of the objects.
func (r *run) createRange(ctx context.Context, from, to int) error {
	return parallel(ctx, 8, to-from, func(i int) error { return r.client.Create(ctx, r.object(from+i)) })
}

// create makes all objects as fast as the API server takes them, and waits until all are Ready.
func (r *run) create(ctx context.Context) error {
	from := 0
	if r.Endpoints == 1 {
		// The endpoint and its models are there already; only the tokens are measured.
		from = 1 + r.Exposures
		r.awaitReady(ctx, time.Now(), from)
		r.probes.endpoints = []types.NamespacedName{r.endpoint(0)}
		if err := r.probes.stock(ctx, 20); err != nil {
			return err
		}
	}
	before := r.note()
	before.asked = r.audit.counts(false)
	began := time.Now()
	var err error
	r.result.UnderLoad, err = r.probes.under(ctx, 250*time.Millisecond, func() error {
		failed := make(chan error, 1)
		go func() { failed <- r.createRange(ctx, from, r.objects()) }()
		r.result.Ready, r.result.NotReady = r.awaitReady(ctx, began, r.objects())
		r.result.Objects = r.objects() - from - r.result.NotReady
		return <-failed
	})
	if err != nil {
		return err
	}
	if _, quiet := r.settle(ctx, 0); !quiet {
		r.say("it does not become quiet")
	}
	after := r.note()
	after.asked = r.audit.counts(false)
	r.result.Bulk = phaseOf(before, after, r.result.Objects)
	now := r.manager.usage()
	r.result.Memory.Ready, r.result.Memory.Peak = now.RSS, now.Peak
	r.result.Memory.Heap = int64(after.metrics["go_memstats_heap_alloc_bytes"])
	return r.manager.saveProfiles(ctx, r.dir)
}

// awaitReady waits until so many objects are Ready, and returns how long that took and how many are not.
func (r *run) awaitReady(ctx context.Context, began time.Time, objects int) (took time.Duration, missing int) {
	told := time.Now()
	for ; ; pause(ctx, 20*time.Millisecond) {
		ready, last := r.watched.readyCount()
		if ready >= objects {
			return last.Sub(began), 0
		}
		if last.Before(began) {
			last = began
		}
		if ctx.Err() != nil {
			return time.Since(began), objects - ready
		}
		if time.Since(last) > stalled {
			r.say("%d of %d objects are not Ready, and none has become so for %s: given up", objects-ready, objects, stalled)
			return last.Sub(began), objects - ready
		}
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			now := r.manager.usage()
			r.say("  %d of %d Ready, manager %s", ready, objects, mib(now.RSS))
		}
	}
}

// quiet measures tokens when nothing else changes.
func (r *run) quiet(ctx context.Context) error {
	if r.Endpoints > 1 {
		r.probes.endpoints = nil
		for i := range r.Endpoints {
			r.probes.endpoints = append(r.probes.endpoints, r.endpoint(i))
		}
	}
	if err := r.probes.stock(ctx, 5); err != nil {
		return err
	}
	var err error
	r.result.Quiet, err = r.probes.quietly(ctx, 100)
	return err
}

// steady measures the manager at a constant rate of changes.
func (r *run) steady(ctx context.Context) error {
	before := r.note()
	var err error
	r.result.SteadyTokens, err = r.probes.under(ctx, 100*time.Millisecond, func() error {
		pause(ctx, 10*time.Second)
		return nil
	})
	if err != nil {
		return err
	}
	r.settle(ctx, 0)
	r.result.Steady = phaseOf(before, r.note(), len(r.result.SteadyTokens.Issued)+len(r.result.SteadyTokens.Revoked))
	return nil
}

// afterEdit is how long writes are counted after a group was edited and all was quiet.
const afterEdit = 2 * time.Minute

// editGroup changes what the tokens of a group may do, at one endpoint.
func (r *run) editGroup(ctx context.Context) error {
	before := r.note()
	at := r.endpoint(0)
	e := &v1alpha1.MCPEndpoint{}
	if err := r.client.Get(ctx, at, e); err != nil {
		return err
	}
	base := e.DeepCopy()
	for i := range e.Spec.Groups {
		if e.Spec.Groups[i].Name == "readers" {
			e.Spec.Groups[i].Permissions[0].Verbs = []v1alpha1.Verb{v1alpha1.VerbView, v1alpha1.VerbAdd}
		}
	}
	began := time.Now()
	if err := r.client.Patch(ctx, e, client.MergeFrom(base)); err != nil {
		return err
	}
	last, _ := r.settle(ctx, 0)
	pause(ctx, afterEdit) // what an edit leaves to do for later counts too
	r.result.GroupEdit = phaseOf(before, r.note(), 1)
	r.result.GroupEdit.Seconds = max(0, last.Sub(began).Seconds())
	return nil
}

// idle counts what the manager does when nothing changes.
func (r *run) idle(ctx context.Context) error {
	before := r.note()
	pause(ctx, r.idleTime)
	r.result.Idle = phaseOf(before, r.note(), 0)
	return ctx.Err()
}

// restart kills the manager, and measures how long the next one has work.
func (r *run) restart(ctx context.Context) error {
	before := r.note()
	r.manager.kill()
	began := time.Now()
	if err := r.manager.start(ctx); err != nil {
		return err
	}
	before.metrics = metrics{} // the counters begin anew
	last, _ := r.settle(ctx, r.objects())
	r.result.Restart = phaseOf(before, r.note(), 0)
	r.result.Restart.Seconds = last.Sub(began).Seconds()
	now := r.manager.usage()
	r.result.Memory.Restarted, r.result.Memory.RestartPeak = now.RSS, now.Peak
	r.result.Refused = r.audit.refusals()
	return nil
}

// notes are the counters at one moment.
type notes struct {
	at          time.Time
	spent       spent
	metrics     metrics
	asked       requests
	ours        int64
	configs     int64
	configBytes int64
}

func (r *run) note() notes {
	n := notes{at: time.Now(), spent: r.spent(), ours: r.written.Load(), asked: r.audit.counts(true)}
	n.metrics, _ = r.manager.scrape() // one that does not answer has counted nothing
	n.configs, n.configBytes = r.pods.written()
	return n
}
