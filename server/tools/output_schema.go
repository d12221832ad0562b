package tools

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

// payloadSchema is the schema of a payload that encoding/json writes.
func payloadSchema[T any]() schema { return goSchema(reflect.TypeFor[T]()) }

// anyJSON is the type of a value that may be any JSON.
var anyJSON = reflect.TypeFor[json.RawMessage]()

// goSchema is the schema of what encoding/json writes of a Go type.
func goSchema(t reflect.Type) schema {
	if t == anyJSON {
		return schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return goSchema(t.Elem()).orNull()
	case reflect.Struct:
		s := closed(map[string]schema{})
		addMembers(&s, t)
		return s
	case reflect.Slice:
		items := goSchema(t.Elem())
		return schema{Type: types{"array"}, Items: &items}
	case reflect.Map:
		members := goSchema(t.Elem())
		return schema{Type: types{"object"}, AdditionalProperties: &members}
	case reflect.String:
		return schema{Type: types{"string"}}
	case reflect.Int:
		return schema{Type: types{"integer"}}
	case reflect.Bool:
		return schema{Type: types{"boolean"}}
	}
	return schema{}
}

// addMembers adds the members of a struct to an object.
func addMembers(s *schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			addMembers(s, f.Type)
		case !f.IsExported():
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

// with returns an object with a member that has another schema; what says nothing of it stays required or optional.
func (s schema) with(name string, member schema) schema {
	s.Properties[name] = member
	return s
}

// orNull returns a schema that null meets, too.
func (s schema) orNull() schema {
	if len(s.Type) > 0 && !slices.Contains(s.Type, "null") {
		s.Type = append(s.Type, "null")
	}
	return s
}

// oneOf is an answer that has one of several forms.
func oneOf(forms ...schema) schema { return schema{Type: types{"object"}, AnyOf: forms} }

// rowSchema is the schema of a row with all its fields.
func rowSchema(m *catalog.Model) schema {
	if m == nil {
		return schema{Type: types{"object"}}
	}
	s := closed(map[string]schema{})
	if m.KeyName != "" {
		s.Properties[m.KeyName] = shownID(m)
		s.Required = append(s.Required, m.KeyName)
	}
	for _, f := range m.Fields {
		s.Properties[f.Name] = schema{Type: shownTypes(f)}
		s.Required = append(s.Required, f.Name)
	}
	return s
}

// listedRow is the schema of a row that list_ or get_ shows: the call may leave out fields but the key, and add those of related rows by
// their paths.
func listedRow(m *catalog.Model) schema {
	s := rowSchema(m)
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

// shownID is the schema of the id that a row shows; any, if the model has no key.
func shownID(m *catalog.Model) schema {
	switch {
	case m == nil || len(m.Key) == 0:
		return schema{}
	case len(m.Key) > 1 && slices.ContainsFunc(m.Key, func(f *catalog.Field) bool { return showsNull(f.Column) }):
		return schema{Type: types{"string", "null"}}
	case len(m.Key) > 1:
		return schema{Type: types{"string"}}
	}
	return schema{Type: shownTypes(m.Key[0])}
}

// shownTypes are the JSON types of the values that a row shows in a field; none if any will do.
func shownTypes(f *catalog.Field) types {
	c := f.Column
	shown := jsonTypes(c)
	switch {
	case f.Masked:
		shown = types{"string"}
	case c.Kind == database.JSON:
		return nil
	case c.Kind == database.Decimal:
		shown = types{"string"}
	case c.Kind == database.Array:
		shown = types{"array", "string"} // the beginning of a long one is a string
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

// rowsSchema is the schema of a page of rows; total names the number of all rows.
func rowsSchema(row schema, total string) schema {
	s := closed(map[string]schema{
		"count": {Type: types{"integer"}}, total: {Type: types{"integer"}},
		"results": {Type: types{"array"}, Items: &row},
		"columns": {Type: types{"array"}, Items: &schema{Type: types{"string"}}},
		// rows are the rows in columns, or say that a row policy narrows the results.
		"rows":                  {Type: types{"array", "string"}, Items: &schema{Type: types{"array"}}},
		"limited":               {Type: types{"string"}},
		"total_count_estimated": {Type: types{"integer"}}, "total_count_at_least": {Type: types{"integer"}},
	}, "count")
	for name, member := range payloadSchema[ending]().Properties {
		s.Properties[name] = member
	}
	s.AnyOf = []schema{{Required: []string{"results"}}, {Required: []string{"columns", "rows"}}}
	return s
}
