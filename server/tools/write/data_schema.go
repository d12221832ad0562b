package write

import (
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// DataSchema is the closed object of the fields that can be set, on a row that is added or on one that is there. Without a
// model it is any object.
func DataSchema(m *catalog.Model, creates bool) call.Schema {
	switch {
	case m == nil && creates:
		return call.Schema{Type: call.Types{"object"}, Description: "field: value; data.create of describe says which fields there are and which must be given"}
	case m == nil:
		return call.Schema{Type: call.Types{"object"}, Description: "field: value, only of the fields to change; data.update of describe says which there are"}
	}
	properties := map[string]call.Schema{}
	var required []string
	for _, f := range m.Fields {
		if WhyNotWritable(f, Purpose{Creates: creates}) != "" {
			continue
		}
		properties[f.Name] = call.ValueSchema(f)
		if creates && f.Column.NeedsValue() && !call.MayBeFixed(m, f) {
			required = append(required, f.Name)
		}
	}
	return call.ClosedObject(properties, required...)
}
