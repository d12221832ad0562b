package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// consequence is what becomes of one row, as a digest has it.
type consequence struct {
	Model string `json:"model"`
	Kind  string `json:"kind"`
	Row   string `json:"row"`
	// Was is the whole row as it was: one that has changed meanwhile is another one.
	Was jsontext.Members `json:"was,omitempty"`
	// Fields are the fields that change, in the order of their names.
	Fields []fieldConsequence `json:"fields"`
}

// fieldConsequence is what becomes of a field. After is absent if it is another value each time that the call runs.
type fieldConsequence struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// consequences are the changes in an order of their own, and without what differs each time that a call runs: generated keys, moments
// that the database fills in, versions. Who allows a call allows what it does, and it has to do the same when it runs.
func consequences(changes []call.Change) []consequence {
	created := createdKeys(changes)
	all := make([]consequence, len(changes))
	texts := make([][]byte, len(changes))
	order := make([]int, len(changes))
	for i := range changes {
		all[i] = consequenceOf(&changes[i], created)
		texts[i], _ = json.Marshal(&all[i]) // texts and JSON that the database gave
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(texts[a], texts[b]) })
	sorted := make([]consequence, len(all))
	for i, at := range order {
		sorted[i] = all[at]
	}
	return sorted
}

// newKeys are the keys that rows got when they were created, by table and key, and what stands for them: the rows of a model are counted.
type newKeys map[newKey]string

type newKey struct {
	table *database.Table
	key   string
}

// createdKeys are the generated keys among the changes.
func createdKeys(changes []call.Change) newKeys {
	created, count := newKeys{}, map[*catalog.Model]int{}
	for i := range changes {
		ch := &changes[i]
		m := ch.Row.Model
		if ch.Kind() != "create" || len(m.Key) != 1 || slices.Contains(ch.Given, m.Key[0]) {
			continue
		}
		count[m]++
		created[newKey{m.Table, call.PlainText(ch.Row.ID())}] = "new " + m.Name + " " + strconv.Itoa(count[m])
	}
	return created
}

func consequenceOf(ch *call.Change, created newKeys) consequence {
	m := ch.Row.Model
	c := consequence{Model: m.Name, Kind: ch.Kind(), Row: call.PlainText(ch.Row.ID())}
	if standsFor, isNew := created[newKey{m.Table, c.Row}]; isNew {
		c.Row = standsFor
	}
	was, is := ch.Before.Members(), ch.After.Members()
	c.Was = was
	for _, f := range m.Fields {
		before, after := was.Value(f.Name), is.Value(f.Name)
		if bytes.Equal(before, after) && !slices.Contains(ch.Given, f) {
			continue
		}
		if differsEachTime(ch, f) {
			after = nil
		} else if standsFor := created.referred(m, f, after); standsFor != "" {
			after = call.AppendJSON(nil, standsFor)
		}
		c.Fields = append(c.Fields, fieldConsequence{f.Name, before, after})
	}
	slices.SortFunc(c.Fields, func(a, b fieldConsequence) int { return cmp.Compare(a.Name, b.Name) })
	return c
}

// differsEachTime reports whether a field that the caller gave no value gets another one each time: what the database fills in.
func differsEachTime(ch *call.Change, f *catalog.Field) bool {
	if slices.Contains(ch.Given, f) {
		return false
	}
	switch f.Column.Kind {
	case database.Date, database.Time, database.Timestamp, database.TimestampTZ, database.UUID:
		return true
	}
	return f == ch.Row.Model.Version || ch.Kind() == "create" && f.Column.HasDefault
}

// referred is what stands for the created row that a foreign key leads to; "" if it leads to none.
func (created newKeys) referred(m *catalog.Model, f *catalog.Field, value json.RawMessage) string {
	if len(created) == 0 || len(value) == 0 {
		return ""
	}
	for _, key := range m.Table.ForeignKeys {
		if len(key.Columns) == 1 && key.Columns[0] == f.Column {
			if standsFor := created[newKey{key.References, call.PlainText(value)}]; standsFor != "" {
				return standsFor
			}
		}
	}
	return ""
}
