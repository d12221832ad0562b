// Package controllers holds the reconcilers of the three kinds: MCPEndpoint, MCPModelExposure and MCPToken.
//
// The endpoint's reconciler is the only one that calls compile.Compile and writes the Config; what it finds about each
// exposure and token it leaves in the store, which wakes their reconcilers. The token's reconciler leaves the tokens'
// hashes there, which wakes the endpoint's. Nobody writes another kind's status.
//
// Package cmd/manager imports it, and nothing else does.
package controllers
