// Package controllers holds the reconcilers of the three kinds: MCPEndpoint, MCPModelExposure and MCPToken.
//
// The config reconciler compiles the objects of an endpoint and writes its Config; nobody else does. What it and the pods
// say of each object lies in the endpoint's program, in the store, which wakes the other reconcilers. The endpoint's
// reconciler applies the workload and observes the pods. The token's reconciler leaves the tokens' hashes in the store,
// which wakes the config reconciler. Nobody writes another kind's status.
//
// Package cmd/manager imports it, and nothing else does.
package controllers
