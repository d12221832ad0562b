package read

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxComputed is how many computed values a call may ask for (docs/design/asking.md, "Bounds"): each is a statement of its own in
// every row.
const maxComputed = 20

// maxBehind is how many words may follow a value of related rows in a path.
const maxBehind = 2

// computedValue is a value that the call computes for each row that a place leads to.
type computedValue struct {
	field *catalog.Field
	// path is the path that leads to it from the row of a join; "" if the call wrote it in another way.
	path string
	join *database.Join
	// of is the model whose rows it is computed of; without a model, it is of the row itself.
	of access.Scope
}

// compute keeps a value that the call computes.
func (s *RowSet) compute(v computedValue) (*catalog.Field, error) {
	if len(s.computed) == maxComputed {
		return nil, call.Invalid("one call may ask for at most %d computed values; ask for the others in another call", maxComputed)
	}
	s.computed = append(s.computed, v)
	return v.field, nil
}

func computedField(c *database.Column) *catalog.Field { return &catalog.Field{Name: c.Name, Column: c} }

// related finds the value of related rows with which a path goes on behind a relation to many, such as sum__total. It is nil if the
// path names none there.
func (s *RowSet) related(argument string, at place, path string, r *catalog.Relation, target access.Scope, behind string) (*catalog.Field, error) {
	rows := place{scope: target}
	function, rest, _ := strings.Cut(behind, "__")
	if _, ok := measureFuncs[function]; !ok || rows.has(function) || rows.has(behind) {
		return nil, nil
	}
	if !ofRelated(function) {
		return nil, onlyOfGroups(argument, path, function, target)
	}
	base := strings.TrimSuffix(path, behind) + function
	if function == "count" {
		return s.relatedValue(relatedPath{argument: argument, name: base, at: at, relation: r, target: target, function: function, isPath: true})
	}
	// A part of a date or a lookup may follow the field.
	for end, tries := len(rest), 0; end > 0 && tries <= maxBehind; end, tries = strings.LastIndex(rest[:end], "__"), tries+1 {
		found, err := s.relatedValue(relatedPath{argument: argument, name: base + "__" + rest[:end], at: at, relation: r, target: target, function: function, path: rest[:end], isPath: true})
		if _, none := errors.AsType[errNoPath](err); !none {
			return found, err
		}
	}
	return nil, call.Invalid("%s: %s: %s needs a field of %s: %s__field; the fields are %s", argument, path, function, target.Model().Name, base, strings.Join(comparedFields(target), ", "))
}

// onlyOfGroups says where a function is offered that values of related rows do not have.
func onlyOfGroups(argument, path, function string, target access.Scope) error {
	return call.Invalid("%s: %s: %s is a measure of aggregate only; ask aggregate of %s, and group its rows there", argument, path, function, target.Model().Name)
}

// relatedPath is a path to related rows, and the value that is read of them.
type relatedPath struct {
	argument, name string
	at             place
	relation       *catalog.Relation
	target         access.Scope
	function, path string
	// filters say which of the rows; nil is all that the token sees.
	filters json.RawMessage
	// isPath is set if the name is a path.
	isPath bool
}

// relatedValue makes the value. If the path names nothing, the error is an errNoPath.
func (s *RowSet) relatedValue(p relatedPath) (*catalog.Field, error) {
	for _, known := range s.computed {
		if p.isPath && known.path == p.name && known.join == p.at.join {
			return known.field, nil
		}
	}
	if err := p.at.checkDepth(p.argument, p.name); err != nil {
		return nil, err
	}
	m := p.target.Model()
	if p.function != "count" && !call.FindOperation("aggregate").OfferedFor(m.Catalog(), m) {
		return nil, call.Invalid("%s: %s: aggregate is not offered for %s, so only a count of its rows can be asked for", p.argument, p.name, m.Name)
	}
	rows := &RowSet{Scope: p.target, outer: s, calendar: s.calendar, conditionsRead: s.conditionsRead, depth: p.at.relations + 1}
	value := database.RelatedValue{
		Rows:    database.Exists{From: p.target.Source(), Ours: p.relation.Ours, Theirs: p.relation.Theirs},
		Measure: database.Measure{Func: measureFuncs[p.function]}, Of: p.at.join, MinRows: m.Declared.MinGroupSize,
	}
	if p.path == "" {
		value.Measure.Func = database.CountRows
	} else {
		if err := rows.measured(p.argument, p.function, p.path, &value.Measure); err != nil {
			return nil, err
		}
	}
	where, err := rows.conditions(p.argument+": filters", p.filters)
	if err != nil {
		return nil, err
	}
	s.conditionsRead = rows.conditionsRead
	if len(where) > 0 {
		value.Rows.Where = where
	}
	value.Rows.Joins = rows.joins
	kept := computedValue{field: computedField(value.Column(p.name)), join: p.at.join, of: p.target}
	if p.isPath {
		kept.path = p.name
	}
	return s.compute(kept)
}

// relatedOf reads a value of related rows that is written as an object, such as {"count": "orders", "filters": {…}}.
func (s *RowSet) relatedOf(argument, name, function, path string, filters json.RawMessage) (*catalog.Field, error) {
	at := s.base()
	for rest := path; ; {
		r, target, behind, ok := at.step(rest)
		if !ok && rest != "" { // the relation itself is the end of the path
			if r, target, ok = at.follow(rest); ok {
				behind = ""
			}
		}
		switch {
		case !ok:
			return nil, noManyRelation(argument, function, path, at)
		case r.Many && !ofRelated(function):
			return nil, onlyOfGroups(argument, path, function, target)
		case r.Many && function == "count" && leadsOn(target, behind):
			return nil, call.Invalid(`%s: %s: for the rows behind both relations, send {"sum": "%s__count"}`, argument, path, path)
		case r.Many && (behind == "") != (function == "count"):
			return nil, call.Invalid(`%s: %s: send {"count": "%s"} for the number of rows, or {"sum": "%s__field"} (also avg, min, max, count_distinct) with a field of %s`, argument, path, r.Name, r.Name, target.Model().Name)
		case r.Many:
			value, err := s.relatedValue(relatedPath{argument: argument, name: name, at: at, relation: r, target: target, function: function, path: behind, filters: filters})
			if none, ok := errors.AsType[errNoPath](err); ok {
				return nil, none.unknown(argument, path, "", comparedFields(none.at.scope))
			}
			return value, err
		}
		if err := at.checkDepth(argument, path); err != nil {
			return nil, err
		}
		var err error
		if at, err = s.follow(at, r, target); err != nil {
			return nil, err
		}
		rest = behind
	}
}

// leadsOn reports whether a path is one more relation to many rows.
func leadsOn(scope access.Scope, path string) bool {
	r, _, ok := scope.Follow(path)
	return ok && r.Many
}

// follow is step for a path that is one relation.
func (p place) follow(path string) (*catalog.Relation, access.Scope, bool) {
	if !p.hasRows() {
		return nil, access.Scope{}, false
	}
	return p.scope.Follow(path)
}

func noManyRelation(argument, function, path string, at place) error {
	names := relationsTo(at.scope, true)
	if len(names) == 0 {
		return call.Invalid("%s: %s: %s has no relation to many rows that you may follow", argument, path, at.scope.Model().Name)
	}
	return call.Invalid("%s: %s: a %s here is of related rows; relations of %s to many rows are %s", argument, path, function, at.scope.Model().Name, strings.Join(names, ", "))
}
