package call

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The schemas of answers, for clients that ask for structuredContent (docs/design/tools.md, "Structured content"). A
// payload's schema follows from its Go type; a row's from its model, which is nil if it may be any model.

// PayloadSchema is the schema of a payload that encoding/json writes.
func PayloadSchema[T any]() Schema { return goSchema(reflect.TypeFor[T]()) }

// anyJSON is the type of a value that may be any JSON.
var anyJSON = reflect.TypeFor[json.RawMessage]()

// goSchema is the schema of what encoding/json writes of a Go type.
func goSchema(t reflect.Type) Schema {
	if t == anyJSON {
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return goSchema(t.Elem()).OrNull()
	case reflect.Struct:
		s := ClosedObject(map[string]Schema{})
		addMembers(&s, t)
		return s
	case reflect.Slice:
		items := goSchema(t.Elem())
		return Schema{Type: Types{"array"}, Items: &items}
	case reflect.Map:
		members := goSchema(t.Elem())
		return Schema{Type: Types{"object"}, AdditionalProperties: &members}
	case reflect.String:
		return Schema{Type: Types{"string"}}
	case reflect.Int:
		return Schema{Type: Types{"integer"}}
	case reflect.Bool:
		return Schema{Type: Types{"boolean"}}
	}
	return Schema{}
}

// addMembers adds the members of a struct to an object.
func addMembers(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			addMembers(s, f.Type)
		case !f.IsExported(), name == "-":
		default:
			optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			if optional && f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem() // nil is left out
			}
			s.Properties[name] = goSchema(f.Type)
			if !optional {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// With returns an object with a member that has another schema; what says nothing of it stays required or optional.
func (s Schema) With(name string, member Schema) Schema {
	s.Properties[name] = member
	return s
}

// OrNull returns a schema that null meets, too.
func (s Schema) OrNull() Schema {
	if len(s.Type) > 0 && !slices.Contains(s.Type, "null") {
		s.Type = append(s.Type, "null")
	}
	return s
}

// OneOf is an answer that has one of several forms.
func OneOf(forms ...Schema) Schema { return Schema{Type: Types{"object"}, AnyOf: forms} }

// RowSchema is the schema of a row with all its fields.
func RowSchema(m *catalog.Model) Schema {
	if m == nil {
		return Schema{Type: Types{"object"}}
	}
	s := ClosedObject(map[string]Schema{})
	if m.KeyName != "" {
		s.Properties[m.KeyName] = ShownID(m)
		s.Required = append(s.Required, m.KeyName)
	}
	for _, f := range m.Fields {
		s.Properties[f.Name] = Schema{Type: shownTypes(f)}
		s.Required = append(s.Required, f.Name)
	}
	return s
}

// ListedRow is the schema of a row that list_ or get_ shows: the call may leave out fields but the key, and add those of related rows by
// their paths.
func ListedRow(m *catalog.Model) Schema {
	s := RowSchema(m)
	s.AdditionalProperties, s.Required = nil, nil
	if m == nil {
		return s
	}
	if m.KeyName != "" {
		s.Required = []string{m.KeyName}
		return s
	}
	for _, f := range m.Key {
		s.Required = append(s.Required, f.Name)
	}
	return s
}

// ShownID is the schema of the id that a row shows; any, if the model has no key.
func ShownID(m *catalog.Model) Schema {
	switch {
	case m == nil || len(m.Key) == 0:
		return Schema{}
	case len(m.Key) > 1 && slices.ContainsFunc(m.Key, func(f *catalog.Field) bool { return showsNull(f.Column) }):
		return Schema{Type: Types{"string", "null"}}
	case len(m.Key) > 1:
		return Schema{Type: Types{"string"}}
	}
	return Schema{Type: shownTypes(m.Key[0])}
}

// shownTypes are the JSON types of the values that a row shows in a field; none if any will do.
func shownTypes(f *catalog.Field) Types {
	c := f.Column
	shown := jsonTypes(c)
	switch {
	case f.Masked:
		shown = Types{"string"}
	case c.Kind == database.JSON:
		return nil
	case c.Kind == database.Decimal:
		shown = Types{"string"}
	case c.Kind == database.Array:
		shown = Types{"array", "string"} // the beginning of a long one is a string
	}
	if c.Loose && !f.Masked {
		shown = append(shown, "number", "string")
	}
	if showsNull(c) {
		shown = append(shown, "null")
	}
	slices.Sort(shown)
	return slices.Compact(shown)
}

// showsNull reports whether a column's values may be null.
func showsNull(c *database.Column) bool { return c.Nullable || c.HoldsNull }

// RowsSchema is the schema of a page of rows; total names the number of all rows.
func RowsSchema(row Schema, total string) Schema {
	s := ClosedObject(map[string]Schema{
		"count": {Type: Types{"integer"}}, total: {Type: Types{"integer"}},
		"results": {Type: Types{"array"}, Items: &row},
		"columns": {Type: Types{"array"}, Items: &Schema{Type: Types{"string"}}},
		// rows are the rows in columns, or say that a row policy narrows the results.
		"rows":                  {Type: Types{"array", "string"}, Items: &Schema{Type: Types{"array"}}},
		"limited":               {Type: Types{"string"}},
		"total_count_estimated": {Type: Types{"integer"}}, "total_count_at_least": {Type: Types{"integer"}},
		ExportArgument: PayloadSchema[Exported]().Properties[ExportArgument],
	})
	for name, member := range PayloadSchema[Ending]().Properties {
		s.Properties[name] = member
	}
	s.AnyOf = []Schema{{Required: []string{"count", "results"}}, {Required: []string{"count", "columns", "rows"}}, {Required: []string{ExportArgument}}}
	return s
}
