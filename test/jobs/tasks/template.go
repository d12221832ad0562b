package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
)

// template is arguments, or a value within them: what the file says, or what an expression gives. A text that begins with = is
// an expression.
type template struct {
	expression cel.Program
	members    map[string]*template
	items      []*template
	literal    any
}

func compileTemplate(env *cel.Env, value any) (*template, error) {
	var err error
	switch v := value.(type) {
	case string:
		expression, is := strings.CutPrefix(v, "=")
		if !is {
			break
		}
		t := &template{}
		if t.expression, err = compile(env, expression); err != nil {
			return nil, err
		}
		return t, nil
	case object:
		t := &template{members: map[string]*template{}}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if t.members[name], err = compileTemplate(env, v[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return t, nil
	case []any:
		t := &template{items: make([]*template, len(v))}
		for i := range v {
			if t.items[i], err = compileTemplate(env, v[i]); err != nil {
				return nil, err
			}
		}
		return t, nil
	}
	return &template{literal: value}, nil
}

// fill gives the value with the names' values.
func (t *template) fill(names values) (any, error) {
	var err error
	switch {
	case t.expression != nil:
		return evaluate(t.expression, names)
	case t.members != nil:
		return t.object(names)
	case t.items != nil:
		all := make([]any, len(t.items))
		for i, item := range t.items {
			if all[i], err = item.fill(names); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return t.literal, nil
}

// object is fill for a template that is an object.
func (t *template) object(names values) (object, error) {
	all := object{}
	for name, member := range t.members {
		filled, err := member.fill(names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = filled
	}
	return all, nil
}
