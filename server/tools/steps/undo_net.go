package steps

import (
	"maps"
	"slices"
)

// What was done to one row comes to less than its entries tell: a row that was created and deleted leaves nothing to do, and
// of several changes only the first values and the last ones count. States in between are not gone through again: the journal
// may not have all of them, and nobody asked for them. But two rows that swapped a value that must be unique can only go back
// through a state in between.

// net leaves out the entries that come to nothing, and joins those about one row that come to one. A row that needs no
// change must be as its newest entry left it, like any other.
func (u *undoing) net(entries []*undoEntry) ([]*undoEntry, error) {
	var left []*undoEntry
	places := map[string]int{}
	for i, e := range entries {
		places[string(e.ID)] = i
		row := u.rows[e.rowName()]
		if e != row.entries[0] {
			continue
		}
		rest := netted(row.entries)
		left = append(left, rest...)
		if len(rest) > 0 {
			continue
		}
		r, err := u.find(e)
		if err != nil {
			return nil, err
		}
		now, err := u.rowNow(r)
		if err != nil {
			return nil, err
		}
		if err := u.unchangedSince(r, row, now); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(left, func(a, b *undoEntry) int { return places[string(a.ID)] - places[string(b.ID)] })
	return left, nil
}

// netted returns the sum of entries about one row, newest first.
func netted(entries []*undoEntry) []*undoEntry {
	var left []*undoEntry // oldest first
	for _, e := range slices.Backward(entries) {
		last := len(left) - 1
		switch {
		case last < 0:
			left = append(left, e)
		case e.Action == "delete" && left[last].Action == "create":
			left = left[:last]
		case e.Action == "delete" && left[last].Action == "update", e.Action == "update" && (left[last].Action == "update" || left[last].Action == "create"):
			left[last] = combined(left[last], e)
		default:
			left = append(left, e)
		}
	}
	if len(left) > 0 {
		oldest := *left[0]
		oldest.from = entries[len(entries)-1].oldest()
		left[0] = &oldest
	}
	slices.Reverse(left)
	return left
}

// combined returns one entry for two about the same row, the older one first: a creation and a change are the creation, a
// change and a deletion the deletion.
func combined(first, second *undoEntry) *undoEntry {
	both := *second
	both.from = first.oldest()
	if first.Action == "create" {
		both.Action, both.ID = first.Action, first.ID
	}
	both.changes = maps.Clone(first.fieldsChanged())
	for name, change := range second.fieldsChanged() {
		if before, twice := both.changes[name]; twice {
			change.Before, change.Stored, change.Aside = before.Before, before.Stored, before.Aside && change.Aside
		} else if first.Action == "create" {
			change.Before, change.Stored = nil, nil
		}
		both.changes[name] = change
	}
	for name, change := range both.changes {
		switch {
		case both.Action == "create" && change.After == nil:
			delete(both.changes, name) // that it was set does not matter: the row goes
		case both.Action == "delete":
			change.After = nil
			both.changes[name] = change
		case both.Action == "update" && change.Stored == nil && change.Before != nil && sameMeaning(change.Before, change.After):
			delete(both.changes, name)
		}
	}
	return &both
}
