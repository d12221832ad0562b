package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var updateOperation = withArguments("update", operation{
	extra: []string{"inlines"}, admit: admitted, note: "(data: only what changes)",
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Change one %s.", one(m))
	},
	outputSchema: func(m *catalog.Model) schema { return payloadSchema[updated]().with("object", rowSchema(m)) },
	advice:       "data holds only the fields to change",
}, (*call).update,
	argument[updateArguments]{name: idName, schema: idSchema, required: always, into: func(a *updateArguments) any { return &a.id }},
	argument[updateArguments]{name: "data", into: func(a *updateArguments) any { return &a.data },
		required: func(m *catalog.Model) bool { return m != nil && !hasInlines(m) },
		schema:   func(m *catalog.Model) schema { return dataSchema(m, false) },
		besideCreate: func(m *catalog.Model) schema {
			return schema{Type: types{"object"}, Description: "as in create_" + m.Name}
		}},
	argument[updateArguments]{name: "inlines", into: func(a *updateArguments) any { return &a.inlines },
		offered: hasInlines, useful: mayWriteInlines, lacks: "inlines",
		help: "rows that belong to it: {model: [{data} to add, {id, data} to change, {id, _delete: true}]}", names: inlineModels},
	argument[updateArguments]{name: "expected_version", into: func(a *updateArguments) any { return &a.version }, offered: hasVersion, lacks: "version field", schema: versionSchema},
	argument[updateArguments]{name: "dry_run", into: func(a *updateArguments) any { return &a.dryRun }, help: dryRunHelp, common: true},
	keyArgument[updateArguments](),
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

// update changes the row that has the id, and rows of inline models that belong to it.
func (c *call) update(a *updateArguments) ([]byte, error) {
	c.dryRun = a.dryRun
	where, version, err := c.oneRow(a.id, a.version)
	if err != nil {
		return nil, err
	}
	data := a.data
	if data == nil {
		if a.inlines == nil {
			return nil, invalid("data parameter is required")
		}
		data = json.RawMessage("{}")
	}
	d, parsing := c.readData(c.scope, data, purpose{})
	inlines, err := c.readInlines(a.inlines, false, parsing)
	if err != nil {
		return nil, err
	}
	if len(d.fields) == 0 && len(inlines) == 0 {
		return nil, invalid("data must name at least one field to change")
	}
	c.note(d)
	var changed written
	var changes *inlineChanges
	err = c.transact(func(w *write) error {
		if changed, err = w.updateRow(d, where, version, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, changed.values); err != nil || changes == nil {
			return err
		}
		notice, untouched := changed.notice, changed.untouched
		changed, err = w.readAgain(d, changed.row)
		changed.notice, changed.untouched = notice, untouched
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(changed.row, changes)
	if changed.untouched && !a.dryRun {
		c.record.Changed--
	}
	answer := updated{Success: true, Inlines: changes, DryRun: a.dryRun, Call: c.recordedAs(), Notice: changed.notice}
	if c.mayView() {
		answer.Object = changed.text
	}
	return json.Marshal(answer)
}
