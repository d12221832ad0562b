package action

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// askedID is one of the ids that a caller gives.
type askedID struct {
	raw json.RawMessage
	// where is the condition that a row has it, key its values in one form, whether they were written as 1 or "1".
	where database.Condition
	key   string
}

// readIDs reads a list of ids, each given once at most.
func readIDs(m *catalog.Model, raw json.RawMessage) ([]askedID, error) {
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) != nil:
		return nil, call.Invalid("ids must be an array of ids, not %s", lookup.Excerpt(raw))
	case len(list) == 0:
		return nil, call.Invalid("ids must name at least one row")
	case len(list) > m.Declared.MaxBulkItems:
		return nil, call.Invalid("ids: at most %d in one call, not %d; call again with the rest", m.Declared.MaxBulkItems, len(list))
	}
	ids := make([]askedID, len(list))
	places := map[string]int{}
	for i, raw := range list {
		where, err := call.KeyEquals(m, raw)
		if err != nil {
			return nil, call.Invalid("ids[%d]: %s", i, err)
		}
		ids[i] = askedID{raw: raw, where: where, key: cmp.Or(write.KeyOf(where), call.PlainText(raw))}
		if first, twice := places[ids[i].key]; twice {
			return nil, call.Invalid("ids[%d]: %s is at ids[%d] already; name each row once", i, lookup.Excerpt(raw), first)
		}
		places[ids[i].key] = i
	}
	return ids, nil
}

// anyOf is the condition that a row has one of the ids.
func anyOf(ids []askedID) database.Condition {
	all := make([]database.Condition, len(ids))
	for i, id := range ids {
		all[i] = id.where
	}
	if _, several := all[0].(database.And); !several {
		var in database.In
		for _, where := range all {
			switch c := where.(type) { // any other is of an id that no row has
			case database.Compare:
				in.Column, in.Values = c.Column, append(in.Values, c.Value)
			case database.In:
				in.Column, in.Values = c.Column, append(in.Values, c.Values...)
			}
		}
		if in.Column == nil {
			return database.Never
		}
		return in
	}
	return call.Either(all)
}

// findRows begins the plan with the rows that are there, and the ids that name none.
func (e *actionCall) findRows(from call.Reader, lock bool) (*actionPlan, error) {
	rows, err := e.selectRows(from, lock)
	if err != nil {
		return nil, err
	}
	missing, err := e.missing(from, rows)
	return &actionPlan{rows: rows, missing: missing}, err
}

// selectRows reads the rows that the caller asks for and may see. With lock they stay locked until the transaction ends;
// all of their visible fields are there where the journal wants them.
func (e *actionCall) selectRows(from call.Reader, lock bool) ([]*call.Row, error) {
	m := e.call.Scope.Model()
	plan, err := e.planRows(lock)
	if err != nil {
		return nil, err
	}
	if m.UniqueKey {
		plan.Where, plan.Limit = anyOf(e.asked), len(e.asked)
		return e.readRows(from, plan)
	}
	var rows []*call.Row
	for _, id := range e.asked {
		plan.Where, plan.Limit, plan.More = id.where, 1, true
		found, err := e.readRows(from, plan)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			plan.MaxBytes -= len(row.Text)
		}
		if rows = append(rows, found...); plan.MaxBytes <= 0 {
			return nil, e.tooManyBytes()
		}
	}
	return rows, nil
}

// maxActionBytes is the most bytes of rows that an action reads. Each byte costs several while it is worked with.
const maxActionBytes = 4 << 20

// tooManyBytes is the error about rows that are larger than maxActionBytes.
func (e *actionCall) tooManyBytes() error {
	return call.Failf(call.CodeTooLarge, "the rows are too large for one call of %s; call it with fewer ids", e.declared.Name)
}

// planRows reads, of rows of the scope, what the page and the journal show, and the keys that a statement is bound to.
func (e *actionCall) planRows(lock bool) (*database.Select, error) {
	m := e.call.Scope.Model()
	shown := []string{m.NameOfKey()}
	if m.Display != nil {
		shown = append(shown, m.Display.Name)
	}
	if write.Journals(&e.call.Request) {
		shown = nil
	}
	output, err := (&read.RowSet{Scope: e.call.Scope}).Output(call.ItemsOf(shown...))
	if err != nil {
		return nil, err
	}
	if key := m.Key[0].Column; e.declared.SQL != nil && key.Loose {
		output = append(output, database.Output{Name: write.KeptMember + key.Name, Columns: []*database.Column{key}, Kept: true})
	}
	plan := &database.Select{From: e.call.Scope.Source(), Output: output, MaxValue: write.MaxJournalValue, MaxBytes: maxActionBytes, Lock: lock && call.Lockable(m.Table)}
	for _, column := range call.KeyColumns(m) {
		plan.Order = append(plan.Order, database.Order{Column: column})
	}
	return plan, nil
}

func (e *actionCall) readRows(from call.Reader, plan *database.Select) ([]*call.Row, error) {
	texts, page, err := call.ReadAll[json.RawMessage](e.call.Ctx, from, plan)
	if page.Cut {
		return nil, e.tooManyBytes()
	}
	if plan.More && page.Count > 0 && err == nil {
		err = call.IsOneRow(e.call.Scope.Model(), page)
	}
	rows := make([]*call.Row, len(texts))
	for i, text := range texts {
		rows[i] = &call.Row{Model: e.call.Scope.Model(), Text: text}
	}
	return rows, err
}

// missing are the ids that none of the rows has. An id may be written in another way than the row shows it, where the
// column's collation or type takes both for equal: then the database is asked which row it names.
func (e *actionCall) missing(from call.Reader, rows []*call.Row) ([]json.RawMessage, error) {
	m := e.call.Scope.Model()
	there := map[string]bool{}
	for _, row := range rows {
		where, err := call.KeyEquals(m, row.ID())
		if err != nil {
			return nil, err
		}
		there[write.KeyOf(where)] = true
	}
	left := slices.DeleteFunc(slices.Clone(e.asked), func(id askedID) bool { return there[id.key] })
	unclaimed := len(rows) - (len(e.asked) - len(left))
	var missing []json.RawMessage
	for _, id := range left {
		if unclaimed > 0 {
			plan, err := e.planRows(false)
			if err != nil {
				return nil, err
			}
			plan.Where, plan.Limit = id.where, 1
			found, err := e.readRows(from, plan)
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				continue
			}
		}
		missing = append(missing, id.raw)
	}
	return missing, nil
}

// rowKeys are the conditions that a row is one of these.
func (e *actionCall) rowKeys(rows []*call.Row) ([]askedID, error) {
	keys := make([]askedID, len(rows))
	for i, row := range rows {
		where, err := call.KeyEquals(row.Model, row.ID())
		if err != nil {
			return nil, err
		}
		keys[i] = askedID{raw: row.ID(), where: where, key: write.KeyOf(where)}
	}
	return keys, nil
}

func idsOf(rows []*call.Row) []json.RawMessage {
	ids := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		ids[i] = row.ID()
	}
	return ids
}
