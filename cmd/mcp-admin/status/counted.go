package status

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// Counted adds up what all pods have counted since they started.
type Counted struct {
	// Pods is how many pods' metrics were read.
	Pods int `json:"pods"`
	// Calls are calls of tools by outcome, "ok" or the error's code; Refused are refused callers by reason.
	Calls   map[string]float64 `json:"calls"`
	Refused map[string]float64 `json:"refusedCallers"`
	// Requests are requests by class of status, such as "2xx"; RateLimited are calls beyond their token's rate.
	Requests    map[string]float64 `json:"requests"`
	RateLimited float64            `json:"rateLimited"`
	// DatabaseDown and ConfigRefused are the names of pods.
	DatabaseDown  []string `json:"databaseDown"`
	ConfigRefused []string `json:"configRefused"`
}

// Alert is an alert of config/monitoring whose cause can be seen now. It fires only if the cause stays.
type Alert struct {
	Alert   string `json:"alert"`
	Message string `json:"message"`
}

// count reads the metrics of the pods that run.
func (s *Status) count(ctx context.Context, k *cluster.Cluster, pods []corev1.Pod) {
	for i := range pods {
		if pods[i].Status.Phase != corev1.PodRunning || !pods[i].DeletionTimestamp.IsZero() {
			continue
		}
		text, err := k.Metrics(ctx, &pods[i])
		if err == nil {
			err = s.AddMetrics(i, text)
		}
		if err != nil {
			s.Unseen = append(s.Unseen, fmt.Sprintf("metrics of pod %s: %v", pods[i].Name, err))
		}
	}
}

// AddMetrics adds the metrics of a pod of that index, as Prometheus' text.
func (s *Status) AddMetrics(pod int, text []byte) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if s.Counted == nil {
		s.Counted = &Counted{Calls: map[string]float64{}, Refused: map[string]float64{}, Requests: map[string]float64{}, DatabaseDown: []string{}, ConfigRefused: []string{}}
	}
	c, p := s.Counted, &s.Pods[pod]
	c.Pods++
	for _, m := range families["mcp_server_operation_duration_seconds"].GetMetric() {
		if label(m, "operation") != "" {
			c.Calls[cmp.Or(label(m, "error_type"), "ok")] += float64(m.GetHistogram().GetSampleCount())
		}
	}
	for _, m := range families["mcp_admin_server_callers_refused_total"].GetMetric() {
		c.Refused[label(m, "reason")] += m.GetCounter().GetValue()
	}
	for _, m := range families["mcp_admin_requests_total"].GetMetric() {
		c.Requests[label(m, "status")] += m.GetCounter().GetValue()
	}
	for _, m := range families["mcp_admin_rate_limited_total"].GetMetric() {
		c.RateLimited += m.GetCounter().GetValue()
	}
	for _, m := range families["mcp_admin_config_revision"].GetMetric() {
		p.Revision = new(int64(m.GetGauge().GetValue()))
	}
	for _, m := range families["mcp_admin_database_up"].GetMetric() {
		if m.GetGauge().GetValue() == 0 {
			c.DatabaseDown = append(c.DatabaseDown, p.Name)
		}
	}
	for _, m := range families["mcp_admin_config_refused"].GetMetric() {
		if m.GetGauge().GetValue() != 0 {
			c.ConfigRefused = append(c.ConfigRefused, p.Name)
		}
	}
	return nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func sum(of map[string]float64) float64 {
	all := 0.0
	for _, n := range of {
		all += n
	}
	return all
}

// often is the share of calls or requests from which an alert takes errors for trouble; few are fewer than it counts at all.
const (
	often = 0.05
	few   = 5
)

// warn names the alerts whose cause is seen. The shares are those since the pods started, so an alert may see it otherwise.
func (s *Status) warn() {
	warn := func(alert, format string, args ...any) {
		s.Alerts = append(s.Alerts, Alert{alert, fmt.Sprintf(format, args...)})
	}
	if !s.Ready {
		warn("MCPEndpointNotReady", "the endpoint is not Ready: %s", cmp.Or(s.Reason, "the manager has not looked at it"))
	}
	for _, t := range s.Tokens.Expiring {
		warn("MCPTokenExpiresSoon", "MCPToken %s expires at %s", t.Token, t.At.Format("2006-01-02T15:04:05Z"))
	}
	c := s.Counted
	if c == nil {
		return
	}
	for _, pod := range c.DatabaseDown {
		warn("MCPDatabaseDown", "pod %s does not reach the database", pod)
	}
	for _, pod := range c.ConfigRefused {
		warn("MCPConfigRefused", "pod %s refuses its Config", pod)
	}
	share := func(alert string, n, of float64, what string) {
		if n > few && n > often*of {
			warn(alert, "%.0f of %.0f %s", n, of, what)
		}
	}
	calls := sum(c.Calls)
	share("MCPToolErrorsUnavailable", c.Calls["unavailable"], calls, "calls since the pods started were unavailable")
	share("MCPToolErrorsTimeout", c.Calls["timeout"], calls, "calls since the pods started took too long")
	share("MCPServerErrors", c.Requests["5xx"], sum(c.Requests), "requests since the pods started ended in 5xx")
	if n := c.Calls["internal"]; n > 0 {
		warn("MCPToolErrorsInternal", "%.0f calls since the pods started ended in internal", n)
	}
}
