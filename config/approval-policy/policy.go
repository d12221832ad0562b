// Package approvalpolicy holds the admission policy about approvals as it is installed, so that the manager can compare. Package
// controllers/cluster imports it, and tests that install it.
package approvalpolicy

import _ "embed" // for the policy

// Policy is the ValidatingAdmissionPolicy and its binding.
//
//go:embed policy.yaml
var Policy []byte

const (
	// Name is the name of both.
	Name = "mcp-admin-approvals"
	// Manager is the user whom Policy takes for the manager.
	Manager = "system:serviceaccount:mcp-admin-system:mcp-admin-manager"
)
