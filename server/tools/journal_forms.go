package tools

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// SQLite keeps a moment as a text, and several texts are the same moment. So the journal also has the text that was there, and
// undo brings back the same.

// formMember begins the name under which the text of a moment stands beside the fields. No field's name does.
const formMember = "~"

// ownForm is a moment as SQLite's functions write it, with the zone that it is shown with.
func ownForm(moment json.RawMessage) string { return strings.Replace(plainText(moment), "T", " ", 1) }

// planForms reads the moments of rows as they are kept; nothing if there is no journal, or one text for each moment.
func (req *request) planForms(scope access.Scope) []database.Output {
	if req.catalog.Audit() == nil {
		return nil
	}
	var output []database.Output
	for _, field := range scope.Fields() {
		if c := field.Column; c.Loose && c.Kind.IsMoment() && !field.Masked {
			kept := *c
			kept.Kind = database.Text
			output = append(output, database.Output{Name: formMember + c.Name, Columns: []*database.Column{&kept}})
		}
	}
	return output
}

// readForms reads the moments of rows that are to be changed.
func (w *write) readForms(scope access.Scope, rows []*row, where database.Condition) error {
	forms := w.req.planForms(scope)
	if len(forms) == 0 {
		return nil
	}
	key, err := (&rowSet{scope: scope}).output([]string{scope.Model().NameOfKey()})
	if err != nil {
		return err
	}
	plan := &database.Select{From: scope.Source(), Output: append(key, forms...), Where: where, Limit: len(rows), MaxValue: maxJournalValue}
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
			r.takeForms(all)
		}
	}
	return nil
}

// takeForms takes the forms out of what was read.
func (r *row) takeForms(all map[string]json.RawMessage) {
	for name, raw := range all {
		column, isForm := strings.CutPrefix(name, formMember)
		if !isForm {
			continue
		}
		if r.forms == nil {
			r.forms = map[string]json.RawMessage{}
		}
		r.forms[column] = raw
		delete(all, name)
	}
}

// addForms adds the texts of the moments that were there before to changes. One that is gone is written in SQLite's own form
// again, and needs no text if it had that.
func (r *row) addForms(changes map[string]fieldChange) {
	if r == nil {
		return
	}
	for column, form := range r.forms {
		change, told := changes[column]
		gone := change.After == nil || isNull(change.After)
		if told && isText(change.Before) && isText(form) && (!gone || plainText(form) != ownForm(change.Before)) {
			change.Stored = plainText(form)
			changes[column] = change
		}
	}
}

func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// withoutForm is a change without what undo alone needs.
func withoutForm(change json.RawMessage) json.RawMessage {
	var told fieldChange
	if json.Unmarshal(change, &told) != nil || told.Stored == "" {
		return change
	}
	told.Stored = ""
	text, _ := json.Marshal(told) // it was JSON before
	return text
}
