package contract

// Pods counts an endpoint's pods, among which the limits of the whole endpoint are shared (docs/design/decisions/0013-limits-of-all-pods.md).
type Pods struct {
	// Running may hold connections to the database: they run, are about to, or have not ended yet.
	Running int `json:"running,omitempty"`
	// Answering are the pods that agents reach.
	Answering int `json:"answering,omitempty"`
}

// connections is one pod's share of so many: at least one.
func (p Pods) connections(all int) int { return max(all/max(p.Running, 1), 1) }

// OfOnePod is the endpoint with one pod's share of the connections that are for all pods.
func (c *Config) OfOnePod() *Endpoint {
	of := c.Endpoint
	d := &of.Database
	if d.ConnectionsShared {
		d.MaxConnections = c.Pods.connections(d.MaxConnections)
	}
	if d.Replicas != nil && d.Replicas.ConnectionsShared {
		replicas := *d.Replicas
		replicas.MaxConnections = c.Pods.connections(replicas.MaxConnections)
		d.Replicas = &replicas
	}
	return &of
}

// TokenRate is one pod's share of each token's rate, and among how many pods it is shared; 0 requests a second are no limit.
func (c *Config) TokenRate() (perSecond float64, pods int) {
	pods = max(c.Pods.Answering, 1)
	return float64(c.Endpoint.Limits.RequestsPerSecondPerToken) / float64(pods), pods
}

// CountsPods reports whether pods have to know how many they are: they share a limit, or may make tasks of calls that wait.
func (e *Endpoint) CountsPods() bool {
	return len(e.Approvals) > 0 || e.Limits.RequestsPerSecondPerToken > 0 || e.Database.ConnectionsShared || e.Database.Replicas != nil && e.Database.Replicas.ConnectionsShared
}
