// Package call has the pieces that every operation uses: the table of operations and their arguments (operation.go, argument.go), the
// call itself with its token, model and arguments (call.go), rows, ids, and errors for the caller (rows.go, keys.go, errors.go).
//
// An operation is one value, which its file declares with WithArguments: its rights, its arguments and what runs it. The
// schema in tools/list, the checks of a call's arguments, its cost and its annotations follow from that value. Begin with
// Operation and with Call.Run.
//
// All rooms of package tools import it; it knows none of them.
package call
