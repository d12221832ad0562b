package status

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
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
	// Database is how long the database took; null if it was not asked yet. Replicas are the replicas of those that have some.
	Database *DatabaseTimes `json:"database"`
	Replicas *Replicas      `json:"replicas"`
	// DatabaseDown and ConfigRefused are the names of pods.
	DatabaseDown  []string `json:"databaseDown"`
	ConfigRefused []string `json:"configRefused"`
	// AuditLost are the pods that have lost audit lines.
	AuditLost []doctor.Lost `json:"auditLinesLost"`
}

// DatabaseTimes is how long the database took for what it was asked, with the wait for a connection.
type DatabaseTimes struct {
	Operations float64 `json:"operations"`
	// Mean is in seconds. MostWithin is the least of the metric's bounds, in seconds, within which 95 of 100 were done; 0 if they took
	// longer than the largest bound.
	Mean       float64 `json:"meanSeconds"`
	MostWithin float64 `json:"mostWithinSeconds"`
	// within is how many were done within each bound, sum how many seconds all took.
	within map[float64]float64
	sum    float64
}

// Replicas are the database's replicas, as the pods see them.
type Replicas struct {
	// Reading is how many of the pods read from them; the others read from the primary.
	Reading int `json:"reading"`
	// Lag is how far they are behind at most, in seconds; null if no pod can tell.
	Lag *float64 `json:"lagSeconds"`
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
	families, err := cluster.ParseMetrics(text)
	if err != nil {
		return err
	}
	if s.Counted == nil {
		s.Counted = &Counted{
			Calls: map[string]float64{}, Refused: map[string]float64{}, Requests: map[string]float64{},
			DatabaseDown: []string{}, ConfigRefused: []string{}, AuditLost: []doctor.Lost{},
		}
	}
	c, p := s.Counted, &s.Pods[pod]
	c.Pods++
	for _, m := range families["mcp_server_operation_duration_seconds"].GetMetric() {
		if cluster.Label(m, "operation") != "" {
			c.Calls[cmp.Or(cluster.Label(m, "error_type"), "ok")] += float64(m.GetHistogram().GetSampleCount())
		}
	}
	for _, m := range families["mcp_admin_server_callers_refused_total"].GetMetric() {
		c.Refused[cluster.Label(m, "reason")] += m.GetCounter().GetValue()
	}
	for _, m := range families["mcp_admin_requests_total"].GetMetric() {
		c.Requests[cluster.Label(m, "status")] += m.GetCounter().GetValue()
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
	for _, m := range families["mcp_admin_database_operation_duration_seconds"].GetMetric() {
		c.addTimes(m.GetHistogram())
	}
	c.addReplicas(families)
	for _, m := range families["mcp_admin_config_refused"].GetMetric() {
		if m.GetGauge().GetValue() != 0 {
			c.ConfigRefused = append(c.ConfigRefused, p.Name)
		}
	}
	if lost := doctor.LostOf(p.Name, families); lost != nil {
		c.AuditLost = append(c.AuditLost, *lost)
	}
	return nil
}

// most is the share of operations that MostWithin is about.
const most = 0.95

func (c *Counted) addTimes(h *dto.Histogram) {
	if h.GetSampleCount() == 0 {
		return
	}
	if c.Database == nil {
		c.Database = &DatabaseTimes{within: map[float64]float64{}}
	}
	d := c.Database
	d.Operations += float64(h.GetSampleCount())
	d.sum += h.GetSampleSum()
	d.Mean, d.MostWithin = d.sum/d.Operations, 0
	for _, b := range h.GetBucket() {
		d.within[b.GetUpperBound()] += float64(b.GetCumulativeCount())
	}
	for _, bound := range slices.Sorted(maps.Keys(d.within)) {
		if d.within[bound] >= most*d.Operations && !math.IsInf(bound, 1) {
			d.MostWithin = bound
			return
		}
	}
}

func (c *Counted) addReplicas(families map[string]*dto.MetricFamily) {
	for _, m := range families["mcp_admin_replicas_up"].GetMetric() {
		if c.Replicas == nil {
			c.Replicas = &Replicas{}
		}
		c.Replicas.Reading += int(m.GetGauge().GetValue())
	}
	for _, m := range families["mcp_admin_replica_lag_seconds"].GetMetric() {
		if lag := m.GetGauge().GetValue(); c.Replicas != nil && (c.Replicas.Lag == nil || lag > *c.Replicas.Lag) {
			c.Replicas.Lag = &lag
		}
	}
}

// Told says in a few words each how long the database took; nothing if nobody knows.
func (d *DatabaseTimes) Told() []string {
	if d == nil {
		return nil
	}
	told := []string{"mean " + seconds(d.Mean)}
	if d.MostWithin > 0 {
		told = append(told, "95% within "+seconds(d.MostWithin))
	}
	return told
}

// Told says in a few words how the replicas are; nothing if there are none.
func (r *Replicas) Told() []string {
	switch {
	case r == nil:
		return nil
	case r.Reading == 0:
		return []string{"replicas not read"}
	case r.Lag == nil:
		return []string{"replica lag unknown"}
	}
	return []string{"replica lag " + seconds(*r.Lag)}
}

func seconds(n float64) string {
	if n >= 1 {
		return fmt.Sprintf("%.3g s", n)
	}
	return fmt.Sprintf("%.3g ms", n*1000)
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
		if t.short {
			continue // they are made anew all the time
		}
		warn("MCPTokenExpiresSoon", "MCPToken %s expires at %s", t.Token, t.At.Format("2006-01-02T15:04:05Z"))
	}
	c := s.Counted
	if c == nil {
		return
	}
	for _, pod := range c.DatabaseDown {
		warn("MCPDatabaseDown", "pod %s: its newest attempt to connect to the database failed", pod)
	}
	for _, pod := range c.ConfigRefused {
		warn("MCPConfigRefused", "pod %s refuses its Config", pod)
	}
	for _, lost := range c.AuditLost {
		warn(doctor.AlertAuditLinesLost, "pod %s: %s", lost.Pod, lost.Message(s.requiresLines))
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
		warn("MCPToolErrorsInternal", "%s since the pods started ended in internal", output.Numbered(int(n), "call"))
	}
}
