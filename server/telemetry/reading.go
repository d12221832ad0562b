package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
)

// Reading is what is looked up when the metrics are read, and not counted before.
type Reading struct {
	// Places are places for requests, Budgets bytes of memory, each by what it is for.
	Places, Budgets map[Shortage]Share
	// Pools are the pools of connections, by name: one of a bounded set.
	Pools map[string]Pool
	// Replicas is nil if the database has none.
	Replicas *Replicas
	// Keys are the idempotency keys by what became of them; one of a bounded set.
	Keys map[string]int64
	// KeysProblem reports whether the table of kept answers cannot be used.
	KeysProblem bool
	// Tokens is the number of tokens in force; Expiring are those that expire.
	Tokens   int
	Expiring []Expiring
	// CertificateExpiry is when the endpoint's certificate expires; the zero time if it has none.
	CertificateExpiry time.Time
}

// Share is what is in use of something.
type Share struct{ Used, Limit int64 }

// Pool is a pool of connections to the database.
type Pool struct {
	// InUse, Idle and Waiting are connections and calls now; Limit is how many connections there may be.
	InUse, Idle, Waiting, Limit int64
	// Waits, Timeouts, Opened and Failed count since the start; Waited is the time of all waits together.
	Waits, Timeouts, Opened, Failed int64
	Waited                          time.Duration
	// Closed are the connections that were closed, by cause: one of a bounded set.
	Closed map[string]int64
}

// Replicas are the database's replicas.
type Replicas struct {
	// Up reports whether reads may go to them.
	Up bool
	// Lag is how far they are behind at most; below zero if they do not tell.
	Lag time.Duration
}

// Expiring are the tokens that expire within some time.
type Expiring struct {
	// Within is the time as people write it, such as 7d; one of a bounded set. Long reports whether they live long in all.
	Within string
	Long   bool
	Tokens int
}

// ReadFrom has read called each time that the metrics are read. It is called once, before they are served.
func (m *Metrics) ReadFrom(read func(now time.Time) Reading) { m.registry.MustRegister(reader{read}) }

// reader is the collector of ReadFrom.
type reader struct{ read func(time.Time) Reading }

// read is the description of a metric that is looked up, and its kind.
type read struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var allRead []*prometheus.Desc

func readAs(kind prometheus.ValueType, name string, labels ...string) read {
	desc := prometheus.NewDesc(name, metric.Help(name), labels, nil)
	allRead = append(allRead, desc)
	return read{desc, kind}
}

func readGauge(name string, labels ...string) read {
	return readAs(prometheus.GaugeValue, name, labels...)
}
func readCounter(name string, labels ...string) read {
	return readAs(prometheus.CounterValue, name, labels...)
}

var (
	placesUsed        = readGauge("mcp_admin_places_used", "place")
	placesLimit       = readGauge("mcp_admin_places_limit", "place")
	memoryUsed        = readGauge("mcp_admin_memory_used_bytes", "budget")
	memoryLimit       = readGauge("mcp_admin_memory_limit_bytes", "budget")
	connections       = readGauge("mcp_admin_database_connections", "pool", "state")
	connectionsLimit  = readGauge("mcp_admin_database_connections_limit", "pool")
	waiting           = readGauge("mcp_admin_database_connections_waiting", "pool")
	waited            = readCounter("mcp_admin_database_connection_wait_seconds_total", "pool")
	waits             = readCounter("mcp_admin_database_connection_waits_total", "pool")
	timeouts          = readCounter("mcp_admin_database_connection_timeouts_total", "pool")
	opened            = readCounter("mcp_admin_database_connections_opened_total", "pool", "result")
	closed            = readCounter("mcp_admin_database_connections_closed_total", "pool", "cause")
	replicasUp        = readGauge("mcp_admin_replicas_up")
	replicaLag        = readGauge("mcp_admin_replica_lag_seconds")
	keys              = readCounter("mcp_admin_idempotency_keys_total", "result")
	keysProblem       = readGauge("mcp_admin_idempotency_problem")
	tokensInForce     = readGauge("mcp_admin_tokens_in_force")
	tokensExpiring    = readGauge("mcp_admin_tokens_expiring", "within", "lifetime")
	certificateExpiry = readGauge("mcp_admin_certificate_expiry_timestamp_seconds")
)

// Describe implements prometheus.Collector.
func (reader) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range allRead {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (r reader) Collect(to chan<- prometheus.Metric) {
	send := func(of read, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(of.desc, of.kind, value, labels...)
	}
	now := r.read(time.Now())
	for name, s := range now.Places {
		send(placesUsed, float64(s.Used), string(name))
		send(placesLimit, float64(s.Limit), string(name))
	}
	for name, s := range now.Budgets {
		send(memoryUsed, float64(s.Used), string(name))
		send(memoryLimit, float64(s.Limit), string(name))
	}
	for name, p := range now.Pools {
		p.send(name, send)
	}
	if now.Replicas != nil {
		send(replicasUp, truth(now.Replicas.Up))
		if now.Replicas.Lag >= 0 {
			send(replicaLag, now.Replicas.Lag.Seconds())
		}
	}
	for result, n := range now.Keys {
		send(keys, float64(n), result)
	}
	send(keysProblem, truth(now.KeysProblem))
	send(tokensInForce, float64(now.Tokens))
	for _, e := range now.Expiring {
		send(tokensExpiring, float64(e.Tokens), e.Within, lifetime(e.Long))
	}
	if at := now.CertificateExpiry; !at.IsZero() {
		send(certificateExpiry, float64(at.UnixMilli())/1000)
	}
}

func lifetime(long bool) string {
	if long {
		return "long"
	}
	return "short"
}

// send sends what a pool has.
func (p *Pool) send(name string, send func(of read, value float64, labels ...string)) {
	send(connections, float64(p.InUse), name, "in_use")
	send(connections, float64(p.Idle), name, "idle")
	send(connectionsLimit, float64(p.Limit), name)
	send(waiting, float64(p.Waiting), name)
	send(waited, p.Waited.Seconds(), name)
	send(waits, float64(p.Waits), name)
	send(timeouts, float64(p.Timeouts), name)
	send(opened, float64(p.Opened), name, "ok")
	send(opened, float64(p.Failed), name, "failed")
	for cause, n := range p.Closed {
		send(closed, float64(n), name, cause)
	}
}
