package call

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Schema is the piece of JSON Schema that tools need. The schemas of arguments are closed objects without combinators.
type Schema struct {
	Type        Types      `json:"type,omitempty"`
	Description string     `json:"description,omitempty"`
	Properties  Properties `json:"properties,omitzero"`
	Required    []string   `json:"required,omitempty"`
	// AdditionalProperties is nil for any, a pointer to false for none, or the schema of all of them.
	AdditionalProperties any `json:"additionalProperties,omitempty"`
	// AnyOf are schemas; at least one holds.
	AnyOf            []Schema `json:"anyOf,omitempty"`
	Items            *Schema  `json:"items,omitempty"`
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

// Types are JSON types. One is written as a string, as most clients expect it.
type Types []string

// MarshalJSON implements json.Marshaler.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// ClosedObject is the schema of an object that has these properties and no other.
func ClosedObject(properties map[string]Schema, required ...string) Schema {
	return Schema{Type: Types{"object"}, Properties: properties, Required: required, AdditionalProperties: new(bool)}
}

// IDSchema is the JSON type of the model's id. A number may be sent as a string, too.
func IDSchema(m *catalog.Model) Schema {
	if m == nil {
		return Schema{Type: Types{"integer", "string"}, Description: "the row's id, as rows have it"}
	}
	if len(m.Key) > 1 {
		return Schema{Type: Types{"string"}, Description: KeyNames(m) + ", each percent-encoded, joined by commas"}
	}
	switch m.Key[0].Column.Kind {
	case database.Integer:
		return Schema{Type: Types{"integer", "string"}}
	case database.Float, database.Decimal:
		return Schema{Type: Types{"number", "string"}}
	case database.Boolean:
		return Schema{Type: Types{"boolean"}}
	}
	return Schema{Type: Types{"string"}}
}

// VersionSchema is the schema of the argument expected_version.
func VersionSchema(m *catalog.Model) Schema {
	if m == nil {
		return Schema{Type: Types{"integer", "string"}, Description: "the row's version_field of describe, as you read it; conflict if it has another by then"}
	}
	version := ValueSchema(m.Version)
	version.Description = m.Version.Name + " as you read it"
	return version
}

// The limits of a model whose exposure says nothing of them: find_models tells them of all models.
const (
	// UsualPage is how many rows a list has without a limit, usualMaxPage the most that it has.
	UsualPage, usualMaxPage = 100, 1000
	// UsualBulk is the most items of a bulk call.
	UsualBulk = 1000
)

// LimitSchema is the schema of the argument limit of an operation on a model's rows. A larger number than the maximum is no
// error.
func LimitSchema(m *catalog.Model) Schema {
	if m == nil {
		return Schema{Type: Types{"integer"}, Description: fmt.Sprintf("%d without it, at most %d, if describe says nothing else", UsualPage, usualMaxPage)}
	}
	limit := Schema{Type: Types{"integer"}, Default: m.Declared.DefaultPageSize}
	if m.Declared.MaxPageSize != usualMaxPage {
		limit.Description = fmt.Sprintf("at most %d", m.Declared.MaxPageSize)
	}
	return limit
}

// DefaultLimit is the schema of a limit that is the same number for all models if a call leaves it out.
func DefaultLimit(absent int) func(*catalog.Model) Schema {
	return func(m *catalog.Model) Schema {
		limit := Schema{Type: Types{"integer"}, Default: absent}
		if m != nil {
			limit.Default = min(absent, m.Declared.MaxPageSize)
		}
		return limit
	}
}

// MayBeFixed reports whether the row policy of some token gives a row that is added the field's value: tools are the same for
// all tokens.
func MayBeFixed(m *catalog.Model, f *catalog.Field) bool {
	return slices.ContainsFunc(m.Policies, func(p *catalog.Policy) bool {
		return slices.ContainsFunc(p.Filters, func(by catalog.RowFilter) bool { return len(by.Steps) == 0 && by.Column == f.Column })
	})
}

// ValueSchema is the JSON type of a field's values, with what its type says of their form.
func ValueSchema(f *catalog.Field) Schema {
	s := Schema{Description: f.Help}
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
		s.Description, _, _ = strings.Cut(ValueForm(f.Column), ";") // describe says more
	}
	if f.Column.Kind == database.Integer || f.Column.Kind == database.Float {
		b := BoundsOf(f)
		s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum = b.Minimum, b.Maximum, b.ExclusiveMinimum, b.ExclusiveMaximum
	}
	if f.Column.Kind == database.Text && len(s.Enum) == 0 {
		s.MinLength, s.MaxLength = BoundsOf(f).MinLength, BoundsOf(f).MaxLength
	}
	return s
}

// jsonTypes are the JSON types of a column's values, as docs/design/values.md, "JSON forms" has them; none if any will do.
func jsonTypes(c *database.Column) Types {
	switch c.Kind {
	case database.JSON:
		return nil
	case database.Array:
		return Types{"array"}
	case database.Boolean:
		if c.Bits > 0 {
			return Types{"boolean", "integer"} // the column may hold other numbers than 0 and 1
		}
		return Types{"boolean"}
	case database.Integer:
		if c.Bits > 0 && c.Bits < 64 {
			return Types{"integer"}
		}
		return Types{"integer", "string"} // beyond 2^53 they are strings
	case database.Decimal, database.Float:
		return Types{"number", "string"} // NaN, the infinities and what has more digits than a number are strings
	}
	return Types{"string"}
}
