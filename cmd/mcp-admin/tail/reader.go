package tail

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// maxLine is the longest line that is read. Audit lines are far shorter.
const maxLine = 1 << 20

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
