package tail

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
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
	// journal is the audit table, which is read beside the logs; nil if it is not.
	journal *journal
	// untimed is set once a node has refused to say when it took a line.
	untimed atomic.Bool
}

// read prints all lines that are there, and says which are not.
func (r *reader) read(ctx context.Context, endpoint *v1alpha1.MCPEndpoint, show func(line) error) error {
	var changes []line
	if r.journal != nil {
		var err error
		if changes, err = r.journal.read(ctx, r.from); err != nil {
			return fmt.Errorf("the journal cannot be read: %w", err)
		}
	}
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
	r.tellMissing(pods, &endpoint.Spec)
	lines = append(lines, withoutLogged(changes, lines)...)
	sortByTime(lines)
	for _, l := range lines {
		if err := show(l); err != nil {
			return err
		}
	}
	return nil
}

// tellMissing says which lines no log has any more, and where they may be.
func (r *reader) tellMissing(pods []corev1.Pod, spec *v1alpha1.MCPEndpointSpec) {
	elsewhere := "; spec.observability.audit.files would have kept them"
	if files := spec.Observability.Audit.Files; files != nil {
		elsewhere = fmt.Sprintf("; claim %s has, in its folder %s, what pods wrote since files are on", files.ClaimRef.Name, r.endpoint.Name)
	}
	switch {
	case r.journal != nil:
		elsewhere += "; what they changed is shown from the journal"
	case spec.Audit != nil:
		elsewhere += fmt.Sprintf("; table %s of the database has what was changed: --journal-as TOKEN reads it", spec.Audit.Table.Name)
	}
	var oldest time.Time
	for i := range pods {
		if begun := pods[i].CreationTimestamp.Time; oldest.IsZero() || begun.Before(oldest) {
			oldest = begun
		}
		if n := restarts(&pods[i]); n > 1 {
			r.tell(fmt.Sprintf("pod %s: its container was restarted %d times, and only the logs of the last two are left%s", pods[i].Name, n, elsewhere))
		}
	}
	if !r.from.IsZero() && r.from.Before(oldest) {
		r.tell("no pod of before " + oldest.Local().Format(time.DateTime) + " is there, nor its log" + elsewhere)
	}
}

// whole returns the lines of a pod so far: also the lines of the container before the present one.
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
	log, timed, err := r.open(ctx, pod, options, seen)
	if err != nil {
		return seen, err
	}
	defer log.Close()
	start := seen
	err = eachLine(log, func(text []byte) error {
		l, audit := parse(pod.Name, text, timed)
		if l.logged.After(start) {
			seen = l.logged
			if audit && !l.at.Before(r.from) {
				to(l)
			}
		}
		return nil
	})
	return seen, err
}

// open opens a log from about the time of the line that was seen last. timed reports whether each line begins with the time
// at which the node took it: not every node knows that.
func (r *reader) open(ctx context.Context, pod *corev1.Pod, options corev1.PodLogOptions, seen time.Time) (log io.ReadCloser, timed bool, err error) {
	options.Container = cluster.ServerContainer
	logs := func(options corev1.PodLogOptions) (io.ReadCloser, error) {
		return r.cluster.Core.Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	}
	if !r.untimed.Load() {
		timedOptions := options
		timedOptions.Timestamps = true
		if seen.Before(r.from) {
			seen = r.from
		}
		if !seen.IsZero() {
			timedOptions.SinceTime = new(metav1.NewTime(seen.Add(-time.Second))) // it has whole seconds
		}
		if log, err = logs(timedOptions); err == nil || !apierrors.IsBadRequest(err) {
			return log, true, err
		}
	}
	log, untimedErr := logs(options)
	if untimedErr != nil {
		return nil, false, cmp.Or(err, untimedErr) // the container has not started, for one
	}
	r.untimed.Store(true)
	return log, false, nil
}

// eachLine calls do with each line of a text, as long as that succeeds. Lines that are too long come in pieces.
func eachLine(text io.Reader, do func([]byte) error) error {
	buffered := bufio.NewReaderSize(text, maxLine)
	for {
		piece, err := buffered.ReadSlice('\n')
		if len(piece) > 0 {
			if err := do(slices.Clone(piece)); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
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
