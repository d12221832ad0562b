package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// The operation names no action in its schema: which ones there are depends on the token.
var _ = call.WithArguments("action", call.Operation{
	May: mayAct, Label: "run actions on", Many: true, Counted: "ids", Admit: admitAction,
	Note: "(one that asks changes nothing before confirm: true)",
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Run an action on %s.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema {
		return call.OneOf(call.PayloadSchema[actionOutcome](), call.PayloadSchema[ConfirmationRequest]())
	},
	Advice: "one that needs confirmation answers requires_confirmation first, and runs when it is called again with confirm: true and the confirmation_token",
}, runAction,
	call.Argument[actionArguments]{Name: "action", Into: func(a *actionArguments) any { return &a.action }, Required: call.Always,
		Hint:   func(c *call.Call) string { return "you may run " + actionNames(call.ActionsOf(c.Catalog, c.Scope)) },
		Common: true, Help: "its name, as actions has it"},
	call.Argument[actionArguments]{Name: "ids", Into: func(a *actionArguments) any { return &a.ids }, Required: call.Always,
		Schema: func(m *catalog.Model) call.Schema {
			id := call.IDSchema(m)
			id.Description = ""
			return call.Schema{Type: call.Types{"array"}, Items: &id}
		}},
	call.Argument[actionArguments]{Name: "confirm", Into: func(a *actionArguments) any { return &a.confirm }, Common: true,
		Help: "needed by one that asks for confirmation: without it, a page is answered"},
	call.Argument[actionArguments]{Name: "confirmation_data", Into: func(a *actionArguments) any { return &a.data },
		Common: true, Help: "the action's parameters, by name"},
	call.Argument[actionArguments]{Name: "confirmation_token", Into: func(a *actionArguments) any { return &a.token },
		Common: true, Help: "that of the page; needed if other rows go or change, too"},
	call.KeyArgument[actionArguments](),
)

type actionArguments struct {
	action, token string
	ids, data     json.RawMessage
	confirm       bool
}

// mayAct reports whether the token may run any action on the model.
func mayAct(s access.Scope) bool {
	return s.Has(access.View) && (call.MayDeleteSelected(s) || len(s.Actions()) > 0)
}

// actionCall is one call of an action.
type actionCall struct {
	call       *call.Call
	declared   *catalog.Action
	asked      []askedID
	parameters parameters
	confirmed  bool
	// given are the fields that the action sets to values that do not depend on when it runs.
	given []*catalog.Field
	// sets are all fields that an update sets; nil if the action is none.
	sets []*catalog.Field
	// shown is the confirmation_token that the caller shows; "" is none.
	shown string
}

// actionPlan holds what an action would do, evaluated in the transaction in which it may do it.
type actionPlan struct {
	// rows are the rows that it is about; missing ones are not there or not visible, skipped ones are refused by its where.
	rows             []*call.Row
	missing, skipped []json.RawMessage
	// along are the rows that a deletion takes along, or that the database changes along with an update.
	along []write.Consequence
	// run does it, and returns how many rows were affected.
	run func() (int, error)
	// deletion belongs to delete_selected; nil for others.
	deletion *write.Deletion
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

// runAction runs an action on the rows that have the ids, or asks first.
func runAction(c *call.Call, a *actionArguments) ([]byte, error) {
	e, err := readActionCall(c, a)
	if err != nil {
		return nil, err
	}
	if e.declared.Webhook != nil {
		return e.runWebhook()
	}
	var answer []byte
	var asked *ConfirmationRequest
	var affected int
	err = write.Transact(c, func(w *write.Writer) error {
		p, err := e.plan(w)
		if err != nil {
			return err
		}
		if asked, err = e.ask(p); err != nil {
			return err
		}
		if asked != nil {
			return ErrAsked
		}
		if affected, err = p.run(); err != nil {
			return err
		}
		answer, err = e.outcome(p, affected, e.done(p), nil)
		return err
	})
	switch {
	case asked != nil:
		c.Asked = true
		return EncodePlainly(asked)
	case err != nil:
		return nil, err
	}
	c.Record.Changed = affected
	return answer, nil
}

// done says in words what was done.
func (e *actionCall) done(p *actionPlan) string {
	if p.deletion != nil {
		return p.deletion.Done()
	}
	return fmt.Sprintf("%s was run on %s", e.declared.Name, write.Counted(e.call.Scope.Model(), len(p.rows)))
}

// readActionCall reads action_'s arguments.
func readActionCall(c *call.Call, a *actionArguments) (*actionCall, error) {
	e := &actionCall{call: c, confirmed: a.confirm, shown: a.token}
	var err error
	if e.declared, err = FindAction(c, a.action); err != nil {
		return nil, err
	}
	if c.Elicited != nil && e.declared.Confirm != nil { // the person says it, and not the agent
		e.confirmed, e.shown = c.Confirmation != "", c.Confirmation
	}
	c.Record.Operation = call.ActionPrefix + e.declared.Name
	if e.asked, err = readIDs(c.Scope.Model(), a.ids); err != nil {
		return nil, err
	}
	c.Record.IDs = make([]string, len(e.asked))
	for i, id := range e.asked {
		c.Record.IDs[i] = call.PlainText(id.raw)
	}
	e.parameters, err = parametersOf(e.declared).read(a.data)
	return e, err
}

// FindAction returns the action that is named, where the token may run it.
func FindAction(c *call.Call, name string) (*catalog.Action, error) {
	m := c.Scope.Model()
	allowed := call.ActionsOf(c.Catalog, c.Scope)
	for _, a := range allowed {
		if a.Name == name {
			return a, nil
		}
	}
	declared := slices.ContainsFunc(m.Actions, func(a *catalog.Action) bool { return a.Name == name })
	switch {
	case declared, name == call.DeleteSelected.Name:
		return nil, call.Failf(call.CodePermissionDenied, "Permission denied: cannot run %s on %s; you may run %s", name, m.Name, actionNames(allowed))
	}
	return nil, call.Invalid("action: %s has no action %q; you may run %s", m.Name, name, actionNames(allowed))
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
func (e *actionCall) plan(w *write.Writer) (*actionPlan, error) {
	switch {
	case e.declared.Update != nil:
		return e.planUpdate(w)
	case e.declared.SQL != nil:
		return e.planSQL(w)
	}
	return e.planSelectedDeletion(w)
}

// planSelectedDeletion is delete_selected's.
func (e *actionCall) planSelectedDeletion(w *write.Writer) (*actionPlan, error) {
	d, err := write.PlanDeletion(&e.call.Request, w.Tx, e.call.Scope, anyOf(e.asked))
	if err != nil {
		return nil, err
	}
	p := &actionPlan{rows: d.Rows, along: d.Along, deletion: d, run: func() (int, error) { return d.Run(w.Req, w.Tx) }}
	if p.missing, err = e.missing(w.Tx, d.Rows); err != nil {
		return nil, err
	}
	return p, e.noneFound(p)
}

// noneFound is the error of a selection without any row left.
func (e *actionCall) noneFound(p *actionPlan) error {
	m := e.call.Scope.Model()
	switch {
	case len(p.rows) > 0:
		return nil
	case len(p.skipped) == 0:
		return call.Failf(call.CodeNotFound, "%s not found: none of the ids names a row that you may see", m.Name)
	}
	return call.Failf(call.CodeNotFound, "%s not found: %s applies to none of the rows; its condition excludes %s", m.Name, e.declared.Name, idList(p.skipped))
}

// idList is some ids, for a message.
func idList(ids []json.RawMessage) string {
	const most = 20
	var texts []string
	for _, id := range ids[:min(len(ids), most)] {
		texts = append(texts, call.PlainText(id))
	}
	if len(ids) > most {
		texts = append(texts, fmt.Sprintf("and %d more", len(ids)-most))
	}
	return strings.Join(texts, ", ")
}

// outcome says what was done.
func (e *actionCall) outcome(p *actionPlan, affected int, message string, result json.RawMessage) ([]byte, error) {
	return EncodePlainly(actionOutcome{
		Success: true, Action: e.declared.Name, AffectedCount: affected, Message: message, Result: result,
		MissingIDs: notNil(p.missing), SkippedIDs: notNil(p.skipped), Call: e.call.RecordedAs(),
	})
}

// notNil makes an empty list one that is written as [].
func notNil(ids []json.RawMessage) []json.RawMessage {
	if ids == nil {
		return []json.RawMessage{}
	}
	return ids
}

// admitAction refuses what cannot be undone with the transaction.
func admitAction(p *call.Call) error {
	var name string
	if raw := p.Given.Value("action"); raw == nil || json.Unmarshal(raw, &name) != nil {
		return call.Invalid("action must be an action's name; you may run %s", actionNames(call.ActionsOf(p.Catalog, p.Scope)))
	}
	declared, err := FindAction(p, name)
	if err == nil && declared.Webhook != nil {
		return call.Invalid("%s cannot be a step: it calls a webhook, which no transaction can undo; call it by itself, before or after", name)
	}
	return err
}
