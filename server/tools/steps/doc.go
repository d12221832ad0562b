// Package steps holds the operations that are made of others: transact runs calls as the steps of one transaction, undo takes
// back what the journal knows of a call. Begin with transact.go and undo.go.
//
// Package tools imports it, and package mcp to know how large references can be.
package steps
