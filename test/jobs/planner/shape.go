package planner

import "strings"

// mostRelations is how many relations a path may have.
const mostRelations = 4

// shape is a selection seen from one of its sources, its root: each row of the selection is a row of the root, together with
// the rows that relations to one row lead to from there. Branches hang on relations to many rows: they can be asked whether
// there is such a row, and nothing else.
type shape struct {
	*selection
	root int
	// paths lead from the root to a source; they are empty or end in __. hops are their last steps.
	paths    map[int]string
	hops     map[int]hop
	branches []*branch
	// leftover are the equalities between sources that have paths which no relation stands for.
	leftover []equality
}

type hop struct {
	from int
	key  *ForeignKey
}

// branch is a part of a selection that hangs on a source of a shape.
type branch struct {
	*shape
	// path is the relation to many rows, from the shape's root; "" if no relation leads there, and on must be asked for by
	// values. Without path and on nothing joins the branch: there must be any row of it.
	path string
	on   []equality
}

// from returns the selection seen from a source. Only the sources in within take part.
func (s *selection) from(root int, within map[int]bool) (*shape, error) {
	if s.tables[root].outer {
		return nil, unable("an outer join from the other side")
	}
	h := &shape{selection: s, root: root, paths: map[int]string{root: ""}, hops: map[int]hop{}}
	used := map[equality]bool{}
	for h.advance(within, used) {
	}
	rest := map[int]bool{}
	for i := range within {
		if _, reached := h.paths[i]; !reached {
			rest[i] = true
		}
	}
	for _, e := range s.equal {
		_, left := h.paths[e.left.source]
		_, right := h.paths[e.right.source]
		if left && right && !used[e] {
			h.leftover = append(h.leftover, e)
		}
	}
	for len(rest) > 0 {
		if err := h.addBranch(rest); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// advance takes one more step to a source that a relation to one row leads to, if there is one.
func (h *shape) advance(within map[int]bool, used map[equality]bool) bool {
	for i := range h.tables {
		prefix, reached := h.paths[i]
		if !reached || strings.Count(prefix, "__") >= mostRelations {
			continue
		}
		for _, key := range h.tables[i].table.ForeignKeys {
			for j := range h.tables {
				if _, reached := h.paths[j]; reached || !within[j] || h.tables[j].table != key.References || !key.toOne() {
					continue
				}
				joined := h.joined(i, key.Columns, j, key.Referenced)
				if joined == nil {
					continue
				}
				for _, e := range joined {
					used[e] = true
				}
				h.paths[j], h.hops[j] = prefix+key.Relation+"__", hop{i, key}
				return true
			}
		}
	}
	return false
}

// joined returns the equalities that join columns of two sources; nil if one of them is missing.
func (s *selection) joined(i int, columns []*Column, j int, others []*Column) []equality {
	var all []equality
	for n := range columns {
		a, b := place{i, columns[n]}, place{j, others[n]}
		found := false
		for _, e := range s.equal {
			if e.left == a && e.right == b || e.left == b && e.right == a {
				all, found = append(all, e), true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return all
}

// addBranch takes a part out of the rest that hangs together, and adds it as a branch.
func (h *shape) addBranch(rest map[int]bool) error {
	for _, e := range h.equal {
		near, far := e.left, e.right
		if rest[near.source] {
			near, far = far, near
		}
		if _, reached := h.paths[near.source]; !reached || !rest[far.source] {
			continue
		}
		part := h.connected(far.source, rest)
		if err := h.hang(near, far, part); err != nil {
			return err
		}
		for i := range part {
			delete(rest, i)
		}
		return nil
	}
	return h.addApart(rest)
}

// addApart takes a part out of the rest that no condition joins, and adds it as a branch.
func (h *shape) addApart(rest map[int]bool) error {
	var reason error
	for i := range h.tables {
		if !rest[i] {
			continue
		}
		part := h.connected(i, rest)
		inner, err := h.from(i, part)
		if err != nil {
			reason = err
			continue
		}
		h.branches = append(h.branches, &branch{inner, "", nil})
		for i := range part {
			delete(rest, i)
		}
		return nil
	}
	return reason
}

// connected returns the sources of the rest that hang together with one.
func (s *selection) connected(i int, rest map[int]bool) map[int]bool {
	part := map[int]bool{i: true}
	for again := true; again; {
		again = false
		for _, e := range s.equal {
			a, b := e.left.source, e.right.source
			if rest[a] && rest[b] && part[a] != part[b] {
				part[a], part[b], again = true, true, true
			}
		}
	}
	return part
}

// hang adds a part as a branch that is joined by an equality, and perhaps by more of the same two sources.
func (h *shape) hang(near, far place, part map[int]bool) error {
	for i := range part {
		if h.tables[i].outer {
			return unable("an outer join to many rows")
		}
	}
	path, on := h.toMany(near, far)
	for _, e := range h.equal {
		a, b := e.left.source, e.right.source
		_, reachedA := h.paths[a]
		_, reachedB := h.paths[b]
		crosses := reachedA && part[b] || reachedB && part[a]
		if crosses && !containsEquality(on, e) {
			return unable("a join of several rows with one")
		}
	}
	inner, err := h.from(far.source, part)
	if err != nil {
		return err
	}
	h.branches = append(h.branches, &branch{inner, path, on})
	return nil
}

func containsEquality(all []equality, e equality) bool {
	for _, o := range all {
		if o == e {
			return true
		}
	}
	return false
}

// toMany returns the path from the root to a source through a relation to many rows, and the equalities that it stands for.
// The path is "" if there is none.
func (h *shape) toMany(near, far place) (string, []equality) {
	prefix := h.paths[near.source]
	a, b := h.tables[near.source].table, h.tables[far.source].table
	for _, key := range b.ForeignKeys { // from many to one, the other way round
		if on := h.joined(far.source, key.Columns, near.source, key.Referenced); key.References == a && on != nil && containsPlaces(on, near, far) {
			return prefix + key.Reverse, on
		}
	}
	for _, key := range a.ForeignKeys { // to columns that are not unique
		if on := h.joined(near.source, key.Columns, far.source, key.Referenced); key.References == b && on != nil && containsPlaces(on, near, far) {
			return prefix + key.Relation, on
		}
	}
	on := h.joined(near.source, []*Column{near.column}, far.source, []*Column{far.column})
	if path, ok := siblings(a, near.column, b, far.column); ok {
		return prefix + path, on
	}
	return "", on
}

func containsPlaces(all []equality, a, b place) bool {
	return containsEquality(all, equality{a, b}) || containsEquality(all, equality{b, a})
}

// siblings returns the path between two tables that have foreign keys to one and the same row: each row of the first must
// have such a row.
func siblings(a *Table, x *Column, b *Table, y *Column) (string, bool) {
	for _, up := range a.ForeignKeys {
		for _, down := range b.ForeignKeys {
			if len(up.Columns) == 1 && len(down.Columns) == 1 && up.Columns[0] == x && down.Columns[0] == y &&
				up.References == down.References && up.Referenced[0] == down.Referenced[0] && up.Holds && up.toOne() {
				return up.Relation + "__" + down.Reverse, true
			}
		}
	}
	return "", false
}

// path is the path of a column from the root.
func (h *shape) path(p place) string {
	if step, ok := h.hops[p.source]; ok && !h.tables[p.source].outer {
		for i, c := range step.key.Referenced {
			if own := step.key.Columns[i]; c == p.column && own.Affinity == c.Affinity {
				return h.path(place{step.from, own}) // it is equal, and nearer
			}
		}
	}
	return h.paths[p.source] + p.column.Field
}

// reaches reports whether all of the places have paths.
func (h *shape) reaches(places []place) bool {
	for _, p := range places {
		if _, ok := h.paths[p.source]; !ok {
			return false
		}
	}
	return true
}

// nullable reports whether a column has NULL in some row of the selection.
func (h *shape) nullable(p place) bool {
	if h.saidNotNull(p) {
		return false
	}
	for i := p.source; ; {
		if h.tables[i].outer {
			return true
		}
		step, ok := h.hops[i]
		if !ok {
			return h.maybeNull(p)
		}
		i = step.from
	}
}

// oneEach reports whether each row of the root has one row of each branch at most.
func (h *shape) oneEach() bool {
	for _, b := range h.branches {
		var fixed []*Column
		for _, e := range b.on {
			for _, p := range []place{e.left, e.right} {
				if p.source == b.root {
					fixed = append(fixed, p.column)
				}
			}
		}
		for _, p := range b.constants() {
			if p.source == b.root {
				fixed = append(fixed, p.column)
			}
		}
		if !b.tables[b.root].table.isUnique(fixed) || !b.oneEach() {
			return false
		}
	}
	return true
}
