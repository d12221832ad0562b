// Package rbac holds the manager's rights as they are installed, so that the manager can ask at its start whether it has
// them. Only cmd/manager imports it.
package rbac

import _ "embed" // for the roles

// ManagerRole has the rights that the manager needs where its objects are: in the whole cluster, or in each namespace.
//
//go:embed role.yaml
var ManagerRole []byte

// OwnNamespaceRole has the rights that it needs in its own namespace.
//
//go:embed leader_election_role.yaml
var OwnNamespaceRole []byte
