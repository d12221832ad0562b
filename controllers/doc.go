// Package controllers puts the manager's reconcilers together. Begin with setup.go, then follow one change:
//
//   - config compiles the objects of an endpoint (package compile) and writes its Config; nobody else does.
//   - program keeps what the last compile and the pods say of each object, and wakes the reconcilers that wait for it.
//   - endpoint applies the workload, whose objects package child makes, and asks the pods (package observe).
//   - exposure writes the status of an exposure.
//   - approval makes an MCPApproval of each call that the pods hold back, and says what people's decisions make of it.
//   - token writes a token's Secret, and rotates its text as package token/rotation decides.
//
// They share cluster, which reads, watches and writes objects, condition, which makes conditions of findings, and intern,
// which keeps equal values once. No room imports another reconciler's room: they tell each other things through program.
// Nobody writes another kind's status.
//
// Package cmd/manager imports controllers, and so do tests that run a manager.
package controllers
