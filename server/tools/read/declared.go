package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Measures and segments that an exposure declares are pieces of calls under a name (docs/design/asking.md, "Names for measures and
// conditions"). They are read as if the caller had sent them, with the caller's rights: one that asks of a field which the token does
// not see is none of the token's, like the field.

// wordSegment names segments in a condition object.
const wordSegment = "_segment"

// Measures are the declared measures of a model that the scope's token has.
func Measures(scope access.Scope) []contract.Declared {
	return having(scope, scope.Model().Declared.Measures, checkMeasure)
}

// Segments are the declared segments of a model that the scope's token has.
func Segments(scope access.Scope) []contract.Declared {
	return having(scope, scope.Model().Declared.Segments, checkSegment)
}

func having(scope access.Scope, all []contract.Declared, check func(access.Scope, *contract.Declared) error) []contract.Declared {
	var usable []contract.Declared
	for i := range all {
		if check(scope, &all[i]) == nil {
			usable = append(usable, all[i])
		}
	}
	return usable
}

// WrongDeclarations says what is wrong with the measures and segments that a model's exposure declares. The scope sees all fields
// that the model shows to anybody.
func WrongDeclarations(scope access.Scope) (notes []string) {
	declared := scope.Model().Declared
	for i := range declared.Measures {
		if err := checkMeasure(scope, &declared.Measures[i]); err != nil {
			notes = append(notes, fmt.Sprintf("spec.measures[%d] (%s) is not offered: %s.", i, declared.Measures[i].Name, err))
		}
	}
	for i := range declared.Segments {
		if err := checkSegment(scope, &declared.Segments[i]); err != nil {
			notes = append(notes, fmt.Sprintf("spec.segments[%d] (%s) is not offered: %s.", i, declared.Segments[i].Name, err))
		}
	}
	return notes
}

// checkSegment reads a segment to see whether the scope's token has it.
func checkSegment(scope access.Scope, segment *contract.Declared) error {
	_, err := (&RowSet{Scope: scope}).declaredConditions(segment, 0)
	return err
}

// checkMeasure reads a measure to see whether the scope's token has it.
func checkMeasure(scope access.Scope, measure *contract.Declared) error {
	g := newGroupReader(&RowSet{Scope: scope})
	if err := g.addDeclared("measures: "+measure.Name, measure.Name, measure, nil); err != nil {
		return err
	}
	return g.checkDerived()
}

// declaredConditions reads the conditions of a segment, after so many other conditions of the call. Names that the call gives to
// values are not meant in them.
func (s *RowSet) declaredConditions(segment *contract.Declared, read int) (database.And, error) {
	named := s.names
	defer func() { s.names = named }()
	s.names = nil
	r := &conditionReader{argument: wordSegment + ": " + segment.Name, read: read, declared: true, calendar: s.calendar}
	all, err := r.object(s, segment.Means)
	s.conditionsRead = r.read
	return all, err
}

// find returns what is declared under a name, if the token has it.
func find(scope access.Scope, all []contract.Declared, name string, check func(access.Scope, *contract.Declared) error) *contract.Declared {
	i := slices.IndexFunc(all, func(d contract.Declared) bool { return d.Name == name })
	if i < 0 || check(scope, &all[i]) != nil {
		return nil
	}
	return &all[i]
}

// segmentsArgument is the argument segments of an operation.
func segmentsArgument[A any](into func(*A) *[]string) call.Argument[A] {
	return call.Argument[A]{Name: "segments", Into: func(a *A) any { return into(a) }, Unlisted: true,
		Offered: func(m *catalog.Model) bool { return len(m.Declared.Segments) > 0 }, Lacks: "segments",
		Help: "names of segments of describe, ANDed"}
}

// where reads the arguments filters and segments.
func (s *RowSet) where(filters json.RawMessage, segments []string) (database.And, error) {
	where, err := s.conditions("filters", filters)
	if err != nil {
		return nil, err
	}
	for _, name := range segments {
		conditions, err := s.segment("segments", name)
		if err != nil {
			return nil, err
		}
		where = append(where, conditions...)
	}
	return where, nil
}

// segment reads the conditions of one segment.
func (s *RowSet) segment(argument, name string) (database.And, error) {
	m := s.Scope.Model()
	found := find(s.Scope, m.Declared.Segments, name, checkSegment)
	if found == nil {
		return nil, call.Invalid("%s: %s has no segment %q; %s", argument, m.Name, name, names("segments", Segments(s.Scope)))
	}
	return s.declaredConditions(found, s.conditionsRead)
}

// segments reads the value of the word _segment: a name, or a list of names.
func (r *conditionReader) segments(s *RowSet, raw json.RawMessage) (database.Condition, error) {
	if r.declared {
		return nil, r.invalid("a segment names no other segment; write its conditions here")
	}
	list, ok := jsontext.ReadStrings(raw)
	if name, isText := jsontext.ReadString(raw); isText {
		list, ok = []string{name}, true
	}
	if !ok || len(list) == 0 {
		return nil, r.invalid("must be the name of a segment, or a list of names, not %s", lookup.Excerpt(raw))
	}
	all := database.And{}
	for _, name := range list {
		read := s.conditionsRead
		s.conditionsRead = r.read
		conditions, err := s.segment(r.argument+": "+r.key, name)
		r.read, s.conditionsRead = s.conditionsRead, read
		if err != nil {
			return nil, err
		}
		all = append(all, conditions...)
	}
	return all, nil
}

// names says what is declared, for messages.
func names(what string, declared []contract.Declared) string {
	if len(declared) == 0 {
		return "it has no " + what
	}
	var list []string
	for _, d := range declared {
		list = append(list, d.Name)
	}
	return "its " + what + " are " + strings.Join(list, ", ")
}

// hidden is the name under which a measure stands that only another declared one is of. No member is called so.
func hidden(name string) string { return "=" + name }

// declared adds a measure that a call names. argument is where, and member what the call calls it.
func (g *groupReader) declared(argument, member, name string) error {
	m := g.rows.Scope.Model()
	found := find(g.rows.Scope, m.Declared.Measures, name, checkMeasure)
	if found == nil {
		return call.Invalid(`%s: %s has no measure %q; %s; a measure of your own is {"count": "*"} or {"sum": field}`, argument, m.Name, name, names("measures", Measures(g.rows.Scope)))
	}
	return g.addDeclared(argument, member, found, nil)
}

// addDeclared adds a declared measure under a name, and the measures that it computes with as hidden ones. of is the chain of
// measures that are being added: each computes with the next.
func (g *groupReader) addDeclared(argument, member string, declared *contract.Declared, of []string) error {
	given, _ := jsontext.ReadObject(declared.Means)
	derived, err := readDerived(argument, namedMeasure{member, declared.Means}, given)
	if err != nil {
		return err
	}
	if derived == nil {
		named := g.rows.names
		defer func() { g.rows.names = named }()
		g.rows.names = nil
		measure, err := g.ofRowsSent(argument, declared.Means, given)
		if err == nil {
			g.addMeasure(member, measure)
		}
		return err
	}
	if derived.looksBack() {
		return call.Invalid("%s: %s is of the groups of a call, so it cannot be declared", argument, derived.function)
	}
	of = append(of, declared.Name)
	for i, name := range derived.of {
		derived.of[i] = hidden(name)
		if g.measure(hidden(name)) != nil || g.find(hidden(name)) != nil {
			continue
		}
		all := g.rows.Scope.Model().Declared.Measures
		at := slices.IndexFunc(all, func(d contract.Declared) bool { return d.Name == name })
		switch {
		case at < 0:
			return call.Invalid("%s: %s is of other declared measures, and %q is none; %s", argument, derived.function, name, names("measures", all))
		case slices.Contains(of, name):
			return call.Invalid("%s: it depends on itself by %s", argument, name)
		}
		if err := g.addDeclared(argument+": "+name, hidden(name), &all[at], of); err != nil {
			return err
		}
	}
	g.derived = append(g.derived, derived)
	return nil
}
