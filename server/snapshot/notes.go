package snapshot

import (
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// missing says why a served model has fewer tools than there are, unless its exposure's own operations are the only reason.
func missing(m *catalog.Model, tools []string) []string {
	var notes []string
	switch why := m.WhyNoWrite(); {
	case why != "":
		notes = append(notes, "Read-only: "+why)
	default:
		notes = append(notes, unwritten(m)...)
	}
	if m.Audits {
		return notes // its operations are not the exposure's own
	}
	if len(m.Key) == 0 {
		notes = append(notes, "No get, update or delete: "+m.WhyNoKey())
	}
	for _, operation := range m.Operations {
		if !slices.Contains(tools, operation+"_"+m.Name) {
			notes = append(notes, fmt.Sprintf("spec.operations lists %s, which this model cannot offer.", operation))
		}
	}
	for _, name := range call.UnfitActions(m) {
		notes = append(notes, fmt.Sprintf("spec.actions lists %s, which this model cannot offer.", name))
	}
	return notes
}

// unwritten says which of the operations that write a writable table lacks, and why; not that a table without a key has
// none of them, which is said of all tools that take an id.
func unwritten(m *catalog.Model) []string {
	var notes []string
	why := func(operation, why string) {
		if why != "" {
			notes = append(notes, "No "+operation+": "+why)
		}
	}
	why("create", m.WhyNoCreate())
	if len(m.Key) == 0 {
		return notes
	}
	if update, remove := m.WhyNoUpdate(), m.WhyNoDelete(); update == remove {
		why("update or delete", update)
	} else {
		why("update", update)
		why("delete", remove)
	}
	return notes
}
