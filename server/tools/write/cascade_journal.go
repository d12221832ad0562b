package write

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// journal records what became of the rows of registered models that were to go along or to change: it reads them again, as
// the database may have made something else of it. The rows that were met last, which depend on the others, come first.
// gone and changed are the messages.
func (f *cascade) journal(gone, changed string) error {
	if !Journals(f.req) {
		return nil
	}
	after := &cascade{req: f.req, tx: f.tx, root: f.root, does: f.does}
	for _, a := range slices.Backward(f.order) {
		if a.model == nil {
			f.req.Changes.AddUnnamed(call.Unnamed{Updated: len(a.changedOnly()), Deleted: len(a.along)})
			continue
		}
		for _, rows := range [][]foundRow{a.changedOnly(), a.along} {
			rows = slices.Clone(rows)
			slices.Reverse(rows)
			for chunk := range chunks(rows) {
				if err := f.journalChunk(after, a, chunk, gone, changed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// journalChunk records what became of some rows of a table.
func (f *cascade) journalChunk(after *cascade, a *affected, rows []foundRow, gone, changed string) error {
	later, err := after.later(a, rows)
	if err != nil {
		return err
	}
	for i, before := range rows {
		ch := call.Change{Row: later[i], Action: "update", Message: changed, Before: before.Row, After: later[i], Sets: before.sets(a.model)}
		switch {
		case later[i] == nil && a.gone[before.identity]:
			ch = call.Change{Row: before.Row, Action: "delete", Message: gone, Before: before.Row}
		case later[i] == nil, !differ(a.model, before.Row, later[i]):
			continue
		}
		if err := Journal(f.req, f.tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// sets are the fields that change with other rows; nil if none does.
func (r foundRow) sets(m *catalog.Model) []*catalog.Field {
	var some []*catalog.Field
	for _, f := range m.Fields {
		if _, changes := r.nexts[f.Column]; changes {
			some = append(some, f)
		}
	}
	return some
}

// later are rows as they are now, in their order; nil is one that is not there, or that nothing tells from others.
func (f *cascade) later(a *affected, rows []foundRow) ([]*call.Row, error) {
	key := identityColumns(a.table, a.model)
	later := make([]*call.Row, len(rows))
	if len(key) == 0 {
		return later, nil
	}
	var same []foundRow
	for i, row := range rows {
		if !row.changes(key) {
			same = append(same, row)
			continue
		}
		moved, err := f.moved(a, row, key)
		if err != nil {
			return nil, err
		}
		later[i] = moved
	}
	if len(same) == 0 {
		return later, nil
	}
	found, err := f.find(f.req.Token.Unscoped(a.table), a.model, among(key, same))
	if err != nil {
		return nil, err
	}
	now := map[string]*call.Row{}
	for _, row := range found {
		now[row.identity] = row.Row
	}
	for i, row := range rows {
		if later[i] == nil {
			later[i] = now[row.identity]
		}
	}
	return later, nil
}

// moved is a row whose key the database changed, by the key that it has now; nil if that is not known.
func (f *cascade) moved(a *affected, before foundRow, key []*database.Column) (*call.Row, error) {
	now := foundRow{values: map[*database.Column]database.Value{}}
	for _, column := range key {
		value := before.will(column)
		if _, unknown := value.(unknownValue); unknown || value == nil {
			return nil, nil
		}
		now.values[column] = value
	}
	found, err := f.find(f.req.Token.Unscoped(a.table), a.model, among(key, []foundRow{now}))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Row, nil
}
