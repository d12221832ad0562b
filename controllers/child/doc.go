// Package child makes the objects that an endpoint owns: Deployment, Service, NetworkPolicy, Role and the others, as apply
// configurations. It is pure: package endpoint applies them. Begin with WorkloadChildren in workload.go, which has them all in their order, and
// pod_template.go for the pod.
//
// Package endpoint imports it, and package controllers for its options.
package child
