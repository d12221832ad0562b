package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of condition objects (docs/design/asking.md, "Bounds").
const (
	maxConditions = 64
	maxLevels     = 5
)

// The words of a condition object that join others, and those that ask of the rows of a relation.
const (
	wordAny = "_any"
	wordAll = "_all"
	wordNot = "_not"

	someRow  = "any"
	noRow    = "none"
	rowCount = "count" // see related_values.go
)

var quantifiers = []string{someRow, noRow, rowCount}

// conditionReader reads one argument that is a condition object (docs/design/asking.md, "Conditions").
type conditionReader struct {
	// argument is where the object that is being read stands, key the condition in it; both are for messages.
	argument, key string
	// read counts the conditions of the call, level how deep the object stands.
	read, level int
	// declared is set if the conditions are a segment's.
	declared bool
	calendar lookup.Calendar
}

// conditions reads a condition object about the rows of the set; nil is none.
func (s *RowSet) conditions(argument string, raw json.RawMessage) (database.And, error) {
	if raw == nil {
		return nil, nil
	}
	r := &conditionReader{argument: argument, read: s.conditionsRead, calendar: s.calendar}
	all, err := r.object(s, raw)
	s.conditionsRead = r.read
	return all, err
}

// invalid is an error about the condition that is being read.
func (r *conditionReader) invalid(format string, args ...any) error {
	return call.Invalid("%s: %s: %s", r.argument, r.key, fmt.Sprintf(format, args...))
}

// object reads a condition object: all that it holds must be true.
func (r *conditionReader) object(s *RowSet, raw json.RawMessage) (database.And, error) {
	given, ok := jsontext.ReadObject(raw)
	if !ok || given == nil {
		return nil, call.Invalid("%s must be an object of field name to value, not %s", r.argument, lookup.Excerpt(raw))
	}
	if r.level++; r.level > maxLevels {
		return nil, call.Invalid("%s: conditions may stand at most %d levels deep; put some of them side by side", r.argument, maxLevels)
	}
	defer func() { r.level-- }()
	if len(given) == 0 {
		return database.And{}, r.count()
	}
	all := make(database.And, 0, len(given))
	for _, m := range given { // in the order of their names, so that equal calls give equal SQL
		r.key = m.Name
		condition, err := r.member(s, m.Name, m.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, condition)
	}
	return all, nil
}

// count counts a condition.
func (r *conditionReader) count() error {
	if r.read++; r.read > maxConditions {
		argument, _, _ := strings.Cut(r.argument, ":")
		return call.Invalid("%s: at most %d conditions in one call; use in for several values of one field", argument, maxConditions)
	}
	return nil
}

// member reads one member of an object. A field that is named like one of the words goes before the word.
func (r *conditionReader) member(s *RowSet, key string, raw json.RawMessage) (database.Condition, error) {
	if !s.base().has(key) {
		switch key {
		case wordAny:
			any, err := r.list(s, raw)
			return database.Or(any), err
		case wordAll:
			all, err := r.list(s, raw)
			return database.And(all), err
		case wordNot:
			not, err := r.inside(key, s, raw)
			return database.Not{Condition: not}, err
		case wordSegment:
			if s.members == nil {
				return r.segments(s, raw)
			}
		}
	}
	if err := r.count(); err != nil {
		return nil, err
	}
	return r.filter(s, s.base(), key, raw)
}

// inside reads an object that stands in another one, behind a name.
func (r *conditionReader) inside(name string, s *RowSet, raw json.RawMessage) (database.And, error) {
	outer, key := r.argument, r.key
	r.argument += ": " + name
	all, err := r.object(s, raw)
	r.argument, r.key = outer, key
	return all, err
}

// list reads a list of objects.
func (r *conditionReader) list(s *RowSet, raw json.RawMessage) ([]database.Condition, error) {
	var objects []json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil || len(objects) == 0 {
		return nil, r.invalid("must be a list of at least one condition object, not %s", lookup.Excerpt(raw))
	}
	if len(objects) > maxConditions {
		return nil, r.invalid("at most %d condition objects, not %d; use in for several values of one field", maxConditions, len(objects))
	}
	key := r.key
	conditions := make([]database.Condition, len(objects))
	for i, object := range objects {
		all, err := r.inside(fmt.Sprintf("%s[%d]", key, i), s, object)
		if err != nil {
			return nil, err
		}
		conditions[i] = all
	}
	return conditions, nil
}

// related reads a condition on the rows of a relation to many, with which a key begins: that one of them meets the rest of the key,
// what one of the words any and none asks, or one on a value that is computed of them.
func (r *conditionReader) related(s *RowSet, at place, key string, relation *catalog.Relation, target access.Scope, rest string, value json.RawMessage) (database.Condition, error) {
	computed, err := s.related(r.argument, at, key, relation, target, rest)
	if err != nil {
		return nil, err
	}
	if computed != nil {
		return r.filter(s, at.at(computed), key, value)
	}
	rows := &RowSet{Scope: target, outer: s}
	exists := database.Exists{From: target.Source(), Ours: relation.Ours, Theirs: relation.Theirs}
	word, comparison, _ := strings.Cut(rest, "__")
	if rows.base().has(word) || rows.base().has(rest) {
		word = ""
	}
	switch word {
	case someRow, noRow:
		if comparison != "" {
			return nil, r.invalid("no lookup follows %s; its value is a condition object, whose keys have the lookups", word)
		}
		exists.Where, err = r.inside(r.key, rows, value)
	default:
		if rest == "" || lookup.Find(rest) != nil && !rows.base().has(rest) {
			return nil, r.onRelation(at.scope, target, relation, rest)
		}
		exists.Where, err = r.filter(rows, place{scope: target, relations: at.relations + 1}, rest, value)
	}
	if err != nil {
		return nil, err
	}
	exists.Joins = rows.joins
	if word == noRow {
		return at.condition(database.Not{Condition: exists}), nil
	}
	return at.condition(exists), nil
}

// explainRead names the field that a filter's value does not fit. Other errors stay as they are.
func explainRead(scope access.Scope, err error) error {
	e, ok := errors.AsType[*database.Error](err)
	if !ok || e.Code != database.Invalid || e.Column == nil {
		return err
	}
	if f := call.FieldOf(scope, e.Column); f != nil {
		return call.Failf(call.CodeInvalidArgument, "filters: %s: %s", f.Name, e.Message)
	}
	return call.Failf(call.CodeInvalidArgument, "filters: a value is not of its field's type, or out of its range")
}
