package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"sigs.k8s.io/yaml"
)

// actions gives the meaning of a folder's actions, by their names. README.md has the form of the file that they are
// read from.
type actions map[string][]instruction

// instruction is a part of an action, which are carried out in their order.
type instruction interface{ do(*performance) error }

// written is an instruction as a file has it: one of call, value, require and transact.
type written struct {
	If        string        `json:"if"`
	Call      string        `json:"call"`
	Arguments object        `json:"arguments"`
	Value     string        `json:"value"`
	As        string        `json:"as"`
	Require   string        `json:"require"`
	Transact  []writtenStep `json:"transact"`
}

// writtenStep is a step of a transaction as a file has it, or steps for each item of a list.
type writtenStep struct {
	Tool      string        `json:"tool"`
	Arguments object        `json:"arguments"`
	Expect    object        `json:"expect"`
	Each      string        `json:"each"`
	As        string        `json:"as"`
	Steps     []writtenStep `json:"steps"`
}

// reads are the tools that change nothing, and so may be called outside of a transaction.
var reads = []string{"list_", "get_", "aggregate_", "related_", "autocomplete_"}

// readActions reads and compiles the actions of a file.
func readActions(path string) (actions, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, err := compileActions(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

func compileActions(text []byte) (actions, error) {
	var file struct {
		Actions map[string][]written `json:"actions"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, err
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	all := actions{}
	for _, name := range slices.Sorted(maps.Keys(file.Actions)) {
		if all[name], err = compileAction(env, file.Actions[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

func compileAction(env *cel.Env, parts []written) ([]instruction, error) {
	var all []instruction
	for i, w := range parts {
		if i > 0 && parts[i-1].Transact != nil {
			return nil, errors.New("transact must come last")
		}
		one, err := w.compile(env)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		all = append(all, one)
		if w.As != "" {
			if env, err = env.Extend(cel.Variable(w.As, cel.DynType)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// compile makes an instruction of a part. What it uses must have been named before it.
func (w written) compile(env *cel.Env) (instruction, error) {
	if n := count(w.Call != "", w.Value != "", w.Require != "", w.Transact != nil); n != 1 {
		return nil, fmt.Errorf("it has %d of call, value, require and transact; it must have one", n)
	}
	if w.Call == "" && (w.If != "" || w.Arguments != nil) {
		return nil, errors.New("if and arguments belong to a call")
	}
	if named := w.As != ""; named != (w.Value != "") && w.Call == "" {
		return nil, errors.New("a value needs as, and require and transact cannot have it")
	}
	switch {
	case w.Call != "":
		return w.compileCall(env)
	case w.Value != "":
		program, err := compile(env, w.Value)
		return &value{program, w.As}, err
	case w.Require != "":
		program, err := compile(env, w.Require)
		return &requirement{program, w.Require}, err
	}
	steps, err := compileSteps(env, w.Transact)
	return transaction(steps), err
}

func (w written) compileCall(env *cel.Env) (instruction, error) {
	if !slices.ContainsFunc(reads, func(prefix string) bool { return strings.HasPrefix(w.Call, prefix) }) {
		return nil, fmt.Errorf("%s is no tool that reads; what changes rows is a step of transact", w.Call)
	}
	arguments, err := compileTemplate(env, w.Arguments)
	if err != nil {
		return nil, err
	}
	c := &call{tool: w.Call, arguments: arguments, as: w.As}
	if w.If != "" {
		c.condition, err = compile(env, w.If)
	}
	return c, err
}

func compileSteps(env *cel.Env, steps []writtenStep) ([]stepMaker, error) {
	var all []stepMaker
	for i, w := range steps {
		one, err := w.compile(env)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (w writtenStep) compile(env *cel.Env) (stepMaker, error) {
	if (w.Tool == "") == (w.Each == "") || (w.Each == "") != (w.As == "" && w.Steps == nil) || w.Each != "" && (w.Arguments != nil || w.Expect != nil) {
		return nil, errors.New("it must have tool, with arguments and expect; or each, as and steps")
	}
	if w.Each == "" {
		arguments, err := compileTemplate(env, w.Arguments)
		if err != nil {
			return nil, err
		}
		expect, err := compileTemplate(env, w.Expect)
		return &single{w.Tool, arguments, expect}, err
	}
	list, err := compile(env, w.Each)
	if err != nil {
		return nil, err
	}
	if env, err = env.Extend(cel.Variable(w.As, cel.DynType)); err != nil {
		return nil, err
	}
	steps, err := compileSteps(env, w.Steps)
	return &repeated{list, w.As, steps}, err
}

func count(all ...bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}
