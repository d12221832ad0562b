package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var createOperation = withArguments("create", operation{
	extra: []string{"inlines"}, admit: admitted,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Add one %s.", one(m))
	},
	outputSchema: func(m *catalog.Model) schema {
		object := rowSchema(m)
		if m != nil && !m.UniqueKey {
			object.Required = nil // MySQL cannot show a new row that no key finds
		}
		return payloadSchema[created]().with("id", shownID(m).orNull()).with("object", object)
	},
	advice: "try it with dry_run first; fields that are left out get the database's default",
}, (*call).create,
	argument[createArguments]{name: "data", into: func(a *createArguments) any { return &a.data }, required: always,
		schema: func(m *catalog.Model) schema { return dataSchema(m, true) }},
	argument[createArguments]{name: "inlines", into: func(a *createArguments) any { return &a.inlines },
		offered: hasInlines, useful: mayAddInlines, lacks: "inlines",
		help: "rows to add with it: {model: [{data}]}", names: inlineModels},
	argument[createArguments]{name: "dry_run", into: func(a *createArguments) any { return &a.dryRun }, help: dryRunHelp, common: true},
	keyArgument[createArguments](),
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

// create adds a row, and the rows of inline models that are sent with it.
func (c *call) create(a *createArguments) ([]byte, error) {
	c.dryRun = a.dryRun
	d, parsing := c.readData(c.scope, a.data, purpose{creates: true})
	inlines, err := c.readInlines(a.inlines, true, parsing)
	if err != nil {
		return nil, err
	}
	c.note(d)
	var added written
	var changes *inlineChanges
	err = c.transact(func(w *write) error {
		if added, err = w.insertRow(d, nil, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, added.values); err != nil || changes == nil {
			return err
		}
		notice := added.notice
		added, err = w.readAgain(d, added.row)
		added.notice = notice
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(added.row, changes)
	answer := created{Success: true, ID: added.id(), Inlines: changes, DryRun: a.dryRun, Call: c.recordedAs(), Notice: added.notice}
	if c.mayView() {
		answer.Object = added.text
	}
	return json.Marshal(answer)
}
