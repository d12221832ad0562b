package steps

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// reversal is the change that takes an entry back.
type reversal struct {
	entry *undoEntry
	model *catalog.Model
	scope access.Scope
	id    json.RawMessage
	// op is the opposite operation with its arguments; nil if nothing has to be done.
	op        *call.Operation
	arguments map[string]any
	// before and after are the row's fields as they were and as the entry left them, by the names that they have today: all
	// that the entry tells of; nil if there was no row.
	before, after map[string]json.RawMessage
	// settled are the fields whose values the call sets: they must be as before in the end. aside are those that the change did
	// not set: the database or the server did, and does so again. fixed says why others cannot be set: they must be as before all the same.
	settled []string
	aside   map[string]bool
	fixed   map[string]string
	// withheld is a field that was set and whose values the journal does not have; "" if there is none.
	withheld string
	// kept are values as the database kept them, by fields.
	kept map[string]database.Value
}

// find finds the row that an entry is about.
func (u *undoing) find(e *undoEntry) (*reversal, error) {
	r := &reversal{entry: e, arguments: map[string]any{}}
	for _, m := range u.call.Catalog.Models() {
		if m.Served() && m.Table.Schema == e.Schema && m.Table.Name == e.Table {
			r.model = m
		}
	}
	if r.model == nil || !u.call.Token.Reach(r.model).Has(access.View) {
		return nil, call.Failf(call.CodePermissionDenied, "%s of %s %s cannot be undone: you may not view it; nothing was undone", e.what(), e.Model, e.Row)
	}
	r.scope = u.call.Token.Reach(r.model)
	if e.Row == "" || len(r.model.Key) == 0 {
		return nil, e.cannot("the row has no id in the journal")
	}
	if r.id = call.AppendJSON(nil, e.Row); len(r.model.Key) == 1 && r.model.Key[0].Column.Kind == database.Boolean {
		r.id = json.RawMessage(e.Row)
	}
	return r, nil
}

// plan finds out what takes an entry back, or says why nothing does.
func (u *undoing) plan(e *undoEntry) (*reversal, error) {
	r, err := u.find(e)
	if err != nil {
		return nil, err
	}
	if err := r.readFields(); err != nil {
		return nil, err
	}
	r.fixed = map[string]string{}
	switch e.Action {
	case "create":
		r.op, r.arguments[call.IDName] = write.DeleteOperation, r.id
		return r, r.knowsAfter()
	case "delete":
		return r, r.recreate()
	case "update":
		return r, r.restore()
	}
	return r, r.restoreAction()
}

// readFields finds the entry's fields among the fields that the token sees today.
func (r *reversal) readFields() error {
	r.before, r.after, r.kept = map[string]json.RawMessage{}, map[string]json.RawMessage{}, map[string]database.Value{}
	r.aside = map[string]bool{}
	for column, change := range r.entry.fieldsChanged() {
		f := fieldOfColumn(r.scope, column)
		if f == nil || f.Masked || f.Secret {
			return r.entry.cannot("it changed a field that you may not see today")
		}
		if change.Before == nil && change.After == nil {
			r.withheld = f.Name
		}
		r.aside[f.Name] = change.Aside
		for _, value := range []json.RawMessage{change.Before, change.After} {
			if write.IsShortened(value) {
				return r.entry.cannot("%s is longer than the %d bytes that the journal keeps of a value", f.Name, write.MaxJournalValue)
			}
		}
		if change.Before != nil {
			r.before[f.Name] = change.Before
		}
		if change.Stored != nil {
			kept, err := database.ParseKept(change.Stored)
			if err != nil {
				return r.entry.cannot("the journal does not tell how %s was stored: %s", f.Name, err)
			}
			r.kept[f.Name] = kept
		}
		if change.After != nil {
			r.after[f.Name] = change.After
		}
	}
	return nil
}

// knowsAfter refuses to undo a creation if the journal has no field of the row: a trigger of the database took it.
func (r *reversal) knowsAfter() error {
	if len(r.after) == 0 {
		return r.entry.cannot("a trigger or rule of the database stored the row")
	}
	return nil
}

// recreate plans the creation of a row that was deleted. All that the row was must be in the journal.
func (r *reversal) recreate() error {
	if why := write.WhyNoRecreation(r.scope); why != "" {
		return r.entry.cannot("%s", why)
	}
	data := map[string]json.RawMessage{}
	for _, c := range r.model.Table.Columns {
		f := call.FieldOf(r.scope, c)
		switch {
		case c.Generated, f == r.model.Version:
			if f != nil && r.before[f.Name] != nil && !r.aside[f.Name] { // it was set then
				r.fixed[f.Name] = whyNotSet(f, write.Purpose{Creates: true})
			}
		case r.before[f.Name] == nil:
			return r.entry.cannot("the journal does not have its %s, which the table may have got since", f.Name)
		default:
			data[f.Name] = r.before[f.Name]
			r.settled = append(r.settled, f.Name)
		}
	}
	r.op, r.arguments["data"] = write.CreateOperation, data
	return nil
}

// whyNotSet says why a field cannot be set; "" if it can.
func whyNotSet(f *catalog.Field, p write.Purpose) string {
	why, _, _ := strings.Cut(write.WhyNotWritable(f, p), ";")
	return why
}

// restore plans the change of fields to what they were.
func (r *reversal) restore() error {
	if f := write.HiddenChange(r.scope); f != nil {
		return r.entry.cannot("the journal keeps no secrets, and does not tell whether %s was changed, too", f.Name)
	}
	if r.withheld != "" {
		return r.entry.cannot("the journal does not have what %s was, which looked like a secret then", r.withheld)
	}
	for name := range r.after {
		if r.before[name] == nil {
			return r.entry.cannot("a trigger or rule of the database stored the row in its own way")
		}
	}
	data := map[string]json.RawMessage{}
	for name, value := range r.before {
		f := r.scope.Field(name)
		switch why := whyNotSet(f, write.Purpose{}); {
		case why == "":
			data[name] = value
			r.settled = append(r.settled, name)
		case !r.aside[name]:
			r.fixed[name] = why
		}
	}
	if len(data) > 0 {
		r.op, r.arguments[call.IDName], r.arguments["data"] = write.UpdateOperation, r.id, data
	}
	return nil
}

// restoreAction plans restore for an action. Only an update is known in full, so other actions are refused.
func (r *reversal) restoreAction() error {
	var declared *catalog.Action
	for _, a := range r.model.Actions {
		if call.ActionPrefix+a.Name == r.entry.Action {
			declared = a
		}
	}
	switch {
	case declared == nil:
		return r.entry.cannot("the action is not declared any more")
	case declared.Webhook != nil:
		return r.entry.cannot("it was sent to a webhook")
	case declared.Update == nil:
		return r.entry.cannot("the action is an SQL statement, which may have changed more than the journal knows")
	}
	for _, set := range declared.Set {
		if f := call.FieldOf(r.scope, set.Field.Column); f == nil || f.Masked || f.Secret {
			return r.entry.cannot("the action sets a column that you may not see")
		}
	}
	return r.restore()
}
