// Package read holds the operations that read: list, get, related, autocomplete, aggregate and history. Each makes a Select of
// its arguments (paths.go, conditions.go, filters.go, order.go; measures.go for groups) and appends its rows to the answer
// (page.go, related_reader.go). Begin with list.go.
//
// The rooms above it import it to read rows: write, action, once, steps.
package read
