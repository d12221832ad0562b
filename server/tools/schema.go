package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// schema is the piece of JSON Schema that tools need. The schemas of arguments are closed objects without combinators.
type schema struct {
	Type        types      `json:"type,omitempty"`
	Description string     `json:"description,omitempty"`
	Properties  properties `json:"properties,omitzero"`
	Required    []string   `json:"required,omitempty"`
	// AdditionalProperties is nil for any, a pointer to false for none, or the schema of all of them.
	AdditionalProperties any `json:"additionalProperties,omitempty"`
	// AnyOf are schemas; at least one holds.
	AnyOf            []schema `json:"anyOf,omitempty"`
	Items            *schema  `json:"items,omitempty"`
	Enum             []any    `json:"enum,omitempty"`
	Minimum          any      `json:"minimum,omitempty"`
	Maximum          any      `json:"maximum,omitempty"`
	ExclusiveMinimum any      `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum any      `json:"exclusiveMaximum,omitempty"`
	MinLength        int      `json:"minLength,omitempty"`
	MaxLength        int      `json:"maxLength,omitempty"`
	// Default is the value if a call leaves it out.
	Default any `json:"default,omitempty"`
}

// types are JSON types. One is written as a string, as most clients expect it.
type types []string

// MarshalJSON implements json.Marshaler.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

func closed(properties map[string]schema, required ...string) schema {
	return schema{Type: types{"object"}, Properties: properties, Required: required, AdditionalProperties: new(bool)}
}

// idSchema is the JSON type of the model's id. A number may be sent as a string, too.
func idSchema(m *catalog.Model) schema {
	if m == nil {
		return schema{Type: types{"integer", "string"}, Description: "the row's id, as rows have it"}
	}
	if len(m.Key) > 1 {
		return schema{Type: types{"string"}, Description: keyNames(m) + ", each percent-encoded, joined by commas"}
	}
	switch m.Key[0].Column.Kind {
	case database.Integer:
		return schema{Type: types{"integer", "string"}}
	case database.Float, database.Decimal:
		return schema{Type: types{"number", "string"}}
	case database.Boolean:
		return schema{Type: types{"boolean"}}
	}
	return schema{Type: types{"string"}}
}

// versionSchema is the schema of the argument expected_version.
func versionSchema(m *catalog.Model) schema {
	if m == nil {
		return schema{Type: types{"integer", "string"}, Description: "the row's version_field of describe, as you read it; conflict if it has another by then"}
	}
	version := valueSchema(m.Version)
	version.Description = m.Version.Name + " as you read it"
	return version
}

// The limits of a model whose exposure says nothing of them: find_models tells them of all models.
const usualPage, usualMaxPage, usualBulk = 100, 1000, 1000

// limitSchema is the schema of the argument limit of an operation on a model's rows. A larger number than the maximum is no
// error.
func limitSchema(m *catalog.Model) schema {
	if m == nil {
		return schema{Type: types{"integer"}, Description: fmt.Sprintf("%d without it, at most %d, if describe says nothing else", usualPage, usualMaxPage)}
	}
	limit := schema{Type: types{"integer"}, Default: m.Declared.DefaultPageSize}
	if m.Declared.MaxPageSize != usualMaxPage {
		limit.Description = fmt.Sprintf("at most %d", m.Declared.MaxPageSize)
	}
	return limit
}

// defaultLimit is the schema of a limit that is the same number for all models if a call leaves it out.
func defaultLimit(absent int) func(*catalog.Model) schema {
	return func(m *catalog.Model) schema {
		limit := schema{Type: types{"integer"}, Default: absent}
		if m != nil {
			limit.Default = min(absent, m.Declared.MaxPageSize)
		}
		return limit
	}
}

// dataSchema is the closed object of the fields that can be set, on a row that is added or on one that is there. Without a
// model it is any object.
func dataSchema(m *catalog.Model, creates bool) schema {
	switch {
	case m == nil && creates:
		return schema{Type: types{"object"}, Description: "field: value; data.create of describe says which fields there are and which must be given"}
	case m == nil:
		return schema{Type: types{"object"}, Description: "field: value, only of the fields to change; data.update of describe says which there are"}
	}
	properties := map[string]schema{}
	var required []string
	for _, f := range m.Fields {
		if whyNotWritable(f, purpose{creates: creates}) != "" {
			continue
		}
		properties[f.Name] = valueSchema(f)
		if creates && f.Column.NeedsValue() && !mayBeFixed(m, f) {
			required = append(required, f.Name)
		}
	}
	return closed(properties, required...)
}

// mayBeFixed reports whether the row policy of some token gives a row that is added the field's value: tools are the same for
// all tokens.
func mayBeFixed(m *catalog.Model, f *catalog.Field) bool {
	return slices.ContainsFunc(m.Policies, func(p *catalog.Policy) bool {
		return slices.ContainsFunc(p.Filters, func(by catalog.RowFilter) bool { return len(by.Steps) == 0 && by.Column == f.Column })
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
	s.Type = jsonTypes(f.Column)
	if f.Column.Nullable && len(s.Type) > 0 {
		s.Type = append(s.Type, "null")
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	}
	if s.Description == "" && len(s.Enum) == 0 && f.Column.Kind != database.Decimal {
		s.Description, _, _ = strings.Cut(valueForm(f.Column), ";") // describe says more
	}
	if f.Column.Kind == database.Integer || f.Column.Kind == database.Float {
		b := boundsOf(f)
		s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum = b.Minimum, b.Maximum, b.ExclusiveMinimum, b.ExclusiveMaximum
	}
	if f.Column.Kind == database.Text && len(s.Enum) == 0 {
		s.MinLength, s.MaxLength = boundsOf(f).MinLength, boundsOf(f).MaxLength
	}
	return s
}

// jsonTypes are the JSON types of a column's values, as docs/design/values.md, "JSON forms" has them; none if any will do.
func jsonTypes(c *database.Column) types {
	switch c.Kind {
	case database.JSON:
		return nil
	case database.Array:
		return types{"array"}
	case database.Boolean:
		if c.Bits > 0 {
			return types{"boolean", "integer"} // the column may hold other numbers than 0 and 1
		}
		return types{"boolean"}
	case database.Integer:
		if c.Bits > 0 && c.Bits < 64 {
			return types{"integer"}
		}
		return types{"integer", "string"} // beyond 2^53 they are strings
	case database.Decimal, database.Float:
		return types{"number", "string"} // NaN, the infinities and what has more digits than a number are strings
	}
	return types{"string"}
}
