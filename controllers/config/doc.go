// Package config reconciles an endpoint's Config: it compiles what has changed, and writes the Secrets of the parts that
// differ. It does nothing else, so that a revocation waits for nothing else. Begin with Reconcile in reconciler.go.
//
// Package controllers imports it, and nothing else does.
package config
