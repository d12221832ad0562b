package admin

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// idName is what arguments, filters and order_by call the whole key, whatever its columns are called.
const idName = "id"

// isKeyName is whether a name in an argument means the model's whole key.
func isKeyName(m *catalog.Model, name string) bool {
	return len(m.Key) > 0 && (name == idName || name == m.KeyName && name != "")
}

func keyColumns(m *catalog.Model) []*database.Column {
	columns := make([]*database.Column, len(m.Key))
	for i, f := range m.Key {
		columns[i] = f.Column
	}
	return columns
}

// keyEquals is the condition that a row's key is the id: a value of the key's own type, or, for a key of several
// columns, a string of their values, each percent-encoded, joined by commas (decisions section 4, "id").
func keyEquals(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	if len(m.Key) == 1 {
		column := m.Key[0].Column
		value, err := lookup.ParseValue(column, raw)
		if err != nil {
			return nil, invalid("id: %s", err)
		}
		return database.Compare{Column: column, Op: database.Equal, Value: value}, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, invalid("id: must be a string of %s, each percent-encoded, joined by commas", keyNames(m))
	}
	parts := strings.Split(text, ",")
	if len(parts) != len(m.Key) {
		return nil, invalid("id: must have %d parts (%s) joined by commas, has %d", len(m.Key), keyNames(m), len(parts))
	}
	var all database.And
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, invalid("id: part %d is not percent-encoded as it should be", i+1)
		}
		value, err := lookup.ParseText(m.Key[i].Column, plain)
		if err != nil {
			return nil, invalid("id: part %d (%s): %s", i+1, m.Key[i].Name, err)
		}
		all = append(all, database.Compare{Column: m.Key[i].Column, Op: database.Equal, Value: value})
	}
	return all, nil
}

func keyNames(m *catalog.Model) string {
	names := make([]string, len(m.Key))
	for i, f := range m.Key {
		names[i] = f.Name
	}
	return strings.Join(names, ",")
}

// idSchema is the JSON type of the model's id. A number may be sent as a string too, which is said by anyOf, within the
// property: a list of types is what some clients drop.
func idSchema(m *catalog.Model) schema {
	if len(m.Key) > 1 {
		return schema{Type: "string"}
	}
	switch m.Key[0].Column.Kind {
	case database.Integer:
		return schema{AnyOf: []schema{{Type: "integer"}, {Type: "string"}}}
	case database.Float:
		return schema{AnyOf: []schema{{Type: "number"}, {Type: "string"}}}
	case database.Boolean:
		return schema{Type: "boolean"}
	}
	return schema{Type: "string"}
}
