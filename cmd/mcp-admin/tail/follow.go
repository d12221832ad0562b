package tail

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

const (
	// settle is how long a followed line waits for older ones of other pods.
	settle = 500 * time.Millisecond
	// podLook is how often the pods are listed, and a log that has ended is opened again.
	podLook = time.Second
	// endGrace is how long the log of a container that has ended may stay open: the kubelet looks every five seconds.
	endGrace = 6 * time.Second
)

// follow prints lines until the context ends.
func (r *reader) follow(ctx context.Context, show func(line) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan line)
	go r.pods(ctx, lines)
	return merge(ctx, lines, show)
}

// merge prints lines by their times, each after it has waited for older ones.
func merge(ctx context.Context, lines <-chan line, show func(line) error) error {
	type arrived struct {
		line
		when time.Time
	}
	var waiting []arrived
	tick := time.NewTicker(settle / 5)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-lines:
			waiting = append(waiting, arrived{l, time.Now()})
			continue
		case <-tick.C:
		}
		slices.SortStableFunc(waiting, func(a, b arrived) int { return a.at.Compare(b.at) })
		// A line goes when it, or one that is to stand behind it, has waited long enough.
		last := -1
		for i := range waiting {
			if time.Since(waiting[i].when) >= settle {
				last = i
			}
		}
		for _, a := range waiting[:last+1] {
			if err := show(a.line); err != nil {
				return err
			}
		}
		waiting = waiting[last+1:]
	}
}

// pods follows each pod of the endpoint in a worker of its own, as they come.
func (r *reader) pods(ctx context.Context, lines chan<- line) {
	var workers sync.WaitGroup
	defer workers.Wait()
	var present presence
	followed := map[types.UID]bool{}
	failing := false
	for {
		pods, err := r.cluster.Pods(ctx, r.endpoint)
		if err != nil && ctx.Err() == nil && !failing {
			r.tell(err.Error() + "; it is tried again")
		}
		if failing = err != nil; !failing {
			present.set(pods)
		}
		for i := range pods {
			if pod := &pods[i]; !followed[pod.UID] {
				followed[pod.UID] = true
				l := &podLog{reader: r, pod: pod, present: &present, lines: lines}
				workers.Go(func() { l.follow(ctx) })
			}
		}
		if !wait(ctx, podLook) {
			return
		}
	}
}

// presence is how the pods were when they were listed last.
type presence struct {
	mu   sync.Mutex
	pods map[types.UID]*corev1.Pod
}

func (p *presence) set(pods []corev1.Pod) {
	byUID := map[types.UID]*corev1.Pod{}
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pods = byUID
}

// of is a pod as it was listed last; nil if it is gone.
func (p *presence) of(uid types.UID) *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pods[uid]
}

// podLog follows the logs of a pod's containers, one after the other.
type podLog struct {
	*reader
	pod     *corev1.Pod
	present *presence
	lines   chan<- line
	// seen is the time of the last line. Restarts are the noticed restarts.
	seen     time.Time
	restarts int32
	// told is the error that was told last.
	told string
}

// follow reads until the pod is gone. A restart shows in the pod's status a while after it happened, so the log that is
// opened then may already be the next container's. What the one before wrote after unread is read once it shows.
func (l *podLog) follow(ctx context.Context) {
	unread := l.seen
	for {
		now := l.present.of(l.pod.UID)
		if now == nil {
			return
		}
		if n := restarts(now); n > l.restarts {
			l.restarts = n
			_ = l.take(ctx, corev1.PodLogOptions{Previous: true}, unread) // it may be gone by now
		}
		unread = l.seen
		if l.attach(ctx) {
			unread = l.seen
		}
		if !wait(ctx, podLook) {
			return
		}
	}
}

// attach follows the log of the container that runs. It reports whether that ended by itself: then it was read whole. It is
// left when the container before it turns out to have ended, since that one's last lines may not have been read.
func (l *podLog) attach(ctx context.Context) (ended bool) {
	following, leave := context.WithCancel(ctx)
	defer leave()
	go l.leaveAfterRestart(following, leave)
	err := l.take(following, corev1.PodLogOptions{Follow: true}, l.seen)
	// A container that has not started is a bad request, a pod that is gone is not found.
	if err != nil && following.Err() == nil && !apierrors.IsBadRequest(err) && !apierrors.IsNotFound(err) && l.told != err.Error() {
		l.told = err.Error()
		l.tell("pod " + l.pod.Name + ": " + cluster.Explain(err).Error())
	}
	return err == nil
}

func (l *podLog) leaveAfterRestart(ctx context.Context, leave func()) {
	for wait(ctx, podLook) {
		if now := l.present.of(l.pod.UID); now != nil && restarts(now) > l.restarts {
			wait(ctx, endGrace)
			leave()
			return
		}
	}
}

// take sends the lines of a log that are after a time.
func (l *podLog) take(ctx context.Context, options corev1.PodLogOptions, after time.Time) error {
	last, err := l.stream(ctx, l.pod, options, after, func(read line) {
		select {
		case l.lines <- read:
		case <-ctx.Done():
		}
	})
	if last.After(l.seen) {
		l.seen = last
	}
	return err
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
