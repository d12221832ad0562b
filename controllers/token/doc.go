// Package token reconciles an MCPToken: it writes the token's Secret, rotates its text, and writes the status. Begin with
// Reconcile in reconciler.go; secret.go holds the text, owner.go says whose a Secret is, and package rotation decides when a text
// is issued or rotated.
//
// Package controllers imports it, and nothing else does.
package token
