// Package program keeps an endpoint's program in memory: its compiled Config, what is stored of it, and what the pods say that they
// have applied. The store has all programs, and wakes the reconcilers of objects for which there is news. Begin with
// program.go; facts.go has the facts for statuses.
//
// The reconcilers' rooms import it, and tell each other things through it.
package program
