package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// AlertAuditLinesLost is the alert of config/monitoring about lost audit lines.
const AlertAuditLinesLost = "MCPAuditLinesLost"

// Lost are the audit lines of a pod that an output did not get since the pod's server started. The number never falls.
type Lost struct {
	Pod string `json:"pod"`
	// Since is when the server started; zero if its metrics do not tell.
	Since time.Time `json:"since,omitzero"`
	// Lines are how many by reason, each above 0: lines, or the spans of traces.
	Lines map[string]int `json:"lines"`
}

// lossReason is the reason of a loss in the metric of it, with what it means.
type lossReason struct{ reason, means string }

// lossReasons are the reasons of mcp_admin_audit_lines_lost_total, with what each means.
var lossReasons = []lossReason{
	{"write_failed", "standard output, or the claim of observability.audit.files, does not take them: see whether the claim is full"},
	{"queue_full", "the collector of observability.audit.otlp does not answer, or is too slow"},
	{"export_failed", "the collector of observability.audit.otlp is away, or refuses them: see its answer in the pod's log"},
}

// lostSpans are the reasons of mcp_admin_trace_spans_dropped_total, with what each means.
var lostSpans = []lossReason{
	{"queue_full", "the collector of traces does not answer, or is too slow"},
	{"export_failed", "the collector of traces is away, or refuses them: see its answer in the pod's log"},
}

// LostOf reads what a pod has lost from its metrics; nil if that is nothing.
func LostOf(pod string, metrics map[string]*dto.MetricFamily) *Lost {
	return countLost(pod, metrics, "mcp_admin_audit_lines_lost_total")
}

// countLost reads a counter of losses by reason.
func countLost(pod string, metrics map[string]*dto.MetricFamily, counter string) *Lost {
	lost := &Lost{Pod: pod, Lines: map[string]int{}}
	for _, m := range metrics[counter].GetMetric() {
		if n := int(m.GetCounter().GetValue()); n > 0 {
			lost.Lines[cluster.Label(m, "reason")] += n
		}
	}
	if len(lost.Lines) == 0 {
		return nil
	}
	for _, m := range metrics["process_start_time_seconds"].GetMetric() {
		lost.Since = time.Unix(int64(m.GetGauge().GetValue()), 0).UTC()
	}
	return lost
}

// Message says what was lost, why, and what became of the calls; required is whether the endpoint's delivery is Required.
func (l *Lost) Message(required bool) string {
	text := l.count("audit line", lossReasons)
	if required && l.Lines["write_failed"] > 0 {
		text += "; with delivery: Required a call whose line is not written fails with unavailable"
	}
	return text + goesOn
}

// goesOn ends each message: the numbers never fall.
const goesOn = "; if the number grows, it goes on"

// count says how many of something were lost, and why.
func (l *Lost) count(of string, reasons []lossReason) string {
	all := 0
	for _, n := range l.Lines {
		all += n
	}
	since := ""
	if !l.Since.IsZero() {
		since = " at " + l.Since.Format(time.RFC3339)
	}
	was := "were"
	if all == 1 {
		was = "was"
	}
	text := fmt.Sprintf("since its server started%s, %s %s lost", since, output.Numbered(all, of), was)
	for _, r := range reasons {
		if n := l.Lines[r.reason]; n > 0 {
			text += fmt.Sprintf("; %d %s: %s", n, r.reason, r.means)
		}
	}
	return text
}

// readAtOnce is the most pods whose metrics are read at once.
const readAtOnce = 16

// lost notes the audit lines and the spans of traces that the Ready pods of the endpoints have lost. These are notes and no problems, as they may be long past.
// Pods that are not Ready have been reported before this.
func (x *examination) lost(ctx context.Context) error {
	if len(x.endpoints) == 0 || !x.may("pods") {
		return nil
	}
	forward := authorizationv1.ResourceAttributes{Namespace: x.Namespace, Verb: "create", Resource: "pods", Subresource: "portforward"}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &forward}}
	if err := x.Create(ctx, review); err != nil {
		return cluster.Explain(err)
	}
	if !review.Status.Allowed {
		x.found.Unseen = append(x.found.Unseen, "lost audit lines and spans: you may not create pods/portforward in "+x.everywhere())
		return nil
	}
	x.found.Looked = append(x.found.Looked, "pods' metrics")
	for i := range x.endpoints {
		pods, err := x.Pods(ctx, cluster.Key(&x.endpoints[i]))
		if err != nil {
			return err
		}
		x.lostOf(ctx, pods, x.endpoints[i].RequiresAuditLines())
	}
	return nil
}

// lostOf looks at the pods of one endpoint.
func (x *examination) lostOf(ctx context.Context, pods []corev1.Pod, required bool) {
	notes, errs := make([][]Problem, len(pods)), make([]error, len(pods))
	places := make(chan struct{}, readAtOnce)
	var reading sync.WaitGroup
	for i := range pods {
		if !cluster.IsReady(&pods[i]) || !pods[i].DeletionTimestamp.IsZero() {
			continue
		}
		places <- struct{}{}
		reading.Go(func() {
			defer func() { <-places }()
			notes[i], errs[i] = x.readLost(ctx, &pods[i], required)
		})
	}
	reading.Wait()
	for i := range pods {
		if errs[i] != nil {
			x.found.Unseen = append(x.found.Unseen, fmt.Sprintf("metrics of pod %s: %v", pods[i].Name, errs[i]))
		}
		x.found.Notes = append(x.found.Notes, notes[i]...)
	}
}

// readLost returns notes on what a pod has lost.
func (x *examination) readLost(ctx context.Context, pod *corev1.Pod, required bool) ([]Problem, error) {
	text, err := x.Metrics(ctx, pod)
	if err != nil {
		return nil, err
	}
	metrics, err := cluster.ParseMetrics(text)
	if err != nil {
		return nil, err
	}
	return lostNotes(pod, metrics, required), nil
}

// lostNotes are the notes on what a pod's metrics say that was lost.
func lostNotes(pod *corev1.Pod, metrics map[string]*dto.MetricFamily, required bool) (notes []Problem) {
	add := func(reason, message, search string) {
		notes = append(notes, Problem{
			Object: "Pod " + cluster.Key(pod).String(), Reason: reason, Message: message + " (" + reason + ")",
			Command: fmt.Sprintf("kubectl logs %s -n %s | grep -i '%s'", pod.Name, pod.Namespace, search),
		})
	}
	if lines := LostOf(pod.Name, metrics); lines != nil {
		add(AlertAuditLinesLost, lines.Message(required), "audit line")
	}
	if spans := countLost(pod.Name, metrics, "mcp_admin_trace_spans_dropped_total"); spans != nil {
		add("SpansLost", spans.count("span", lostSpans)+goesOn, "spans")
	}
	return notes
}
