package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// maxSteps is the most steps of one call, maxExpected the most values that a step may expect.
const (
	maxSteps    = 100
	maxExpected = 50
)

// step is one step as it was sent.
type step struct {
	tool  string
	op    *operation
	model string
	// arguments are the arguments of the tool.
	arguments json.RawMessage
	// expect are values that must stand at places of the answer, by their paths; without them there is no expectation.
	expect map[string]json.RawMessage
}

// stepsSchema says of the arguments of a step only that they belong to its tool.
var stepsSchema = schema{Type: types{"array"}, Description: "at most 100, in order",
	Items: &schema{Type: types{"object"}, Required: []string{"tool"}, Properties: properties{
		"tool":      {Type: types{"string"}, Description: "a tool that lists, gets, relates, aggregates, creates, updates, deletes, or runs bulk or an action"},
		"arguments": {Type: types{"object"}, Description: `the tool's own; {"_step": 0, "path": "object.id"} stands for that value of an earlier step's answer, the first being 0 (of a list, "results.0.id"); no other form does`},
		"expect":    {Type: types{"object"}, Description: `undo all if the answer is otherwise: {"count": 1} rows, or {"object.status": "paid"}`},
	}}}

// readSteps reads the steps, and judges each of them as far as that can be done before any is run. One of them at least must
// be a write: a transaction keeps others waiting, which is not for those who only read.
func (c *call) readSteps() error {
	raw := c.given[c.op.steps]
	if raw == nil {
		return nil // readArguments says that it is missing
	}
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) != nil || len(list) == 0:
		return invalid("steps must be an array of at least one step: {tool, arguments}")
	case len(list) > maxSteps:
		return invalid("steps: %d are too many; one call takes at most %d, and one bulk step writes many rows", len(list), maxSteps)
	}
	c.steps = make([]step, len(list))
	for i, raw := range list {
		s := &c.steps[i]
		err := s.read(raw)
		if err == nil {
			err = c.admit(s)
		}
		if err != nil {
			return &stepError{i, s.tool, err}
		}
	}
	if !slices.ContainsFunc(c.steps, func(s step) bool { return s.op.Writes() }) {
		return invalid("none of the steps changes anything; %s is for steps that do: make calls that only read by themselves", transactName)
	}
	return nil
}

// read reads one step.
func (s *step) read(raw json.RawMessage) error {
	var members arguments
	if raw[0] != '{' || members.parse(raw) != nil {
		return invalid("a step must be an object of tool, arguments and expect, not %s", lookup.Excerpt(raw))
	}
	if err := members.only("a step", "tool", "arguments", "expect"); err != nil {
		return err
	}
	if json.Unmarshal(members["tool"], &s.tool) != nil || s.tool == "" {
		return invalid("tool is required in each step, and names a tool")
	}
	s.arguments = members["arguments"]
	if raw := members["expect"]; raw != nil && (json.Unmarshal(raw, &s.expect) != nil || len(s.expect) > maxExpected) {
		return invalid(`expect must be an object of at most %d values by their places in the answer, such as {"count": 1} or {"object.status": "paid"}, not %s`, maxExpected, lookup.Excerpt(raw))
	}
	if s.op, s.model = parseName(s.tool); s.op == nil {
		return unknownTool(s.tool)
	}
	if s.op.admit == nil {
		return invalid("%s cannot be a step; the tools of steps are %s", s.tool, strings.Join(stepTools(), ", "))
	}
	return nil
}

// stepTools are the operations that can be steps.
func stepTools() []string {
	var names []string
	for _, op := range operations {
		if op.admit != nil {
			names = append(names, op.Name)
		}
	}
	return names
}

// ofTheWhole are the arguments that only the call as a whole has.
var ofTheWhole = []string{"dry_run", "confirmation_token", keyName}

// admit judges a step before any is run: its model, the token's right, and what no step may be.
func (c *call) admit(s *step) error {
	p := c.part(nil, s.op, s.model)
	if err := p.judge(s.arguments); err != nil {
		return err
	}
	if err := refuseForeignForms(s.arguments); err != nil {
		return err
	}
	for name := range p.given {
		switch {
		case slices.Contains(ofTheWhole, name):
			return invalid("%s is no argument of a step; give it to %s, beside steps", name, transactName)
		case name == stepMember, name == literalMember: // what it names could hold any argument
			return invalid("arguments cannot be a reference; give each argument by its name, with references as values")
		}
	}
	return s.op.admit(p)
}

// admitted is admit for an operation of which every call can be a step.
func admitted(*call) error { return nil }

// admitBulk refuses a bulk that would keep a part: a step succeeds or fails.
func admitBulk(p *call) error {
	if string(p.given["atomic"]) == "false" {
		return invalid("a bulk in a step is atomic; leave atomic out")
	}
	return nil
}

// admitAction refuses what cannot be undone with the transaction.
func admitAction(p *call) error {
	var name string
	if raw := p.given["action"]; raw == nil || json.Unmarshal(raw, &name) != nil {
		return invalid("action must be an action's name; you may run %s", actionNames(actionsOf(p.catalog, p.scope)))
	}
	declared, err := p.findAction(name)
	if err == nil && declared.Webhook != nil {
		return invalid("%s cannot be a step: it calls a webhook, which no transaction can undo; call it by itself, before or after", name)
	}
	return err
}
