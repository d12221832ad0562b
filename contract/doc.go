// Package contract holds the agreement between the controllers and the server: the Config that one compiles and the other
// answers from, how it is laid out in Secrets and files, the Status that a server's pod reports back, and the key names
// under which a database connection may stand in a Secret.
//
// Both sides import it; it imports neither, and nothing of Kubernetes.
package contract
