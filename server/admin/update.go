package admin

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

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
		changed, err = w.readAgain(d, changed.id)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(changed.id, changes)
	answer := updated{Success: true, Inlines: changes, DryRun: c.record.DryRun}
	if c.mayView() {
		answer.Object = changed.row
	}
	return json.Marshal(answer)
}

// writeArguments reads the arguments of an operation that writes, and whether it is to be undone.
func (c *call) writeArguments(known ...string) (arguments, error) {
	if members(c.raw)["idempotency_key"] != nil {
		return nil, invalid("idempotency_key is reserved and not supported; leave it out")
	}
	args, err := parseArguments(c.raw, known...)
	if err != nil {
		return nil, err
	}
	c.record.DryRun, err = args.flag("dry_run")
	return args, err
}

// oneRow reads the id of the row that is meant, and the version that it is expected to have.
func (c *call) oneRow(args arguments) (where, version database.Condition, err error) {
	if where, err = c.wantedRow(args); err != nil {
		return nil, nil, err
	}
	c.record.IDs = []string{plainText(args[idName])}
	version, err = expectedVersion(c.scope.Model(), args["expected_version"])
	return where, version, err
}

// readAgain reads a row once more, after what was written since may have changed it.
func (w *write) readAgain(d *rowData, id json.RawMessage) (written, error) {
	where, err := keyEquals(d.scope.Model(), id)
	if err != nil {
		return written{}, err
	}
	return w.readBack(d, id, where, nil)
}

// mayView is whether answers may show the row's content.
func (c *call) mayView() bool { return c.scope.Has(access.View) }

// note tells the audit which fields are given values.
func (c *call) note(d *rowData) { c.record.Fields = fieldsGiven(d) }

// recordRow tells the audit which row was changed, with rows of inline models. A dry run changes none.
func (c *call) recordRow(id json.RawMessage, inlines *inlineChanges) {
	if id != nil {
		c.record.IDs = []string{plainText(id)}
	}
	if !c.record.DryRun {
		c.record.Changed = 1 + inlines.count()
	}
}

func fieldsGiven(d *rowData) []string {
	names := make([]string, len(d.fields))
	for i, f := range d.fields {
		names[i] = f.Name
	}
	return names
}

// changedFields is the journal's message about an update.
func changedFields(d *rowData) string {
	if len(d.fields) == 0 {
		return "changed"
	}
	return "changed " + strings.Join(fieldsGiven(d), ", ")
}
