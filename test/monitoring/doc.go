// Package monitoring tests what config/monitoring brings to those who run the operator: the alerts, each with its page in
// docs/runbooks, and the dashboards. They may name only metrics that the programs have. With promtool each alert is made to
// fire and to end, and must stay silent in a case that only looks like trouble.
//
//	make test-monitoring
package monitoring
