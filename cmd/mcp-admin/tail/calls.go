package tail

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// Record holds the fields of an audit line.
type Record = record

// Call is a call, as its audit line tells it.
type Call struct {
	Record
	// Pod wrote the line; "" if that is not known. At is when.
	Pod string
	At  time.Time
}

// Newest are the newest calls, in the order in which their lines came. It takes lines as an io.Writer, each in one Write, and passes over
// what is no audit line. Safe for concurrent use.
type Newest struct {
	most int
	from time.Time

	mu    sync.Mutex
	calls []Call
	// over is how many were left out.
	over int
}

// NewNewest keeps at most so many calls, and none from before a time.
func NewNewest(most int, from time.Time) *Newest { return &Newest{most: most, from: from} }

// Write implements io.Writer. It never fails.
func (n *Newest) Write(text []byte) (int, error) {
	if l, audit := parse("", text, false); audit {
		n.add(l)
	}
	return len(text), nil
}

func (n *Newest) add(l line) {
	if l.at.Before(n.from) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, Call{l.record, l.pod, l.at})
	if surplus := len(n.calls) - n.most; surplus > 0 {
		n.calls, n.over = slices.Delete(n.calls, 0, surplus), n.over+surplus
	}
}

// Calls are the calls, the newest first, and how many older ones were left out.
func (n *Newest) Calls() (calls []Call, over int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls = slices.Clone(n.calls)
	slices.Reverse(calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return b.At.Compare(a.At) })
	return calls, n.over
}

// LogLines is how many lines of a container's log Read looks at, from its end.
const LogLines = 5000

// Read returns the newest calls that the logs of an endpoint's pods tell of: at most so many, none from before a time, the newest first.
// It says how many older ones were left out, and calls tell with what it could not look at.
func Read(ctx context.Context, k *cluster.Cluster, endpoint *v1alpha1.MCPEndpoint, from time.Time, most int, tell func(string)) (calls []Call, over int, err error) {
	r := &reader{cluster: k, endpoint: cluster.Key(endpoint), from: from, tell: tell}
	pods, err := k.Pods(ctx, r.endpoint)
	if err != nil {
		return nil, 0, err
	}
	if len(pods) == 0 {
		tell("the endpoint has no pods")
	}
	all := NewNewest(most*max(1, len(pods)), from)
	for i := range pods {
		pod, end := &pods[i], int64(LogLines)
		if restarts(pod) > 0 {
			_, _ = r.stream(ctx, pod, corev1.PodLogOptions{Previous: true, TailLines: &end}, time.Time{}, all.add) // it may be gone by now
		}
		if _, err := r.stream(ctx, pod, corev1.PodLogOptions{TailLines: &end}, time.Time{}, all.add); err != nil {
			tell("pod " + pod.Name + ": " + cluster.Explain(err).Error())
		}
	}
	r.tellMissing(pods, &endpoint.Spec)
	calls, over = all.Calls()
	if len(calls) > most {
		calls, over = calls[:most], over+len(calls)-most
	}
	return calls, over, nil
}
