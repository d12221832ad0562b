// Package telemetry has the server's reports about itself: log lines as JSON, and Prometheus metrics. Nothing in either
// holds a token, a row or the text of a statement, and no label has unbounded values.
//
// All of package server may import it; it imports nothing of the project but the list of metrics and the version.
package telemetry
