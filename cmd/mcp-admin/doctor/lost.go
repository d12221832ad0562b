package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
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
	// Lines are how many by reason, each above 0.
	Lines map[string]int `json:"lines"`
}

// lossReasons are the reasons of mcp_admin_audit_lines_lost_total, with what each means.
var lossReasons = []struct{ reason, means string }{
	{"write_failed", "standard output, or the claim of observability.audit.files, does not take them: see whether the claim is full"},
	{"queue_full", "the collector of observability.audit.otlp does not answer, or is too slow"},
	{"export_failed", "the collector of observability.audit.otlp is away, or refuses them: see its answer in the pod's log"},
}

// LostOf reads what a pod has lost from its metrics; nil if that is nothing.
func LostOf(pod string, metrics map[string]*dto.MetricFamily) *Lost {
	lost := &Lost{Pod: pod, Lines: map[string]int{}}
	for _, m := range metrics["mcp_admin_audit_lines_lost_total"].GetMetric() {
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
	text := fmt.Sprintf("since its server started%s, %s %s lost", since, output.Numbered(all, "audit line"), was)
	for _, r := range lossReasons {
		if n := l.Lines[r.reason]; n > 0 {
			text += fmt.Sprintf("; %d %s: %s", n, r.reason, r.means)
		}
	}
	if required && l.Lines["write_failed"] > 0 {
		text += "; with delivery: Required a call whose line is not written fails with unavailable"
	}
	return text + "; if the number grows, it goes on"
}

// RequiresLines reports whether an endpoint's calls fail without their audit lines.
func RequiresLines(e *v1alpha1.MCPEndpoint) bool {
	return e.Spec.Observability.Audit.Delivery == v1alpha1.AuditDeliveryRequired
}

// readAtOnce is the most pods whose metrics are read at once.
const readAtOnce = 16

// lost notes the audit lines that the Ready pods of the endpoints have lost. These are notes and no problems, as they may be long past.
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
		x.found.Unseen = append(x.found.Unseen, "lost audit lines: you may not create pods/portforward in "+x.everywhere())
		return nil
	}
	x.found.Looked = append(x.found.Looked, "pods' metrics")
	for i := range x.endpoints {
		pods, err := x.Pods(ctx, cluster.Key(&x.endpoints[i]))
		if err != nil {
			return err
		}
		x.lostOf(ctx, pods, RequiresLines(&x.endpoints[i]))
	}
	return nil
}

// lostOf looks at the pods of one endpoint.
func (x *examination) lostOf(ctx context.Context, pods []corev1.Pod, required bool) {
	lost, errs := make([]*Lost, len(pods)), make([]error, len(pods))
	places := make(chan struct{}, readAtOnce)
	var reading sync.WaitGroup
	for i := range pods {
		if !cluster.IsReady(&pods[i]) || !pods[i].DeletionTimestamp.IsZero() {
			continue
		}
		places <- struct{}{}
		reading.Go(func() {
			defer func() { <-places }()
			lost[i], errs[i] = x.readLost(ctx, &pods[i])
		})
	}
	reading.Wait()
	for i := range pods {
		if errs[i] != nil {
			x.found.Unseen = append(x.found.Unseen, fmt.Sprintf("metrics of pod %s: %v", pods[i].Name, errs[i]))
		}
		if lost[i] != nil {
			x.found.Notes = append(x.found.Notes, Problem{
				Object: "Pod " + cluster.Key(&pods[i]).String(), Reason: AlertAuditLinesLost, Message: lost[i].Message(required) + " (" + AlertAuditLinesLost + ")",
				Command: fmt.Sprintf("kubectl logs %s -n %s | grep -i 'audit line'", pods[i].Name, pods[i].Namespace),
			})
		}
	}
}

func (x *examination) readLost(ctx context.Context, pod *corev1.Pod) (*Lost, error) {
	text, err := x.Metrics(ctx, pod)
	if err != nil {
		return nil, err
	}
	metrics, err := cluster.ParseMetrics(text)
	if err != nil {
		return nil, err
	}
	return LostOf(pod.Name, metrics), nil
}
