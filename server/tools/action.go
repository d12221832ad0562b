package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// The operation names no action in its schema: which ones there are depends on the token.
var _ = withArguments("action", operation{
	may: mayAct, label: "run actions on", many: true, counted: "ids", admit: admitAction,
	note: "(one that asks changes nothing before confirm: true)",
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Run an action on some %s.", many(m))
	},
	outputSchema: func(*catalog.Model) schema {
		return oneOf(payloadSchema[actionOutcome](), payloadSchema[confirmationRequest]())
	},
	advice: "one that needs confirmation answers requires_confirmation first, and runs when it is called again with confirm: true and the confirmation_token",
}, (*call).action,
	argument[actionArguments]{name: "action", into: func(a *actionArguments) any { return &a.action }, required: always,
		hint:   func(c *call) string { return "you may run " + actionNames(actionsOf(c.catalog, c.scope)) },
		common: true, help: "its name, as actions has it"},
	argument[actionArguments]{name: "ids", into: func(a *actionArguments) any { return &a.ids }, required: always,
		schema: func(m *catalog.Model) schema {
			id := idSchema(m)
			id.Description = ""
			return schema{Type: types{"array"}, Items: &id}
		}},
	argument[actionArguments]{name: "confirm", into: func(a *actionArguments) any { return &a.confirm }, common: true,
		help: "needed by one that asks for confirmation: without it, a page is answered"},
	argument[actionArguments]{name: "confirmation_data", into: func(a *actionArguments) any { return &a.data },
		common: true, help: "the action's parameters, by name"},
	argument[actionArguments]{name: "confirmation_token", into: func(a *actionArguments) any { return &a.token },
		common: true, help: "that of the page; needed if other rows go or change, too"},
	keyArgument[actionArguments](),
)

type actionArguments struct {
	action, token string
	ids, data     json.RawMessage
	confirm       bool
}

// deleteSelected is the action that every model has whose rows can be deleted.
var deleteSelected = &catalog.Action{Action: contract.Action{
	Name: contract.DeleteSelected, Description: "Delete the selected rows, and what goes with them.", Confirm: &contract.Confirmation{},
}}

// mayAct reports whether the token may run any action on the model.
func mayAct(s access.Scope) bool {
	return s.Has(access.View) && (mayDeleteSelected(s) || len(s.Actions()) > 0)
}

func mayDeleteSelected(s access.Scope) bool {
	return s.Has(access.View | access.Change | access.Delete)
}

// hasActions reports whether the model has any action.
func hasActions(c *catalog.Catalog, m *catalog.Model) bool {
	return actionFits(c, m, deleteSelected) || slices.ContainsFunc(m.Actions, func(a *catalog.Action) bool { return actionFits(c, m, a) })
}

// actionFits reports whether the model's table and the endpoint allow the action. A webhook changes rows elsewhere, so that
// all it needs is to tell which they are.
func actionFits(c *catalog.Catalog, m *catalog.Model, a *catalog.Action) bool {
	switch {
	case a == deleteSelected:
		return findOperation("delete").offeredFor(c, m)
	case a.Name == deleteSelected.Name:
		return false
	case a.Webhook != nil:
		return len(m.Key) > 0 && c.AuditProblem() == ""
	case a.SQL != nil:
		return canUpdate(c, m) && len(m.Key) == 1 // the rows are locked, for which a database wants UPDATE
	}
	return canUpdate(c, m)
}

// actionsOf are the actions that the scope's token may run.
func actionsOf(c *catalog.Catalog, scope access.Scope) []*catalog.Action {
	m := scope.Model()
	var some []*catalog.Action
	if !scope.Has(access.View) {
		return nil
	}
	if mayDeleteSelected(scope) && actionFits(c, m, deleteSelected) {
		some = append(some, deleteSelected)
	}
	for _, a := range scope.Actions() {
		if actionFits(c, m, a) {
			some = append(some, a)
		}
	}
	return some
}

// actionCall is one call of an action.
type actionCall struct {
	call       *call
	declared   *catalog.Action
	asked      []askedID
	parameters parameters
	confirmed  bool
	// shown is the confirmation_token that the caller shows; "" is none.
	shown string
}

// actionPlan holds what an action would do, evaluated in the transaction in which it may do it.
type actionPlan struct {
	// rows are the rows that it is about; missing ones are not there or not visible, skipped ones are refused by its where.
	rows             []*row
	missing, skipped []json.RawMessage
	// along are the rows that a deletion takes along, or that the database changes along with an update.
	along []consequence
	// run does it, and returns how many rows were affected.
	run func() (int, error)
	// deletion belongs to delete_selected; nil for others.
	deletion *deletion
}

// actionOutcome is action_'s answer when the action was run.
type actionOutcome struct {
	Success       bool              `json:"success"`
	Action        string            `json:"action"`
	AffectedCount int               `json:"affected_count"`
	Message       string            `json:"message"`
	Result        json.RawMessage   `json:"result"`
	MissingIDs    []json.RawMessage `json:"missing_ids"`
	SkippedIDs    []json.RawMessage `json:"skipped_ids"`
	Call          string            `json:"call,omitempty"`
}

// action runs an action on the rows that have the ids, or asks first.
func (c *call) action(a *actionArguments) ([]byte, error) {
	e, err := c.readActionCall(a)
	if err != nil {
		return nil, err
	}
	if e.declared.Webhook != nil {
		return e.runWebhook()
	}
	var answer []byte
	var asked *confirmationRequest
	var affected int
	err = c.transact(func(w *write) error {
		p, err := e.plan(w)
		if err != nil {
			return err
		}
		if asked, err = e.ask(p); err != nil {
			return err
		}
		if asked != nil {
			return errAsked
		}
		if affected, err = p.run(); err != nil {
			return err
		}
		answer, err = e.outcome(p, affected, e.done(p), nil)
		return err
	})
	switch {
	case asked != nil:
		c.asked = true
		return encodePlainly(asked)
	case err != nil:
		return nil, err
	}
	c.record.Changed = affected
	return answer, nil
}

// done says in words what was done.
func (e *actionCall) done(p *actionPlan) string {
	if p.deletion != nil {
		return p.deletion.done()
	}
	return fmt.Sprintf("%s was run on %s", e.declared.Name, counted(e.call.scope.Model(), len(p.rows)))
}

// readActionCall reads action_'s arguments.
func (c *call) readActionCall(a *actionArguments) (*actionCall, error) {
	e := &actionCall{call: c, confirmed: a.confirm, shown: a.token}
	var err error
	if e.declared, err = c.findAction(a.action); err != nil {
		return nil, err
	}
	c.record.Operation = actionPrefix + e.declared.Name
	if e.asked, err = readIDs(c.scope.Model(), a.ids); err != nil {
		return nil, err
	}
	c.record.IDs = make([]string, len(e.asked))
	for i, id := range e.asked {
		c.record.IDs[i] = plainText(id.raw)
	}
	e.parameters, err = parametersOf(e.declared).read(a.data)
	return e, err
}

// findAction returns the action that is named, where the token may run it.
func (c *call) findAction(name string) (*catalog.Action, error) {
	m := c.scope.Model()
	allowed := actionsOf(c.catalog, c.scope)
	for _, a := range allowed {
		if a.Name == name {
			return a, nil
		}
	}
	declared := slices.ContainsFunc(m.Actions, func(a *catalog.Action) bool { return a.Name == name })
	switch {
	case declared, name == deleteSelected.Name:
		return nil, failf(CodePermissionDenied, "Permission denied: cannot run %s on %s; you may run %s", name, m.Name, actionNames(allowed))
	}
	return nil, invalid("action: %s has no action %q; you may run %s", m.Name, name, actionNames(allowed))
}

func actionNames(actions []*catalog.Action) string {
	if len(actions) == 0 {
		return "none"
	}
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// plan finds out, within the transaction, what the action would do.
func (e *actionCall) plan(w *write) (*actionPlan, error) {
	switch {
	case e.declared.Update != nil:
		return e.planUpdate(w)
	case e.declared.SQL != nil:
		return e.planSQL(w)
	}
	return e.planSelectedDeletion(w)
}

// planSelectedDeletion is delete_selected's.
func (e *actionCall) planSelectedDeletion(w *write) (*actionPlan, error) {
	d, err := e.call.planDeletion(w.tx, e.call.scope, anyOf(e.asked))
	if err != nil {
		return nil, err
	}
	p := &actionPlan{rows: d.rows, along: d.along, deletion: d, run: func() (int, error) { return d.run(w.req, w.tx) }}
	if p.missing, err = e.missing(w.tx, d.rows); err != nil {
		return nil, err
	}
	return p, e.noneFound(p)
}

// noneFound is the error of a selection without any row left.
func (e *actionCall) noneFound(p *actionPlan) error {
	m := e.call.scope.Model()
	switch {
	case len(p.rows) > 0:
		return nil
	case len(p.skipped) == 0:
		return failf(CodeNotFound, "%s not found: none of the ids names a row that you may see", m.Name)
	}
	return failf(CodeNotFound, "%s not found: %s applies to none of the rows; its condition excludes %s", m.Name, e.declared.Name, idList(p.skipped))
}

// idList is some ids, for a message.
func idList(ids []json.RawMessage) string {
	const most = 20
	var texts []string
	for _, id := range ids[:min(len(ids), most)] {
		texts = append(texts, plainText(id))
	}
	if len(ids) > most {
		texts = append(texts, fmt.Sprintf("and %d more", len(ids)-most))
	}
	return strings.Join(texts, ", ")
}

// outcome says what was done.
func (e *actionCall) outcome(p *actionPlan, affected int, message string, result json.RawMessage) ([]byte, error) {
	return encodePlainly(actionOutcome{
		Success: true, Action: e.declared.Name, AffectedCount: affected, Message: message, Result: result,
		MissingIDs: notNil(p.missing), SkippedIDs: notNil(p.skipped), Call: e.call.recordedAs(),
	})
}

// notNil makes an empty list one that is written as [].
func notNil(ids []json.RawMessage) []json.RawMessage {
	if ids == nil {
		return []json.RawMessage{}
	}
	return ids
}

// counted is a number of the model's rows in words: "1 book".
func counted(m *catalog.Model, n int) string {
	return fmt.Sprintf("%d %s", n, verboseName(m, n))
}
