package tools

import (
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// journal records what became of the rows of registered models that were to go along or to change: it reads them again, as
// the database may have made something else of it. gone and changed are the messages.
func (f *cascade) journal(gone, changed string) error {
	if f.req.catalog.Audit() == nil {
		return nil
	}
	after := &cascade{req: f.req, tx: f.tx, root: f.root, does: f.does}
	for _, a := range f.order {
		if a.model == nil {
			continue
		}
		isGone := a.gone
		for _, rows := range [][]foundRow{a.along, a.changedOnly()} {
			for chunk := range chunks(rows) {
				later, err := after.later(a, chunk)
				if err != nil {
					return err
				}
				for i, before := range chunk {
					ch := change{row: later[i], action: "update", message: changed, before: before.row, after: later[i]}
					switch {
					case later[i] == nil && isGone[before.identity]:
						ch = change{row: before.row, action: "delete", message: gone, before: before.row}
					case later[i] == nil, len(fieldChanges(a.model, before.row, later[i])) == 0:
						continue
					}
					if err := f.req.journal(f.tx, ch); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// later are rows as they are now, in their order; nil is one that is not there, or that nothing tells from others.
func (f *cascade) later(a *affected, rows []foundRow) ([]*row, error) {
	key := identityColumns(a.table, a.model)
	later := make([]*row, len(rows))
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
	found, err := f.find(f.req.token.Unscoped(a.table), a.model, among(key, same))
	if err != nil {
		return nil, err
	}
	now := map[string]*row{}
	for _, row := range found {
		now[row.identity] = row.row
	}
	for i, row := range rows {
		if later[i] == nil {
			later[i] = now[row.identity]
		}
	}
	return later, nil
}

// moved is a row whose key the database changed, by the key that it has now; nil if that is not known.
func (f *cascade) moved(a *affected, before foundRow, key []*database.Column) (*row, error) {
	now := foundRow{values: map[*database.Column]database.Value{}}
	for _, column := range key {
		value := before.will(column)
		if _, unknown := value.(unknownValue); unknown || value == nil {
			return nil, nil
		}
		now.values[column] = value
	}
	found, err := f.find(f.req.token.Unscoped(a.table), a.model, among(key, []foundRow{now}))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].row, nil
}
