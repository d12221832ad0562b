// Package approval holds calls back that other people must allow first (docs/design/decisions/0012-approvals.md). A call runs as always, up to its
// commit; then the endpoint's policies are held against what it changed. If one matches and nobody has allowed exactly this, all is
// undone and the call waits. The same call runs again once it is allowed. Begin with Gate.Enter.
//
// Package snapshot makes the Gate, package tools gives it to calls, and the server keeps the Register of what waits.
package approval
