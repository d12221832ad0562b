package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var deleteOperation = withArguments(operation{
	name: "delete", may: has(access.Delete), label: "delete", hints: destroys, offered: canDelete,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Delete one %s, with what the database deletes along with it.", m.Declared.VerboseName)
	},
	advice: "dry_run tells whether it would go through",
}, (*call).delete,
	argument[deleteArguments]{name: idName, schema: idSchema, required: always, into: func(a *deleteArguments) any { return &a.id }},
	argument[deleteArguments]{name: "expected_version", into: func(a *deleteArguments) any { return &a.version }, offered: hasVersion, schema: versionSchema},
	argument[deleteArguments]{name: "dry_run", into: func(a *deleteArguments) any { return &a.dryRun }, help: dryRunHelp},
)

type deleteArguments struct {
	id, version json.RawMessage
	dryRun      bool
}

// deleted is delete_'s payload.
type deleted struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	DryRun  bool   `json:"dry_run,omitempty"`
}

// delete removes the row that has the id, with what goes along.
func (c *call) delete(a *deleteArguments) ([]byte, error) {
	c.dryRun = a.dryRun
	where, version, err := c.oneRow(a.id, a.version)
	if err != nil {
		return nil, err
	}
	var gone *deletion
	err = c.transact(func(w *write) error {
		gone, err = w.deleteRow(c.scope, where, version)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(gone.rows[0], nil)
	verb := "Deleted"
	if a.dryRun {
		verb = "Would delete"
	}
	message := fmt.Sprintf("%s %s %s", verb, c.scope.Model().Declared.VerboseName, plainText(gone.rows[0].id()))
	return json.Marshal(deleted{Success: true, Message: message + gone.consequences(), DryRun: a.dryRun})
}
