// Package cluster is how the controllers read, watch and write objects: caches and indexes (caches.go, watches.go, tracked.go),
// server-side apply of what they own (apply.go), statuses and events (status.go, story.go), the guard that keeps two managers
// apart (guard.go, installations.go), and metrics. Begin with apply.go and status.go.
//
// The rooms of the controllers import it; it knows none of them.
package cluster
