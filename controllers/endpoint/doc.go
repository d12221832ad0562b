// Package endpoint reconciles an MCPEndpoint: it resolves what the spec names, applies the objects that package child makes,
// looks at the pods' reports, and writes the status. Begin with Reconcile in reconciler.go; watch.go says what wakes it.
//
// Package controllers imports it, and nothing else does.
package endpoint
