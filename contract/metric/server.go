package metric

// Server are the metrics of a server's pod, in the order in which the documents show them.
var Server = []Metric{
	{
		Name:     "mcp_server_operation_duration_seconds",
		Meaning:  "from when a message was read until its answer was made: OpenTelemetry's `mcp.server.operation.duration`. By `mcp_method_name`, by the tool's `operation`, by `error_type` (the code of the tool's or of the protocol's error; empty if there is none), and by `model` if `spec.observability.metrics` is PerModel. Files of exports are there as exports/get",
		Question: `histogram_quantile(0.99, sum by (operation, le) (rate(mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call"}[5m])))`,
		Alerts:   []string{"MCPToolErrorsInternal", "MCPToolErrorsTimeout", "MCPToolErrorsUnavailable"},
	},
	{
		Name:     "mcp_admin_rows_answered_total",
		Meaning:  "rows that answers showed, or told to have changed, by `mcp_method_name` and the tool's `operation`",
		Question: `sum by (operation) (rate(mcp_admin_rows_answered_total[5m]))`,
	},
	{
		Name:     "mcp_admin_answer_bytes_total",
		Meaning:  "bytes of the results of tools, resources and exports, before they are packed, by `mcp_method_name` and the tool's `operation`",
		Question: `sum by (operation) (rate(mcp_admin_answer_bytes_total[5m]))`,
	},
	{
		Name:     "mcp_admin_requests_total",
		Meaning:  "requests that were answered, by the body's `form`, the `method` it names and the class of the HTTP `status`",
		Question: `sum by (status) (rate(mcp_admin_requests_total[5m]))`,
		Alerts:   []string{"MCPServerErrors", "MCPRateLimited"},
	},
	{
		Name:     "mcp_admin_request_duration_seconds",
		Meaning:  "from a request's headers to the end of its answer, by `method`; slow readers count",
		Question: `histogram_quantile(0.99, sum by (le) (rate(mcp_admin_request_duration_seconds_bucket[5m])))`,
		Alerts:   []string{"MCPRequestsSlow"},
	},
	{
		Name:     "mcp_admin_rate_limited_total",
		Meaning:  "calls beyond their token's rate",
		Question: `rate(mcp_admin_rate_limited_total[5m])`,
		Alerts:   []string{"MCPRateLimited"},
	},
	{
		Name:     "mcp_admin_server_callers_refused_total",
		Meaning:  "requests whose caller was not let in, by `reason`: expired, inactive, unknown and more",
		Question: `rate(mcp_admin_server_callers_refused_total[5m])`,
		Alerts:   []string{"MCPCallersRefused"},
	},
	{
		Name:     "mcp_admin_places_used",
		Meaning:  "places in use, by `place`: requests that are being answered, exports whose files are being sent",
		Question: `max by (pod, place) (mcp_admin_places_used / mcp_admin_places_limit)`,
	},
	{
		Name:     "mcp_admin_places_limit",
		Meaning:  "how many places there are, by `place`; 0 before the first request",
		Question: `max by (place) (mcp_admin_places_limit)`,
	},
	{
		Name:     "mcp_admin_memory_used_bytes",
		Meaning:  "memory that requests hold, by `budget`: bodies that arrive, answers that are made and read",
		Question: `max by (pod, budget) (mcp_admin_memory_used_bytes / mcp_admin_memory_limit_bytes)`,
	},
	{
		Name:     "mcp_admin_memory_limit_bytes",
		Meaning:  "memory that requests may hold together, by `budget`",
		Question: `max by (budget) (mcp_admin_memory_limit_bytes)`,
	},
	{
		Name:     "mcp_admin_requests_busy_total",
		Meaning:  "requests that got a 503 because the server, or their token, had too much to do, by what was short (`cause`): requests, exports, bodies, answers",
		Question: `sum by (cause) (rate(mcp_admin_requests_busy_total[5m]))`,
	},
	{
		Name:     "mcp_admin_database_connections",
		Meaning:  "open connections by `pool` (primary, replicas, or writer: the one connection of SQLite that writes) and `state`: in_use, idle",
		Question: `sum by (pod, pool) (mcp_admin_database_connections{state="in_use"})`,
		Alerts:   []string{"MCPDatabasePoolExhausted"},
	},
	{
		Name:     "mcp_admin_database_connections_limit",
		Meaning:  "how many connections a `pool` may have; twice that while it goes over to another login",
		Question: `max by (pod, pool) (mcp_admin_database_connections_limit)`,
		Alerts:   []string{"MCPDatabasePoolExhausted"},
	},
	{
		Name:     "mcp_admin_database_connections_waiting",
		Meaning:  "calls that wait for a connection of a `pool` now, or for their token's share of it",
		Question: `max by (pod, pool) (mcp_admin_database_connections_waiting) > 0`,
	},
	{
		Name:     "mcp_admin_database_connection_wait_seconds_total",
		Meaning:  "how long calls waited for a connection of a `pool`, together",
		Question: `rate(mcp_admin_database_connection_wait_seconds_total[5m]) / rate(mcp_admin_database_connection_waits_total[5m])`,
		Alerts:   []string{"MCPDatabasePoolExhausted"},
	},
	{
		Name:     "mcp_admin_database_connection_waits_total",
		Meaning:  "calls that had to wait for a connection of a `pool`; those that got one at once do not count",
		Question: `sum by (pool) (rate(mcp_admin_database_connection_waits_total[5m]))`,
	},
	{
		Name:     "mcp_admin_database_connection_timeouts_total",
		Meaning:  "calls that waited in vain for a connection of a `pool`",
		Question: `sum by (pool) (rate(mcp_admin_database_connection_timeouts_total[5m]))`,
	},
	{
		Name:     "mcp_admin_database_connections_opened_total",
		Meaning:  "connections that were opened, by `pool` and `result`: ok, failed",
		Question: `sum by (pool, result) (rate(mcp_admin_database_connections_opened_total[5m]))`,
	},
	{
		Name:     "mcp_admin_database_connections_closed_total",
		Meaning:  "connections that were closed, by `pool` and `cause`: lost (dead when it was needed), broken (not usable after a call), aged, idle, closed (the pool ended, as after a new login)",
		Question: `sum by (pool, cause) (rate(mcp_admin_database_connections_closed_total[5m]))`,
	},
	{
		Name:     "mcp_admin_database_operation_duration_seconds",
		Meaning:  "how long the database took, with the wait for a connection, by `operation` (SELECT, COMMIT, …) and `outcome`: ok, or the class of the error",
		Question: `histogram_quantile(0.99, sum by (operation, le) (rate(mcp_admin_database_operation_duration_seconds_bucket[5m])))`,
	},
	{
		Name:     "mcp_admin_trace_spans_dropped_total",
		Meaning:  "spans that the collector did not get, by `reason`: queue_full, export_failed",
		Question: `rate(mcp_admin_trace_spans_dropped_total[5m])`,
	},
	{
		Name:     "mcp_admin_database_up",
		Meaning:  "1 while the newest attempt to reach the database succeeded",
		Question: `min(mcp_admin_database_up) < 1`,
		Alerts:   []string{"MCPDatabaseDown"},
	},
	{
		Name:     "mcp_admin_replicas_up",
		Meaning:  "1 while reads may go to the replicas, 0 while all go to the primary; absent without replicas",
		Question: `min(mcp_admin_replicas_up) < 1`,
	},
	{
		Name:     "mcp_admin_replica_lag_seconds",
		Meaning:  "how far the replicas are behind the primary at most, as the server measured it; absent if they do not tell",
		Question: `max by (pod) (mcp_admin_replica_lag_seconds)`,
	},
	{
		Name:     "mcp_admin_idempotency_keys_total",
		Meaning:  "idempotency keys by `result`: kept (the call happened), replayed (its answer was given again), conflict (used for another call, or too many calls with it at once), forgotten (rows that were too old, removed)",
		Question: `sum by (result) (rate(mcp_admin_idempotency_keys_total[5m]))`,
	},
	{
		Name:     "mcp_admin_idempotency_problem",
		Meaning:  "1 while the table of kept answers cannot be used, so that calls with a key are refused",
		Question: `max(mcp_admin_idempotency_problem) > 0`,
	},
	{
		Name:     "mcp_admin_audit_lines_lost_total",
		Meaning:  "audit lines that an output did not get, by `reason`: write_failed (standard output or files), queue_full and export_failed (the collector)",
		Question: `sum by (reason) (increase(mcp_admin_audit_lines_lost_total[1h])) > 0`,
		Alerts:   []string{"MCPAuditLinesLost"},
	},
	{
		Name:     "mcp_admin_approval_events_total",
		Meaning:  "events about calls that wait for people, for the webhooks of approval policies, by `outcome`: sent, lost (given up after some minutes)",
		Question: `sum by (namespace, mcpadmin_dev_endpoint) (increase(mcp_admin_approval_events_total{outcome="lost"}[1h])) > 0`,
	},
	{
		Name:     "mcp_admin_tokens_in_force",
		Meaning:  "tokens that are let in",
		Question: `max by (namespace, mcpadmin_dev_endpoint) (mcp_admin_tokens_in_force)`,
	},
	{
		Name:     "mcp_admin_tokens_expiring",
		Meaning:  "tokens in force that expire `within` 1h, 1d, 7d or 30d, by `lifetime`: short if the token lives for 30 days at most in all, else long",
		Question: `max by (namespace, mcpadmin_dev_endpoint) (mcp_admin_tokens_expiring{within="7d", lifetime="long"}) > 0`,
		Alerts:   []string{"MCPTokenExpiresSoon"},
	},
	{
		Name:     "mcp_admin_certificate_expiry_timestamp_seconds",
		Meaning:  "when the certificate that the endpoint shows expires, in Unix time; absent if it shows none",
		Question: `mcp_admin_certificate_expiry_timestamp_seconds - time() < 86400`,
	},
	{
		Name:     "mcp_admin_config_revision",
		Meaning:  "the revision that is answered from; 0 if there is none",
		Question: `min by (pod) (mcp_admin_config_revision)`,
		Alerts:   []string{"MCPDatabaseDown"},
	},
	{
		Name:     "mcp_admin_config_refused",
		Meaning:  "1 while a part of the Config is refused",
		Question: `max(mcp_admin_config_refused) > 0`,
		Alerts:   []string{"MCPConfigRefused"},
	},
	buildInfo,
}
