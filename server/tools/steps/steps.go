package steps

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// stepsSchema says of the arguments of a step only that they belong to its tool.
var stepsSchema = call.Schema{Type: call.Types{"array"}, Description: "at most 100, in order",
	Items: &call.Schema{Type: call.Types{"object"}, Required: []string{"tool"}, Properties: call.Properties{
		"tool":      {Type: call.Types{"string"}, Description: "a tool that lists, gets, relates, aggregates, creates, updates, deletes, or runs bulk or an action"},
		"arguments": {Type: call.Types{"object"}, Description: `the tool's own; {"_step": 0, "path": "object.id"} stands for that value of an earlier step's answer, the first being 0 (of a list, "results.0.id"); no other form does`},
		"expect":    {Type: call.Types{"object"}, Description: `undo all if the answer is otherwise: {"count": 1} rows, or {"object.status": "paid"}`},
	}}}

// readSteps reads the steps, and judges each of them as far as that can be done before any is run. One of them at least must
// be a write: a transaction keeps others waiting, which is not for those who only read.
func readSteps(c *call.Call) error {
	raw := c.Given.Value(c.Op.Steps)
	if raw == nil {
		return nil // readArguments says that it is missing
	}
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) != nil || len(list) == 0:
		return call.Invalid("steps must be an array of at least one step: {tool, arguments}")
	case len(list) > call.MaxSteps:
		return call.Invalid("steps: %d are too many; one call takes at most %d, and one bulk step writes many rows", len(list), call.MaxSteps)
	}
	c.Steps = make([]call.Step, len(list))
	for i, raw := range list {
		s := &c.Steps[i]
		err := readStep(s, raw)
		if err == nil {
			err = admit(c, s)
		}
		if err != nil {
			return &stepError{i, s.Tool, err}
		}
	}
	if !slices.ContainsFunc(c.Steps, func(s call.Step) bool { return s.Op.Writes() }) {
		return call.Invalid("none of the steps changes anything; %s is for steps that do: make calls that only read by themselves", TransactName)
	}
	return nil
}

// readStep reads one step.
func readStep(s *call.Step, raw json.RawMessage) error {
	var members call.Arguments
	if raw[0] != '{' || members.Parse(raw) != nil {
		return call.Invalid("a step must be an object of tool, arguments and expect, not %s", lookup.Excerpt(raw))
	}
	if err := members.Only("a step", "tool", "arguments", "expect"); err != nil {
		return err
	}
	if json.Unmarshal(members.Value("tool"), &s.Tool) != nil || s.Tool == "" {
		return call.Invalid("tool is required in each step, and names a tool")
	}
	s.Arguments = members.Value("arguments")
	if raw := members.Value("expect"); raw != nil && (json.Unmarshal(raw, &s.Expect) != nil || len(s.Expect) > call.MaxExpected) {
		return call.Invalid(`expect must be an object of at most %d values by their places in the answer, such as {"count": 1} or {"object.status": "paid"}, not %s`, call.MaxExpected, lookup.Excerpt(raw))
	}
	if s.Op, s.Model = call.ParseName(s.Tool); s.Op == nil {
		return call.UnknownTool(s.Tool)
	}
	if s.Op.Admit == nil {
		return call.Invalid("%s cannot be a step; the tools of steps are %s", s.Tool, strings.Join(stepTools(), ", "))
	}
	return nil
}

// stepTools are the operations that can be steps.
func stepTools() []string {
	var names []string
	for _, op := range call.Operations {
		if op.Admit != nil {
			names = append(names, op.Name)
		}
	}
	return names
}

// ofTheWhole are the arguments that only the call as a whole has.
var ofTheWhole = []string{"dry_run", "confirmation_token", call.KeyName}

// admit judges a step before any is run: its model, the token's right, and what no step may be.
func admit(c *call.Call, s *call.Step) error {
	p := c.Part(nil, s.Op, s.Model)
	if err := p.Judge(s.Arguments); err != nil {
		return err
	}
	if err := refuseForeignForms(s.Arguments); err != nil {
		return err
	}
	for _, name := range p.Given.Names() {
		switch {
		case slices.Contains(ofTheWhole, name):
			return call.Invalid("%s is no argument of a step; give it to %s, beside steps", name, TransactName)
		case name == stepMember, name == literalMember: // what it names could hold any argument
			return call.Invalid("arguments cannot be a reference; give each argument by its name, with references as values")
		}
	}
	return s.Op.Admit(p)
}
