package planner

import (
	"maps"
	"slices"
	"strings"
)

// condition must hold of a row.
type condition interface{}

// leaf compares a path. The lookup "" is equality.
type leaf struct {
	path, lookup string
	value        any
}

// all, some and not are conditions of conditions.
type (
	all  []condition
	some []condition
	not  struct{ condition }
)

// related says that a related row meets the condition, or that none does.
type related struct {
	path string
	none bool
	condition
}

// object writes a condition as a condition object.
func object(c condition) Object {
	switch c := c.(type) {
	case leaf:
		return Object{c.key(): c.value}
	case not:
		return Object{"_not": object(c.condition)}
	case related:
		return relatedObject(c)
	case some:
		return someObject(c)
	case all:
		return allObject(flat(c))
	}
	return Object{}
}

func (l leaf) key() string {
	if l.lookup == "" {
		return l.path
	}
	return l.path + "__" + l.lookup
}

func flat(c all) all {
	var conditions all
	for _, one := range c {
		switch one := one.(type) {
		case nil:
		case all:
			conditions = append(conditions, flat(one)...)
		default:
			conditions = append(conditions, one)
		}
	}
	return conditions
}

// allObject puts conditions into one object, as far as their members have different names.
func allObject(conditions all) Object {
	merged, others := Object{}, []any{}
	for _, one := range conditions {
		o := object(one)
		if slices.ContainsFunc(slices.Collect(maps.Keys(o)), func(name string) bool { return merged[name] != nil }) {
			others = append(others, o)
			continue
		}
		maps.Copy(merged, o)
	}
	if len(others) > 0 {
		if more, ok := merged["_all"].([]any); ok {
			others = append(more, others...)
		}
		merged["_all"] = others
	}
	return merged
}

// someObject writes several values of one path as a list.
func someObject(c some) Object {
	var values, objects []any
	path := ""
	for i, one := range c {
		l, ok := one.(leaf)
		_, isField := l.value.(Object)
		if !ok || isField || l.value == nil || i > 0 && l.path != path || l.lookup != "" {
			values, path = nil, "\x00"
		}
		if path != "\x00" {
			path = l.path
			values = append(values, l.value)
		}
		objects = append(objects, object(one))
	}
	if len(values) == len(c) && len(c) > 1 {
		return Object{path + "__in": values}
	}
	return Object{"_any": objects}
}

// relatedObject writes a comparison of one column of a related row in short.
func relatedObject(r related) Object {
	if r.none {
		return Object{r.path + "__none": object(r.condition)}
	}
	inner := r.condition
	if several, ok := inner.(all); ok {
		if several = flat(several); len(several) == 1 {
			inner = several[0]
		}
	}
	if l, ok := inner.(leaf); ok && !strings.Contains(l.path, "__") && l.lookup != "isnull" && l.lookup != "ne" && l.value != nil {
		if _, isField := l.value.(Object); !isField {
			return object(leaf{r.path + "__" + l.path, l.lookup, l.value})
		}
	}
	return Object{r.path + "__any": object(r.condition)}
}

// rejects reports whether a condition surely does not hold if nothing is there that a prefix of paths leads to.
func rejects(c condition, prefix string) bool {
	switch c := c.(type) {
	case leaf:
		return strings.HasPrefix(c.path, prefix) && c.lookup != "ne" && c.value != nil && (c.lookup != "isnull" || c.value == false)
	case related:
		return strings.HasPrefix(c.path, prefix) && !c.none
	case all:
		return slices.ContainsFunc(c, func(one condition) bool { return rejects(one, prefix) })
	case some:
		return !slices.ContainsFunc(c, func(one condition) bool { return !rejects(one, prefix) })
	}
	return false
}
