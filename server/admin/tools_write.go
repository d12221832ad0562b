package admin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// The definitions of the tools that write.

// dryRun is the argument of the tools that can undo what they did.
var dryRun = schema{Type: "boolean", Description: "try it: everything is checked and nothing kept"}

func defineCreate(m *catalog.Model) definition {
	properties := map[string]schema{"data": dataSchema(m, true), "dry_run": dryRun}
	if len(m.Inlines) > 0 {
		properties["inlines"] = schema{Type: "object", Description: "rows of inline models to add with it: {model: [{data}]}"}
	}
	return definition{
		Name:        "create_" + m.Name,
		Description: fmt.Sprintf("Add one %s. Fields that are left out get the database's default.", m.VerboseName),
		InputSchema: closed(properties, "data"),
		Annotations: adds,
	}
}

func defineUpdate(m *catalog.Model) definition {
	properties := map[string]schema{idName: idArgument(m), "data": dataSchema(m, false), "dry_run": dryRun}
	required := []string{idName, "data"}
	if len(m.Inlines) > 0 {
		properties["inlines"] = schema{Type: "object", Description: "rows of inline models that belong to it: {model: [{data} to add, {id, data} to change, {id, _delete: true}]}"}
		required = required[:1]
	}
	addExpectedVersion(properties, m)
	return definition{
		Name:        "update_" + m.Name,
		Description: fmt.Sprintf("Change one %s: data holds only the fields to change.", m.VerboseName),
		InputSchema: closed(properties, required...),
		Annotations: changes,
	}
}

func defineDelete(m *catalog.Model) definition {
	properties := map[string]schema{idName: idArgument(m), "dry_run": dryRun}
	addExpectedVersion(properties, m)
	return definition{
		Name:        "delete_" + m.Name,
		Description: fmt.Sprintf("Delete one %s, with what the database deletes along with it.", m.VerboseName),
		InputSchema: closed(properties, idName),
		Annotations: destroys,
	}
}

// itemForms are an item of each of bulk_'s operations.
var itemForms = map[string]string{"create": "{data}", "update": "{id, data}", "delete": "{id}"}

func defineBulk(m *catalog.Model) definition {
	var names []any
	var forms []string
	for _, name := range bulkOperations(m) {
		names = append(names, name)
		forms = append(forms, name+" "+itemForms[name])
	}
	items := fmt.Sprintf("at most %d: %s", m.MaxBulkItems, strings.Join(forms, ", "))
	if m.Version != nil && m.UniqueKey {
		items += "; update takes expected_version too"
	}
	return definition{
		Name:        "bulk_" + m.Name,
		Description: fmt.Sprintf("Write many %s in one transaction, with data as in create_%s.", m.VerboseNamePlural, m.Name),
		InputSchema: closed(map[string]schema{
			"operation": {Type: "string", Enum: names},
			"items":     {Type: "array", Items: &schema{}, Description: items},
			"atomic":    {Type: "boolean", Description: "all or nothing; without it, what succeeds is kept"},
		}, "operation", "items"),
		Annotations: destroys,
	}
}

// idArgument is the argument that names a row.
func idArgument(m *catalog.Model) schema {
	id := idSchema(m)
	if len(m.Key) > 1 {
		id.Description = keyNames(m) + ", each percent-encoded, joined by commas"
	}
	return id
}

func addExpectedVersion(properties map[string]schema, m *catalog.Model) {
	if m.Version == nil {
		return
	}
	version := valueSchema(m.Version)
	version.Description = fmt.Sprintf("the row's %s as you read it; conflict if it has another by then", m.Version.Name)
	properties["expected_version"] = version
}

// dataSchema is the closed object of the fields that can be set, on a row that is added or on one that is there.
func dataSchema(m *catalog.Model, creates bool) schema {
	properties := map[string]schema{}
	var required []string
	for _, f := range m.Fields {
		if whyNotWritable(f, purpose{creates: creates}) != "" {
			continue
		}
		properties[f.Name] = valueSchema(f)
		if creates && needsValue(f.Column) && !mayBeFixed(m, f) {
			required = append(required, f.Name)
		}
	}
	return closed(properties, required...)
}

// mayBeFixed is whether the row policy of some token gives a row that is added the field's value: tools are the same for
// all tokens.
func mayBeFixed(m *catalog.Model, f *catalog.Field) bool {
	return slices.ContainsFunc(m.Policies, func(p *catalog.Policy) bool {
		return slices.ContainsFunc(p.Filters, func(by catalog.PolicyFilter) bool { return by.Related == nil && by.Column == f.Column })
	})
}

// valueSchema is the JSON type of a field's values, with what its type says of their form.
func valueSchema(f *catalog.Field) schema {
	s := schema{Description: f.Help}
	for _, choice := range f.Choices {
		if value, err := lookup.ParseText(f.Column, choice.Value); err == nil {
			s.Enum = append(s.Enum, value)
		}
	}
	types := jsonTypes(f.Column)
	if f.Column.Nullable && len(types) > 0 {
		types = append(types, "null")
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	}
	switch len(types) {
	case 0:
	case 1:
		s.Type = types[0]
	default: // a list of types is what some clients drop
		for _, t := range types {
			s.AnyOf = append(s.AnyOf, schema{Type: t})
		}
	}
	if s.Description == "" && len(s.Enum) == 0 {
		s.Description = valueForms[f.Column.Kind]
	}
	return s
}

// valueForms say what a string must look like where its JSON type does not.
var valueForms = map[database.Kind]string{
	database.Decimal: "decimal number", database.Date: "YYYY-MM-DD", database.Time: "HH:MM:SS", database.Timestamp: "YYYY-MM-DDTHH:MM:SS",
	database.TimestampTZ: "RFC 3339", database.Interval: "interval", database.UUID: "UUID", database.Bytes: "base64",
}

// jsonTypes are the JSON types of a column's values, as docs/design/writes-and-deletes.md, "Types of arguments" has
// them; none where any will do.
func jsonTypes(c *database.Column) []string {
	switch c.Kind {
	case database.JSON:
		return nil
	case database.Array:
		return []string{"array"}
	case database.Boolean:
		return []string{"boolean"}
	case database.Integer:
		if c.Bits > 0 && c.Bits < 64 {
			return []string{"integer"}
		}
		return []string{"integer", "string"} // beyond 2^53 they are strings
	case database.Float:
		return []string{"number", "string"} // NaN and the infinities are strings
	}
	return []string{"string"}
}
