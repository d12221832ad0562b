// Package approval makes an MCPApproval of each call that a server's pods hold back, says in its status what people's decisions make of it,
// and removes it some time after it ended (docs/design/decisions/0012-approvals.md). What people decided reaches the pods by package config,
// which compiles the same objects. Begin with Reconcile in reconciler.go.
//
// Package controllers imports it, and nothing else does.
package approval
