package admin

import (
	"encoding/json"
	"fmt"
)

// deleted is delete_'s payload.
type deleted struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	DryRun  bool   `json:"dry_run,omitempty"`
}

// delete removes the row that has the id, with what goes along.
func (c *call) delete() ([]byte, error) {
	args, err := c.writeArguments(idName, "expected_version", "dry_run")
	if err != nil {
		return nil, err
	}
	where, version, err := c.oneRow(args)
	if err != nil {
		return nil, err
	}
	var gone *deletion
	err = c.transact(c.record.DryRun, func(w *write) error {
		gone, err = w.deleteRow(c.scope, where, version)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(gone.rows[0], nil)
	verb := "Deleted"
	if c.record.DryRun {
		verb = "Would delete"
	}
	message := fmt.Sprintf("%s %s %s", verb, c.scope.Model().VerboseName, plainText(gone.rows[0].id()))
	return json.Marshal(deleted{Success: true, Message: message + gone.consequences(), DryRun: c.record.DryRun})
}
