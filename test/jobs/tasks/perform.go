package main

import (
	"errors"
	"fmt"
	"maps"

	"github.com/google/cel-go/cel"
)

// errRefused says that a condition of an action does not hold.
var errRefused = errors.New("refused")

// performance is one action that is carried out.
type performance struct {
	*client
	names values
}

// perform carries an action out; false if it was refused: something that it requires does not hold, is not there, or is otherwise
// by now.
func (all actions) perform(c *client, a *action) (bool, error) {
	given, err := readJSON(a.Arguments)
	if err != nil {
		return false, fmt.Errorf("%s: %w", a.Name, err)
	}
	p := &performance{c, values{givenName: given}}
	for i, part := range all[a.Name] {
		err := part.do(p)
		var answered *refusal
		switch {
		case errors.Is(err, errRefused), errors.As(err, &answered) && (answered.Code == "not_found" || answered.Code == "conflict"):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("%s: part %d: %w", a.Name, i+1, err)
		}
	}
	return true, nil
}

// call calls a tool that reads, and names its answer. If the condition does not hold it does nothing, and the answer is null.
type call struct {
	condition cel.Program
	tool      string
	arguments *template
	as        string
}

func (c *call) do(p *performance) error {
	if c.condition != nil {
		p.names[c.as] = nil
		if holds, err := evaluate(c.condition, p.names); err != nil || holds != true {
			return err
		}
	}
	arguments, err := c.arguments.object(p.names)
	if err != nil {
		return err
	}
	answer, err := p.call(c.tool, arguments)
	if err != nil {
		return err
	}
	rows, _ := answer.(object)
	if _, limited := arguments["limit"]; !limited && rows["next_cursor"] != nil {
		return fmt.Errorf("%s answered a part of the rows only; ask with a limit", c.tool)
	}
	if c.as != "" {
		p.names[c.as] = answer
	}
	return nil
}

// value names what an expression gives.
type value struct {
	expression cel.Program
	as         string
}

func (v *value) do(p *performance) (err error) {
	p.names[v.as], err = evaluate(v.expression, p.names)
	return err
}

// requirement refuses the action if it does not hold.
type requirement struct {
	expression cel.Program
	text       string
}

func (r *requirement) do(p *performance) error {
	switch holds, err := evaluate(r.expression, p.names); {
	case err != nil:
		return err
	case holds == false:
		return errRefused
	case holds != true:
		return fmt.Errorf("%s is %v, neither true nor false", r.text, holds)
	}
	return nil
}

// transaction makes the changes of an action.
type transaction []stepMaker

func (t transaction) do(p *performance) error {
	steps, err := makeSteps(t, p.names)
	if err != nil {
		return err
	}
	return p.transact(steps)
}

// stepMaker makes steps of a transaction.
type stepMaker interface {
	steps(values) ([]step, error)
}

func makeSteps(all []stepMaker, names values) ([]step, error) {
	var made []step
	for i, one := range all {
		some, err := one.steps(names)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		made = append(made, some...)
	}
	return made, nil
}

type single struct {
	tool              string
	arguments, expect *template
}

func (s *single) steps(names values) ([]step, error) {
	arguments, err := s.arguments.object(names)
	if err != nil {
		return nil, err
	}
	expect, err := s.expect.object(names)
	return []step{{s.tool, arguments, expect}}, err
}

// repeated makes the same steps for each item of a list.
type repeated struct {
	list cel.Program
	as   string
	each []stepMaker
}

func (r *repeated) steps(names values) ([]step, error) {
	list, err := evaluate(r.list, names)
	if err != nil {
		return nil, err
	}
	items, ok := list.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list", list)
	}
	var made []step
	within := maps.Clone(names)
	for _, item := range items {
		within[r.as] = item
		some, err := makeSteps(r.each, within)
		if err != nil {
			return nil, err
		}
		made = append(made, some...)
	}
	return made, nil
}
