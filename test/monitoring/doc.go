// Package monitoring tests what config/monitoring brings to those who run the operator: the alerts, each with its page in
// docs/runbooks, and the dashboards. They may name only metrics that the programs have. With promtool each alert is made to
// fire and to end, and must stay silent in a case that only looks like trouble.
// With a Prometheus, rules and dashboards meet the series of a real manager and of real servers, in a story on the local cluster.
// The OpenTelemetry Collector's receiver, which is built from its Go module, gets their traces.
// Sigma rules are tried on audit lines of a real server.
//
//	make test-monitoring
package monitoring
