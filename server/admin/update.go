package admin

import "encoding/json"

// updated is update_'s payload.
type updated struct {
	Success bool            `json:"success"`
	Object  json.RawMessage `json:"object,omitempty"`
	Inlines *inlineChanges  `json:"inlines"`
	DryRun  bool            `json:"dry_run,omitempty"`
}

// update changes the row that has the id, and rows of inline models that belong to it.
func (c *call) update() ([]byte, error) {
	args, err := c.writeArguments(idName, "data", "inlines", "expected_version", "dry_run")
	if err != nil {
		return nil, err
	}
	where, version, err := c.oneRow(args)
	if err != nil {
		return nil, err
	}
	data, ok := args["data"]
	if !ok {
		if args["inlines"] == nil {
			return nil, invalid("data parameter is required")
		}
		data = json.RawMessage("{}")
	}
	d, parsing := c.readData(c.scope, data, purpose{})
	inlines, err := c.readInlines(args["inlines"], false, parsing)
	if err != nil {
		return nil, err
	}
	if len(d.fields) == 0 && len(inlines) == 0 {
		return nil, invalid("data must name at least one field to change")
	}
	c.note(d)
	var changed written
	var changes *inlineChanges
	err = c.transact(c.record.DryRun, func(w *write) error {
		if changed, err = w.updateRow(d, where, version, inlines.parentColumns()); err != nil {
			return err
		}
		if changes, err = w.writeInlines(inlines, changed.values); err != nil || changes == nil {
			return err
		}
		changed, err = w.readAgain(d, changed.row)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(changed.row, changes)
	answer := updated{Success: true, Inlines: changes, DryRun: c.record.DryRun}
	if c.mayView() {
		answer.Object = changed.text
	}
	return json.Marshal(answer)
}
