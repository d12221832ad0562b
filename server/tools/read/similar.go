package read

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// similarTo reads the argument similar_to, and keeps the distance by which the rows are ordered. Nothing is read without it.
func (s *RowSet) similarTo(c *call.Call, raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	given, ok := jsontext.ReadObject(raw)
	for _, m := range given {
		ok = ok && slices.Contains([]string{"id", "vector", "field"}, m.Name)
	}
	id, hasID := given.Find("id")
	list, hasList := given.Find("vector")
	if !ok || hasID == hasList {
		return call.Invalid(`similar_to must be {"id": id} of a row, or {"vector": [numbers]}, perhaps with "field": name, not %s`, lookup.Excerpt(raw))
	}
	field, err := s.vectorField(given.Value("field"))
	if err != nil {
		return err
	}
	var to []float32
	if hasID {
		to, err = s.vectorOfRow(c, field, id)
	} else {
		to, err = readVector(field, list)
	}
	if err != nil {
		return err
	}
	s.similar = &database.Distance{Of: field.Column, To: to}
	return nil
}

// vectorField is the field that is meant: the only one if none is named.
func (s *RowSet) vectorField(raw json.RawMessage) (*catalog.Field, error) {
	vectors := s.Scope.Model().Vectors
	names := make([]string, len(vectors))
	for i, f := range vectors {
		names[i] = f.Name
	}
	name, isText := jsontext.ReadString(raw)
	switch at := slices.Index(names, name); {
	case raw == nil && len(vectors) == 1:
		return vectors[0], nil
	case raw == nil:
		return nil, call.Invalid("similar_to: say which vectors are meant, with field: %s", strings.Join(names, ", "))
	case !isText || at < 0:
		return nil, call.Invalid("similar_to: field must be one of %s, not %s", strings.Join(names, ", "), lookup.Excerpt(raw))
	default:
		return vectors[at], nil
	}
}

// vectorOfRow is the vector of a row that the token sees.
func (s *RowSet) vectorOfRow(c *call.Call, field *catalog.Field, id json.RawMessage) ([]float32, error) {
	where, err := c.WantedRow(id)
	if err != nil {
		return nil, err
	}
	plan := &database.Select{From: s.Scope.Source(), Where: where, Limit: 1, Cursor: database.Refs(field.Column)}
	_, page, err := c.ReadOne(c.DB, s.Scope, plan, nil)
	if err != nil {
		return nil, err
	}
	vector := database.ReadVector(page.Last[0])
	if len(vector) == 0 {
		return nil, call.Invalid("similar_to: the row has no vector in %s; name another row, or send a vector", field.Name)
	}
	return vector, nil
}

// readVector reads a list of as many numbers as the field's vectors have.
func readVector(field *catalog.Field, raw json.RawMessage) ([]float32, error) {
	dimensions := field.Column.Vector.Dimensions
	var numbers []*float64
	if err := json.Unmarshal(raw, &numbers); err != nil || len(numbers) != dimensions || slices.Contains(numbers, nil) {
		return nil, call.Invalid("similar_to: vector must be %d numbers, as those of %s are, not %s", dimensions, field.Name, lookup.Excerpt(raw))
	}
	vector := make([]float32, dimensions)
	for i, n := range numbers {
		if *n > mostInVector || *n < -mostInVector {
			return nil, call.Invalid("similar_to: the numbers of a vector must be from -%d to %[1]d", mostInVector)
		}
		vector[i] = float32(*n)
	}
	return vector, nil
}

// mostInVector is the greatest number that every type of vectors has.
const mostInVector = 65504

// similarOrder is the order of a list of similar rows: the nearest first, and then by the key.
func (s *RowSet) similarOrder() []database.Order {
	order := append([]database.Order{{Column: s.similar.Column()}}, call.KeyOrder(s.Scope.Model())...)
	s.orderAsked = 1
	if !s.Scope.Model().UniqueKey {
		order = appendAll(order, s.Scope)
	}
	return order
}
