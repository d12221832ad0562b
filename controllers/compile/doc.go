// Package compile turns the objects of one endpoint into its Config, with a verdict for each object. It is a pure
// function of its inputs: no client, no clock, no randomness. The endpoint's reconciler calls it in a cluster,
// mcp-admin dev without one; nothing else in the project says what a Config holds.
//
// It imports the API types and the contract, and nothing else of the project. Anybody may import it.
package compile
