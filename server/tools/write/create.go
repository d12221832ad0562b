package write

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// CreateOperation adds a row.
var CreateOperation = call.WithArguments("create", call.Operation{
	Extra: []string{"inlines"}, Admit: call.Admitted,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Add one %s.", call.NameOf(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema {
		object := call.RowSchema(m)
		if m != nil && !m.UniqueKey {
			object.Required = nil // MySQL cannot show a new row that no key finds
		}
		return call.PayloadSchema[created]().With("id", call.ShownID(m).OrNull()).With("object", object)
	},
	Advice: "try it with dry_run first; fields that are left out get the database's default",
}, createRow,
	call.Argument[createArguments]{Name: "data", Into: func(a *createArguments) any { return &a.data }, Required: call.Always,
		Schema: func(m *catalog.Model) call.Schema { return DataSchema(m, true) }},
	call.Argument[createArguments]{Name: "inlines", Into: func(a *createArguments) any { return &a.inlines },
		Offered: call.HasInlines, Useful: mayAddInlines, Lacks: "inlines",
		Help: "rows to add with it: {model: [{data}]}", Names: inlineModels},
	call.Argument[createArguments]{Name: "dry_run", Into: func(a *createArguments) any { return &a.dryRun }, Help: DryRunHelp, Common: true},
	call.KeyArgument[createArguments](),
)

type createArguments struct {
	data, inlines json.RawMessage
	dryRun        bool
}

// created is create_'s payload. Without the right to view, the row's content is not in it.
type created struct {
	Success bool            `json:"success"`
	ID      json.RawMessage `json:"id"`
	Object  json.RawMessage `json:"object,omitempty"`
	Inlines *inlineChanges  `json:"inlines,omitempty"`
	DryRun  bool            `json:"dry_run,omitempty"`
	// Call is the call's id, by which the journal knows what it changed.
	Call string `json:"call,omitempty"`
	// Notice says what the database made of the write, if that is not what was asked for.
	Notice string `json:"notice,omitempty"`
}

// createRow adds a row, and the rows of inline models that are sent with it.
func createRow(c *call.Call, a *createArguments) ([]byte, error) {
	c.DryRun = a.dryRun
	d, parsing := readData(&c.Request, c.Scope, a.data, Purpose{Creates: true})
	inlines, err := readInlines(&c.Request, a.inlines, true, parsing)
	if err != nil {
		return nil, err
	}
	note(&c.Request, d)
	var added written
	var changes *inlineChanges
	err = Transact(c, func(w *Writer) error {
		if added, err = w.insertRow(d, nil, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, added.values); err != nil || changes == nil {
			return err
		}
		notice := added.notice
		added, err = w.readAgain(d, added.Row)
		added.notice = notice
		return err
	})
	if err != nil {
		return nil, err
	}
	recordRow(&c.Request, added.Row, changes)
	answer := created{Success: true, ID: added.ID(), Inlines: changes, DryRun: a.dryRun, Call: c.RecordedAs(), Notice: added.notice}
	if mayView(&c.Request) {
		answer.Object = added.Text
	}
	return answer.text(c.Room())
}
