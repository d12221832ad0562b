package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of paths (docs/design/asking.md, "Bounds"). Engines join at most 61 tables.
const (
	maxRelations = 4
	maxJoins     = 40
)

// RowSet is the rows of a model that fields, orders and conditions are about, with the related rows that each of them
// leads to. Paths through the same relations share one join.
type RowSet struct {
	Scope access.Scope
	// members are the groups' members if the rows are groups, and nil otherwise; a group leads to no other row.
	members []*catalog.Field
	joins   []*database.Join
	// relations are the joins' relations, and scopes where they lead to.
	relations []*catalog.Relation
	scopes    []access.Scope
	// outer is the set of the row outside if these rows are asked for within a condition or value of it; nil otherwise. outerRefs counts
	// what the call asks of that row here.
	outer     *RowSet
	outerRefs int
	// calendar says how the call reads moments.
	calendar lookup.Calendar
	// computed are the values that the call computes for each row. names are the fields among them that the call gives a name.
	computed []computedValue
	names    []*catalog.Field
	// ranking is the rank of rows in the call's search; nil if they have none.
	ranking *database.TextRank
	// similar is the rows' distance from what the call asks for; nil if it asks for no similar rows.
	similar *database.Distance
	// orderAsked is how many steps of the latest order were asked for, by the call or by the model's own ordering.
	orderAsked int
	// depth is how many relations lie between the call's own rows and these.
	depth int
	// conditionsRead counts the conditions that the call has so far.
	conditionsRead int
}

// place is a row that a path has led to: a row of the set itself if join is nil, else a join's. relations is how many
// relations the path has taken.
type place struct {
	join      *database.Join
	scope     access.Scope
	members   []*catalog.Field
	relations int
	// names are the values to which the call gives a name.
	names []*catalog.Field
	// value is set if the path has led to a computed value, which its name in the path means.
	value *catalog.Field
}

// base is the row of the set itself.
func (s *RowSet) base() place {
	return place{scope: s.Scope, members: s.members, names: s.names, relations: s.depth}
}

// hasRows reports whether relations may lead on from the place.
func (p place) hasRows() bool { return p.members == nil && p.value == nil }

// at returns the place of a value that was computed of related rows at this one.
func (p place) at(value *catalog.Field) place { return place{scope: p.scope, value: value} }

// follow goes from a place to the one row that a relation leads to.
func (s *RowSet) follow(from place, r *catalog.Relation, target access.Scope) (place, error) {
	to := place{scope: target, relations: from.relations + 1}
	for i, join := range s.joins {
		if join.Through == from.join && s.relations[i] == r {
			to.join = join
			return to, nil
		}
	}
	join, err := s.join(&database.Join{Through: from.join, From: target.Source(), Ours: r.Ours, Theirs: r.Theirs}, r, target)
	to.join = join
	return to, err
}

// join adds a join; the relation is nil if it follows none.
func (s *RowSet) join(join *database.Join, r *catalog.Relation, target access.Scope) (*database.Join, error) {
	if len(s.joins) == maxJoins {
		return nil, call.Invalid("the paths of one call may lead to at most %d related rows; ask for some of them in another call", maxJoins)
	}
	s.joins, s.relations, s.scopes = append(s.joins, join), append(s.relations, r), append(s.scopes, target)
	return join, nil
}

// step takes the relation with which a path begins, and returns what is behind it; false if it begins with none that the
// token may follow. Of several it is the shortest name.
func (p place) step(path string) (r *catalog.Relation, target access.Scope, rest string, ok bool) {
	for end := 0; p.hasRows(); {
		i := strings.Index(path[end:], "__")
		if i < 0 {
			break
		}
		end += i
		if r, target, ok := p.scope.Follow(path[:end]); ok {
			return r, target, path[end+len("__"):], true
		}
		end += len("__")
	}
	return nil, access.Scope{}, "", false
}

// checkDepth judges whether a path may take one more relation.
func (p place) checkDepth(argument, path string) error {
	if p.relations == maxRelations {
		return call.Invalid("%s: %s: a path may go through at most %d relations; start from a model that is nearer", argument, path, maxRelations)
	}
	return nil
}

// lead follows a path, field or relation__…__field, along relations to one row. It returns where the last of them leads
// to and what of the path is left, which find must accept.
func (s *RowSet) lead(argument, path string, find func(at place, rest string) bool) (at place, rest string, err error) {
	at, rest = s.base(), path
	for !find(at, rest) {
		r, target, behind, ok := at.step(rest)
		switch {
		case !ok:
			return place{}, "", errNoPath{at, rest}
		case r.Many:
			value, err := s.related(argument, at, rest, r, target, behind)
			if err != nil {
				return place{}, "", err
			}
			if value == nil {
				return place{}, "", leadsToMany(s.Scope.Model(), argument, path, r, strings.TrimSuffix(path, "__"+behind))
			}
			at = at.at(value)
			continue
		}
		if err := at.checkDepth(argument, path); err != nil {
			return place{}, "", err
		}
		if at, err = s.follow(at, r, target); err != nil {
			return place{}, "", err
		}
		rest = behind
	}
	return at, rest, nil
}

// leadsToMany says what to do with a relation to many rows where a single value is wanted; name is the path as far as the
// relation, own the model that the call asks for, if it is known.
func leadsToMany(own *catalog.Model, argument, path string, r *catalog.Relation, name string) error {
	instead, groups := "", "to group those rows, start from the model "+r.Target.Name
	if strings.HasPrefix(argument, "measures: ") {
		instead = fmt.Sprintf(`, as a measure {"sum": {"count": %q, "filters": {…}}}`, name)
	}
	if r.Target == own && name != r.Name {
		groups = fmt.Sprintf("pairs of two rows of %s cannot be grouped", r.Target.Name)
	}
	return call.Invalid("%s: %s: %s leads to many rows of %s, so it has no single value here; send %s__count, or %s__sum__field (also avg, min, max)%s; only filters take other paths through it (rows that have none of them: %s__none); %s",
		argument, path, r.Name, r.Target.Name, name, name, instead, name, groups)
}

// errNoPath says where a path ends that names nothing: the caller knows what it should have named there.
type errNoPath struct {
	at   place
	rest string
}

func (errNoPath) Error() string { return "the path names nothing" }

// condition makes a condition on the row of a place one on the row of the set.
func (p place) condition(c database.Condition) database.Condition {
	if p.join == nil {
		return c
	}
	return database.Joined{Join: p.join, Condition: c}
}

func (p place) ref(c *database.Column) database.Ref { return database.Ref{Join: p.join, Column: c} }

// Output says which members a row has: all visible fields, or the fields, paths and computed values that are asked for, in their
// order, and always the key: first, if nothing asks for it.
func (s *RowSet) Output(subset call.Items) ([]database.Output, error) {
	if len(subset) == 0 {
		return PlanOutput(s.Scope), nil
	}
	output, named := make([]database.Output, 0, len(subset)+1), map[string]bool{}
	add := func(o database.Output) {
		if !named[o.Name] {
			output, named[o.Name] = append(output, o), true
		}
	}
	if key := keyMembers(s.Scope); !slices.ContainsFunc(key, func(o database.Output) bool { return subset.Has(o.Name) }) {
		for _, member := range key {
			add(member)
		}
	}
	for _, item := range subset {
		if named[item.Text] {
			continue
		}
		member, err := s.member(item)
		if err != nil {
			return nil, err
		}
		add(member)
	}
	return output, nil
}

// member is one member of a row.
func (s *RowSet) member(item call.Item) (database.Output, error) {
	m := s.Scope.Model()
	switch f := s.Scope.Field(item.Text); {
	case item.Object != nil:
		value, err := s.named("fields", item.Object)
		if err != nil {
			return database.Output{}, err
		}
		return value.Output(), nil
	case f != nil:
		return f.Output(), nil
	case m.IsKeyName(item.Text):
		return KeyOutput(m, item.Text), nil
	}
	return s.pathOutput(item.Text)
}

// pathOutput is the member of a related row's field, or of a value of related rows.
func (s *RowSet) pathOutput(path string) (database.Output, error) {
	at, name, err := s.lead("fields", path, func(at place, rest string) bool {
		return at.computed(rest) != nil || at.value == nil && (at.scope.Field(rest) != nil || at.scope.Model().IsKeyName(rest))
	})
	if none, ok := errors.AsType[errNoPath](err); ok {
		return database.Output{}, none.unknown("fields", path, "", fieldNames(none.at.scope))
	}
	if err != nil {
		return database.Output{}, err
	}
	if f := at.computed(name); f != nil {
		output := f.Output()
		output.Name = path
		return output, nil
	}
	if f := at.scope.Field(name); f != nil {
		return database.Output{Name: path, Join: at.join, Columns: []*database.Column{f.Column}, Mask: f.Masked, KeepLast: f.KeepLast}, nil
	}
	output := KeyOutput(at.scope.Model(), path)
	output.Join = at.join
	return output, nil
}

// unknown says what there is where a path ends that names nothing; purpose is what a field is wanted for, such as " to
// group by", and may be empty.
func (e errNoPath) unknown(argument, path, purpose string, names []string) error {
	if e.at.members != nil {
		return call.Invalid("%s: there is no measure or group %q; there are %s", argument, path, strings.Join(names, ", "))
	}
	if e.at.value != nil {
		return call.Invalid("%s: %s: %s is a value, with nothing behind it", argument, path, e.at.value.Name)
	}
	name, _, further := strings.Cut(e.rest, "__")
	if f := comparedField(e.at.scope, name); f != nil && further {
		if kind := f.Column.Kind; kind == database.Date || kind.IsMoment() {
			return call.Invalid("%s: %s: a part of a date is for group_by, filters and count_distinct; %s itself is a %s", argument, path, name, kind)
		}
		return call.Invalid("%s: %s: %s is a field, with nothing behind it%s", argument, path, name, e.at.rowHint(f))
	}
	if r, _, ok := e.at.scope.Follow(e.rest); ok && r.Many {
		return leadsToMany(nil, argument, path, r, path)
	}
	if path != e.rest {
		argument += ": " + path
	}
	if e.at.masks(name) {
		return call.Invalid("%s: %s", argument, isMasked(name))
	}
	message := fmt.Sprintf("%s: %s has no field %q%s", argument, e.at.scope.Model().Name, name, purpose)
	if len(names) > 0 {
		message += "; the fields are " + strings.Join(names, ", ")
	}
	if relations := relationsTo(e.at.scope, false); len(relations) > 0 {
		message += "; relations to one row (as relation__field) are " + strings.Join(relations, ", ")
	}
	return call.Invalid("%s", message)
}

// rowHint says how to come from a foreign key's field to the fields of the row that it names; "" if it leads nowhere.
func (p place) rowHint(f *catalog.Field) string {
	if f == nil || p.members != nil {
		return ""
	}
	for _, r := range p.scope.Relations() {
		if !r.Many && len(r.Ours) == 1 && r.Ours[0] == f.Column {
			return "; fields of the row that it names are " + r.Name + "__field"
		}
	}
	return ""
}

// relationsTo are the names of the relations to one row, or to many, that the token may follow.
func relationsTo(scope access.Scope, many bool) []string {
	var names []string
	for _, r := range scope.Relations() {
		if r.Many == many {
			names = append(names, r.Name)
		}
	}
	return names
}

// PlanOutput is the output of all visible fields of a scope's rows. It is the model's own, and is not to be changed.
func PlanOutput(scope access.Scope) []database.Output { return scope.Model().Output }

// keyMembers are the members by which a row shows its key; none if its model has no key.
func keyMembers(scope access.Scope) []database.Output {
	m := scope.Model()
	if m.KeyName != "" {
		return []database.Output{KeyOutput(m, m.KeyName)}
	}
	var members []database.Output
	for _, f := range scope.Fields() {
		if f.PrimaryKey {
			members = append(members, f.Output())
		}
	}
	return members
}
