package write

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// A Loose column keeps values of any class and texts of any form, and rows show several of them alike: one moment as several
// texts, bytes and their base64. So the journal also has the value that was kept, and undo brings back the same.

// KeptMember begins the name under which a kept value stands beside the fields. No field's name does.
const KeptMember = "~"

// planKept reads the values of rows as they are kept; nothing if there is no journal, or no column is Loose.
func planKept(req *call.Request, scope access.Scope) []database.Output {
	if req.Catalog.Audit() == nil {
		return nil
	}
	var output []database.Output
	for _, field := range scope.Fields() {
		if c := field.Column; c.Loose && !field.Masked && !field.Secret {
			output = append(output, database.Output{Name: KeptMember + c.Name, Columns: []*database.Column{c}, Kept: true})
		}
	}
	return output
}

// ReadKept reads the values of rows that are to be changed as they are kept.
func (w *Writer) ReadKept(scope access.Scope, rows []*call.Row, where database.Condition) error {
	kept := planKept(w.Req, scope)
	if len(kept) == 0 {
		return nil
	}
	key, err := (&read.RowSet{Scope: scope}).Output(call.ItemsOf(scope.Model().NameOfKey()))
	if err != nil {
		return err
	}
	plan := &database.Select{From: scope.Source(), Output: append(key, kept...), Where: where, Limit: len(rows), MaxValue: MaxJournalValue}
	found, _, err := call.ReadAll[map[string]json.RawMessage](w.Req.Ctx, w.Tx, plan)
	if err != nil {
		return err
	}
	byID := map[string]*call.Row{}
	for _, r := range rows {
		byID[string(r.ID())] = r
	}
	for _, all := range found {
		if r := byID[string((&call.Row{Model: scope.Model(), Fields: jsontext.MembersIn(all)}).ID())]; r != nil {
			takeKept(r, all)
		}
	}
	return nil
}

// takeKept takes the kept values out of what was read.
func takeKept(r *call.Row, all map[string]json.RawMessage) {
	for name, raw := range all {
		column, isKept := strings.CutPrefix(name, KeptMember)
		if !isKept {
			continue
		}
		if !call.IsNull(raw) {
			if r.Kept == nil {
				r.Kept = map[string]json.RawMessage{}
			}
			r.Kept[column] = raw
		}
		delete(all, name)
	}
}
