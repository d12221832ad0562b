package write

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// UpdateOperation changes a row.
var UpdateOperation = call.WithArguments("update", call.Operation{
	Extra: []string{"inlines"}, Admit: call.Admitted, Note: "(data: only what changes)",
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Change one %s.", call.NameOf(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema {
		return call.PayloadSchema[updated]().With("object", call.RowSchema(m))
	},
	Advice: "data holds only the fields to change",
}, updateRow,
	call.Argument[updateArguments]{Name: call.IDName, Schema: call.IDSchema, Required: call.Always, Into: func(a *updateArguments) any { return &a.id }},
	call.Argument[updateArguments]{Name: "data", Into: func(a *updateArguments) any { return &a.data },
		Required: func(m *catalog.Model) bool { return m != nil && !call.HasInlines(m) },
		Schema:   func(m *catalog.Model) call.Schema { return DataSchema(m, false) },
		BesideCreate: func(m *catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"object"}, Description: "as in create_" + m.Name}
		}},
	call.Argument[updateArguments]{Name: "inlines", Into: func(a *updateArguments) any { return &a.inlines },
		Offered: call.HasInlines, Useful: mayWriteInlines, Lacks: "inlines",
		Help: "rows that belong to it: {model: [{data} to add, {id, data} to change, {id, _delete: true}]}", Names: inlineModels},
	call.Argument[updateArguments]{Name: "expected_version", Into: func(a *updateArguments) any { return &a.version }, Offered: hasVersion, Lacks: "version field", Schema: call.VersionSchema},
	call.Argument[updateArguments]{Name: "dry_run", Into: func(a *updateArguments) any { return &a.dryRun }, Help: DryRunHelp, Common: true},
	call.KeyArgument[updateArguments](),
)

type updateArguments struct {
	id, data, inlines, version json.RawMessage
	dryRun                     bool
}

// updated is update_'s payload.
type updated struct {
	Success bool            `json:"success"`
	Object  json.RawMessage `json:"object,omitempty"`
	Inlines *inlineChanges  `json:"inlines"`
	DryRun  bool            `json:"dry_run,omitempty"`
	// Call is the call's id, by which the journal knows what it changed.
	Call string `json:"call,omitempty"`
	// Notice says what the database made of the write, if that is not what was asked for.
	Notice string `json:"notice,omitempty"`
}

// updateRow changes the row that has the id, and rows of inline models that belong to it.
func updateRow(c *call.Call, a *updateArguments) ([]byte, error) {
	c.DryRun = a.dryRun
	where, version, err := oneRow(&c.Request, a.id, a.version)
	if err != nil {
		return nil, err
	}
	data := a.data
	if data == nil {
		if a.inlines == nil {
			return nil, call.Invalid("data parameter is required")
		}
		data = json.RawMessage("{}")
	}
	d, parsing := readData(&c.Request, c.Scope, data, Purpose{})
	inlines, err := readInlines(&c.Request, a.inlines, false, parsing)
	if err != nil {
		return nil, err
	}
	if len(d.Fields) == 0 && len(inlines) == 0 {
		return nil, call.Invalid("data must name at least one field to change")
	}
	note(&c.Request, d)
	var changed written
	var changes *inlineChanges
	err = Transact(c, func(w *Writer) error {
		if changed, err = w.updateRow(d, where, version, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, changed.values); err != nil || changes == nil {
			return err
		}
		notice, untouched := changed.notice, changed.untouched
		changed, err = w.readAgain(d, changed.Row)
		changed.notice, changed.untouched = notice, untouched
		return err
	})
	if err != nil {
		return nil, err
	}
	recordRow(&c.Request, changed.Row, changes)
	if changed.untouched && !a.dryRun {
		c.Record.Changed--
	}
	answer := updated{Success: true, Inlines: changes, DryRun: a.dryRun, Call: c.RecordedAs(), Notice: changed.notice}
	if mayView(&c.Request) {
		answer.Object = changed.Text
	}
	return answer.text(c.Room())
}
