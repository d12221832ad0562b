package tools

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A Loose column keeps values of any class and texts of any form, and rows show several of them alike: one moment as several
// texts, bytes and their base64. So the journal also has the value that was kept, and undo brings back the same.

// keptMember begins the name under which a kept value stands beside the fields. No field's name does.
const keptMember = "~"

// planKept reads the values of rows as they are kept; nothing if there is no journal, or no column is Loose.
func (req *request) planKept(scope access.Scope) []database.Output {
	if req.catalog.Audit() == nil {
		return nil
	}
	var output []database.Output
	for _, field := range scope.Fields() {
		if c := field.Column; c.Loose && !field.Masked && !field.Secret {
			output = append(output, database.Output{Name: keptMember + c.Name, Columns: []*database.Column{c}, Kept: true})
		}
	}
	return output
}

// readKept reads the values of rows that are to be changed as they are kept.
func (w *write) readKept(scope access.Scope, rows []*row, where database.Condition) error {
	kept := w.req.planKept(scope)
	if len(kept) == 0 {
		return nil
	}
	key, err := (&rowSet{scope: scope}).output([]string{scope.Model().NameOfKey()})
	if err != nil {
		return err
	}
	plan := &database.Select{From: scope.Source(), Output: append(key, kept...), Where: where, Limit: len(rows), MaxValue: maxJournalValue}
	found, _, err := readAll[map[string]json.RawMessage](w.req.ctx, w.tx, plan)
	if err != nil {
		return err
	}
	byID := map[string]*row{}
	for _, r := range rows {
		byID[string(r.id())] = r
	}
	for _, all := range found {
		if r := byID[string((&row{model: scope.Model(), fields: all}).id())]; r != nil {
			r.takeKept(all)
		}
	}
	return nil
}

// takeKept takes the kept values out of what was read.
func (r *row) takeKept(all map[string]json.RawMessage) {
	for name, raw := range all {
		column, isKept := strings.CutPrefix(name, keptMember)
		if !isKept {
			continue
		}
		if !isNull(raw) {
			if r.kept == nil {
				r.kept = map[string]json.RawMessage{}
			}
			r.kept[column] = raw
		}
		delete(all, name)
	}
}

// addKept adds the kept values of the row before to its changes.
func (r *row) addKept(changes map[string]fieldChange) {
	if r == nil {
		return
	}
	for column, kept := range r.kept {
		if change, told := changes[column]; told && !isShortened(change.Before) {
			change.Stored = kept
			changes[column] = change
		}
	}
}

// withoutStored is a change without what undo alone needs.
func withoutStored(change json.RawMessage) json.RawMessage {
	var told fieldChange
	if json.Unmarshal(change, &told) != nil || told.Stored == nil {
		return change
	}
	told.Stored = nil
	text, _ := json.Marshal(told) // it was JSON before
	return text
}
