// Package condition makes the conditions of a status: each check of an object ends in a finding, a table of condition types
// puts findings in order, and reasons.go says what each reason means for Ready, Reconciling and Stalled. It is pure.
// Begin with Table.Summarise.
//
// The rooms of the controllers import it; it imports the API and the contract alone.
package condition
