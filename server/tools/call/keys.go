package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// IDName is the argument that names a row by its whole key, whatever the key's columns are called.
const IDName = "id"

// KeyColumns returns the columns of a model's key.
func KeyColumns(m *catalog.Model) []*database.Column {
	columns := make([]*database.Column, len(m.Key))
	for i, f := range m.Key {
		columns[i] = f.Column
	}
	return columns
}

// KeyOrder is the order of a model's key.
func KeyOrder(m *catalog.Model) []database.Order {
	order := make([]database.Order, len(m.Key))
	for i, f := range m.Key {
		order[i] = database.Order{Column: f.Column}
	}
	return order
}

// WantedRow is the condition that the argument id names the row.
func (req *Request) WantedRow(id json.RawMessage) (database.Condition, error) {
	return IDEquals(req.Scope.Model(), id)
}

// IDEquals is KeyEquals of the argument id, which an error names.
func IDEquals(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	where, err := KeyEquals(m, raw)
	if err != nil {
		return nil, Invalid("id: %s", err)
	}
	return where, nil
}

// KeyEquals is the condition that a row's key is the id: a value of the key's own type, or, for a key of several
// columns, a string of their values, each percent-encoded, joined by commas (docs/design/values.md, "Ids"). An integer
// that is beyond what any column holds is the id of no row. An error says what the id must be, and does not name the argument that it came in.
func KeyEquals(m *catalog.Model, raw json.RawMessage) (database.Condition, error) {
	if len(m.Key) == 1 {
		if IsNull(raw) {
			return nil, errors.New("must not be null")
		}
		return lookup.Equal(m.Key[0].Column, raw)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("must be a string of %s, each percent-encoded, joined by commas", KeyNames(m))
	}
	parts := strings.Split(text, ",")
	if len(parts) != len(m.Key) {
		return nil, fmt.Errorf("must have %d parts (%s) joined by commas, not %d", len(m.Key), KeyNames(m), len(parts))
	}
	var all database.And
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, fmt.Errorf("part %d is not percent-encoded properly: a percent sign is %%25, a comma %%2C", i+1)
		}
		condition, err := equalsText(m.Key[i].Column, plain)
		if err != nil {
			return nil, fmt.Errorf("part %d (%s): %w", i+1, m.Key[i].Name, err)
		}
		all = append(all, condition)
	}
	return all, nil
}

// equalsText is lookup.Equal of a value's text, as it stands in a part of a key.
func equalsText(c *database.Column, text string) (database.Condition, error) {
	if c.Kind == database.Boolean { // as JSON, a string is none
		value, err := lookup.ParseText(c, text)
		return database.Compare{Column: c, Op: database.Equal, Value: value}, err
	}
	return lookup.Equal(c, AppendJSON(nil, text))
}

// Either is the condition that any of many is met. An engine reads a long OR as a deep one, and SQLite's may be no deeper
// than a thousand.
func Either(conditions []database.Condition) database.Or {
	const most = 50
	if len(conditions) <= most {
		return conditions
	}
	var groups database.Or
	for group := range slices.Chunk(conditions, most) {
		groups = append(groups, database.Or(group))
	}
	return groups
}

// KeyNames returns the names of the key's fields, joined by commas.
func KeyNames(m *catalog.Model) string {
	names := make([]string, len(m.Key))
	for i, f := range m.Key {
		names[i] = f.Name
	}
	return strings.Join(names, ",")
}
