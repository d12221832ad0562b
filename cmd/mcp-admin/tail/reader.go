package tail

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

const (
	// settle is how long a followed line waits for older ones of other pods.
	settle = 500 * time.Millisecond
	// podLook is how often new pods are looked for, and a log that has ended is opened again.
	podLook = time.Second
	// maxLine is the longest line that is read. Audit lines are far shorter.
	maxLine = 1 << 20
)

// reader reads the audit lines of an endpoint's pods.
type reader struct {
	cluster  *cluster.Cluster
	endpoint client.ObjectKey
	// from is the age of the oldest line; zero is any.
	from time.Time
	// tell says what happens beside the lines.
	tell func(string)
}

// read prints all lines that are there.
func (r *reader) read(ctx context.Context, show func(line) error) error {
	pods, err := r.cluster.Pods(ctx, r.endpoint)
	if err != nil {
		return err
	}
	var lines []line
	for i := range pods {
		of, err := r.whole(ctx, &pods[i])
		if err != nil {
			r.tell("pod " + pods[i].Name + ": " + cluster.Explain(err).Error())
		}
		lines = append(lines, of...)
	}
	if len(pods) == 0 {
		r.tell("the endpoint has no pods")
	}
	sortByTime(lines)
	for _, l := range lines {
		if err := show(l); err != nil {
			return err
		}
	}
	return nil
}

// whole are the lines of a pod so far: those of the container before the present one, too.
func (r *reader) whole(ctx context.Context, pod *corev1.Pod) ([]line, error) {
	var lines []line
	collect := func(l line) { lines = append(lines, l) }
	if restarts(pod) > 0 {
		// What a container before the present one wrote may be gone by now.
		_, _ = r.stream(ctx, pod, corev1.PodLogOptions{Previous: true}, time.Time{}, collect)
	}
	_, err := r.stream(ctx, pod, corev1.PodLogOptions{}, time.Time{}, collect)
	return lines, err
}

// stream reads a log to its end. It passes over lines that are not after seen, and returns the time of the last line.
func (r *reader) stream(ctx context.Context, pod *corev1.Pod, options corev1.PodLogOptions, seen time.Time, to func(line)) (time.Time, error) {
	options.Container, options.Timestamps = cluster.ServerContainer, true
	since := r.from
	if seen.After(since) {
		since = seen
	}
	if !since.IsZero() {
		options.SinceTime = new(metav1.NewTime(since.Add(-time.Second))) // it has whole seconds
	}
	log, err := r.cluster.Core.Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	if err != nil {
		return seen, err
	}
	defer log.Close()
	buffered, start := bufio.NewReaderSize(log, maxLine), seen
	for {
		text, err := buffered.ReadSlice('\n')
		l, audit := parse(pod.Name, slices.Clone(text))
		if l.logged.After(start) {
			seen = l.logged
			if audit && !l.at.Before(r.from) {
				to(l)
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return seen, nil
		case err != nil:
			return seen, err
		}
	}
}

func restarts(pod *corev1.Pod) int32 {
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == cluster.ServerContainer {
			return c.RestartCount
		}
	}
	return 0
}

func sortByTime(lines []line) {
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
}

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
	followed := map[types.UID]bool{}
	failing := false
	for {
		pods, err := r.cluster.Pods(ctx, r.endpoint)
		if err != nil && ctx.Err() == nil && !failing {
			r.tell(err.Error() + "; it is tried again")
		}
		failing = err != nil
		for i := range pods {
			if pod := &pods[i]; !followed[pod.UID] {
				followed[pod.UID] = true
				workers.Go(func() { r.followPod(ctx, pod, lines) })
			}
		}
		if !wait(ctx, podLook) {
			return
		}
	}
}

// followPod follows a pod's log, through restarts of its container, until the pod is gone.
func (r *reader) followPod(ctx context.Context, pod *corev1.Pod, lines chan<- line) {
	send := func(l line) {
		select {
		case lines <- l:
		case <-ctx.Done():
		}
	}
	var seen time.Time
	told := ""
	if restarts(pod) > 0 {
		seen, _ = r.stream(ctx, pod, corev1.PodLogOptions{Previous: true}, seen, send) // it may be gone by now
	}
	for {
		var err error
		seen, err = r.stream(ctx, pod, corev1.PodLogOptions{Follow: true}, seen, send)
		switch {
		case ctx.Err() != nil, apierrors.IsNotFound(err):
			return
		case err != nil && !apierrors.IsBadRequest(err) && told != err.Error(): // a container that has not started is a bad request
			told = err.Error()
			r.tell("pod " + pod.Name + ": " + cluster.Explain(err).Error())
		}
		if !wait(ctx, podLook) {
			return
		}
		var now corev1.Pod
		if err := r.cluster.Get(ctx, cluster.Key(pod), &now); apierrors.IsNotFound(err) || err == nil && now.UID != pod.UID {
			return
		} else if err == nil && restarts(&now) > restarts(pod) {
			seen, _ = r.stream(ctx, pod, corev1.PodLogOptions{Previous: true}, seen, send) // what was written before it ended
			pod = &now
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
