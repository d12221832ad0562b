package main

import (
	"fmt"
	"maps"
	"slices"
)

// rowOf is a row of a document, or the values of some of its columns.
func (t *table) rowOf(members object) (row, error) {
	r := row{}
	for name, value := range members {
		c := t.column(name)
		if c == nil {
			return nil, fmt.Errorf("%s has no column %s", t.name, name)
		}
		if value != nil {
			r[name] = c.text(value)
		}
	}
	return r, nil
}

// after returns the rows as they must be once the changes are made. It is an error if the changes do not fit the rows.
func (t *table) after(before rows, w writes) (rows, error) {
	all := maps.Clone(before)
	for _, inserted := range w.Inserted {
		r, err := t.rowOf(inserted)
		if err != nil {
			return nil, err
		}
		key := t.keyOf(r)
		if _, there := before[key]; there {
			return nil, fmt.Errorf("%s %s is there before it is inserted", t.name, key)
		}
		all[key] = r
	}
	for _, updated := range w.Updated {
		key, err := t.find(before, updated.Key, updated.Old)
		if err != nil {
			return nil, err
		}
		changed, err := t.rowOf(updated.New)
		if err != nil {
			return nil, err
		}
		all[key] = maps.Clone(before[key])
		for name := range updated.New {
			delete(all[key], name)
		}
		maps.Copy(all[key], changed)
	}
	for _, deleted := range w.Deleted {
		key, err := t.find(before, deleted.Key, deleted.Old)
		if err != nil {
			return nil, err
		}
		delete(all, key)
	}
	return all, nil
}

// find is the key of the row that has this key, and these values before.
func (t *table) find(before rows, key, old object) (string, error) {
	named, err := t.rowOf(key)
	if err != nil {
		return "", err
	}
	r, there := before[t.keyOf(named)]
	if !there {
		return "", fmt.Errorf("%s has no row %v", t.name, key)
	}
	was, err := t.rowOf(old)
	if err != nil {
		return "", err
	}
	for name := range old {
		if r[name] != was[name] {
			return "", fmt.Errorf("%s %v is %v before, not %v", t.name, key, r, old)
		}
	}
	return t.keyOf(r), nil
}

// differences says how rows differ from the wanted ones.
func (t *table) differences(got, want rows) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch is, there := got[key]; {
		case !there:
			all = append(all, fmt.Sprintf("%s %s: lacks %v", t.name, key, want[key]))
		case !maps.Equal(is, want[key]):
			all = append(all, fmt.Sprintf("%s %s: is %v, not %v", t.name, key, is, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[key]; !wanted {
			all = append(all, fmt.Sprintf("%s %s: %v is too many", t.name, key, got[key]))
		}
	}
	return all
}
