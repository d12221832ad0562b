// Package once runs a call that has an idempotency key: it happens once, and a repetition gets the answer of the first
// (docs/design/transact.md, "Once"). Begin with Run.
//
// Package tools imports it to run every call, and package steps to mark the answers of calls that undo took back.
package once
