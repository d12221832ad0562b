// Package v1alpha1 holds the three kinds of mcpadmin.dev/v1alpha1 that cluster admins write:
// MCPEndpoint (which database, which groups, how the server runs), MCPModelExposure (one table as a
// model) and MCPToken (who may do what, until when); and MCPApproval (a call that waits for people), which
// the manager creates.
//
// The schema writes no defaults: an absent field stays absent in the object, and effective.go says
// what it means. Rules that one object alone can tell stand here as CEL, and again in Validate for
// whoever bypassed the API server (and for mcp-admin dev).
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
// +groupName=mcpadmin.dev
package v1alpha1
