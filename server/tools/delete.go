package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var deleteOperation = withArguments("delete", operation{
	admit: admitted,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Delete one %s.", one(m))
	},
	outputSchema: func(m *catalog.Model) schema { return payloadSchema[deleted]().with("object", rowSchema(m)) },
	advice:       "dry_run tells whether it would go through",
}, (*call).delete,
	argument[deleteArguments]{name: idName, schema: idSchema, required: always, into: func(a *deleteArguments) any { return &a.id }},
	argument[deleteArguments]{name: "expected_version", into: func(a *deleteArguments) any { return &a.version }, offered: hasVersion, lacks: "version field", schema: versionSchema},
	argument[deleteArguments]{name: "dry_run", into: func(a *deleteArguments) any { return &a.dryRun }, help: dryRunHelp, common: true},
	keyArgument[deleteArguments](),
)

type deleteArguments struct {
	id, version json.RawMessage
	dryRun      bool
}

// deleted is delete_'s payload.
type deleted struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	// Object is the present row, if the database kept it.
	Object json.RawMessage `json:"object,omitempty"`
	DryRun bool            `json:"dry_run,omitempty"`
	// Call is the call's id, by which the journal knows what it changed.
	Call string `json:"call,omitempty"`
}

// delete removes the row that has the id, with what goes along.
func (c *call) delete(a *deleteArguments) ([]byte, error) {
	c.dryRun = a.dryRun
	where, version, err := c.oneRow(a.id, a.version)
	if err != nil {
		return nil, err
	}
	var gone *deletion
	var kept json.RawMessage
	err = c.transact(func(w *write) error {
		if gone, err = w.deleteRow(c.scope, where, version); err != nil {
			return err
		}
		kept, err = gone.keptRow(w.req, w.tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.recordRow(gone.rows[0], nil)
	answer := deleted{Success: true, Object: kept, DryRun: a.dryRun, Call: c.recordedAs()}
	if answer.Message = gone.keptNotice(); answer.Message == "" {
		verb := "Deleted"
		if a.dryRun {
			verb = "Would delete"
		}
		answer.Message = fmt.Sprintf("%s %s %s", verb, c.scope.Model().Declared.VerboseName, plainText(gone.rows[0].id())) + gone.consequences()
	} else if !a.dryRun {
		c.record.Changed = gone.affected()
	}
	return json.Marshal(answer)
}
