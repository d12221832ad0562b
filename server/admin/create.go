package admin

import (
	"encoding/json"
)

// created is create_'s payload. Without the right to view, the row's content is not in it.
type created struct {
	Success bool            `json:"success"`
	ID      json.RawMessage `json:"id"`
	Object  json.RawMessage `json:"object,omitempty"`
	Inlines *inlineChanges  `json:"inlines,omitempty"`
	DryRun  bool            `json:"dry_run,omitempty"`
}

// create adds a row, and those of inline models that are sent with it.
func (c *call) create() ([]byte, error) {
	args, err := c.writeArguments("data", "inlines", "dry_run")
	if err != nil {
		return nil, err
	}
	data, ok := args["data"]
	if !ok {
		return nil, invalid("data parameter is required")
	}
	d, parsing := c.readData(c.scope, data, purpose{creates: true})
	inlines, err := c.readInlines(args["inlines"], true, parsing)
	if err != nil {
		return nil, err
	}
	c.note(d)
	var added written
	var changes *inlineChanges
	err = c.transact(c.record.DryRun, func(w *write) error {
		if added, err = w.insertRow(d, nil, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, added.values); err != nil || changes == nil {
			return err
		}
		added, err = w.readAgain(d, added.row)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(added.row, changes)
	answer := created{Success: true, ID: added.id(), Inlines: changes, DryRun: c.record.DryRun}
	if c.mayView() {
		answer.Object = added.text
	}
	return json.Marshal(answer)
}
