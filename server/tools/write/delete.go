package write

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// DeleteOperation deletes a row, with the rows that the database deletes along.
var DeleteOperation = call.WithArguments("delete", call.Operation{
	Admit: call.Admitted,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Delete one %s.", call.NameOf(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema {
		return call.PayloadSchema[deleted]().With("object", call.RowSchema(m))
	},
	Advice: "dry_run tells whether it would go through",
}, deleteRow,
	call.Argument[deleteArguments]{Name: call.IDName, Schema: call.IDSchema, Required: call.Always, Into: func(a *deleteArguments) any { return &a.id }},
	call.Argument[deleteArguments]{Name: "expected_version", Into: func(a *deleteArguments) any { return &a.version }, Offered: hasVersion, Lacks: "version field", Schema: call.VersionSchema},
	call.Argument[deleteArguments]{Name: "dry_run", Into: func(a *deleteArguments) any { return &a.dryRun }, Help: DryRunHelp, Common: true},
	call.KeyArgument[deleteArguments](),
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
	// Undo says that undo cannot bring back what went, and why; "" if it can, or if the endpoint has no undo.
	Undo string `json:"undo,omitempty"`
	// Call is the call's id, by which the journal knows what it changed.
	Call string `json:"call,omitempty"`
}

// deleteRow removes the row that has the id, with what goes along.
func deleteRow(c *call.Call, a *deleteArguments) ([]byte, error) {
	c.DryRun = a.dryRun
	where, version, err := oneRow(&c.Request, a.id, a.version)
	if err != nil {
		return nil, err
	}
	var gone *Deletion
	var kept json.RawMessage
	err = Transact(c, func(w *Writer) error {
		if gone, err = w.deleteRow(c.Scope, where, version); err != nil {
			return err
		}
		kept, err = gone.keptRow(w.Req, w.Tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	recordRow(&c.Request, gone.Rows[0], nil)
	answer := deleted{Success: true, Object: kept, DryRun: a.dryRun, Call: c.RecordedAs()}
	if answer.Message = gone.keptNotice(); answer.Message == "" {
		verb := "Deleted"
		if a.dryRun {
			verb = "Would delete"
		}
		answer.Message = fmt.Sprintf("%s %s %s", verb, c.Scope.Model().Declared.VerboseName, call.PlainText(gone.Rows[0].ID())) + gone.Consequences()
		if why := gone.WhyFinal(); why != "" && c.Catalog.Audit() != nil {
			answer.Undo = "not possible: " + why
		}
	} else if !a.dryRun {
		c.Record.Changed = gone.affected()
	}
	return json.Marshal(answer)
}
