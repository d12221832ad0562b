package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// link is a relation that an exposure declares, whose columns are found.
type link struct {
	name, reverse string
	from, to      *Model
	// ours are columns of from and theirs of to, pair by pair.
	ours, theirs []*database.Column
	// many reports whether several rows of to may have the same values in theirs.
	many bool
	// why says why callers cannot follow it, or not back; "" if they can.
	why string
}

// resolveLinks finds the columns of the relations that a model's exposure declares. What is wrong with the exposure itself is a
// problem; what another model lacks is noted, since it may have it tomorrow.
func (c *Catalog) resolveLinks(m *Model) *problem {
	for _, declared := range m.Declared.Relations {
		l := &link{name: declared.Name, reverse: declared.ReverseName, from: m}
		if l.reverse == "" {
			l.reverse = reverseName(m, l.name)
		}
		if p := m.findLinked(l, declared.Columns); p != nil {
			return p
		}
		if l.to = c.byName[declared.Model]; l.to == nil || l.to.Table == nil || len(l.to.all) == 0 {
			m.noteLink(l, fmt.Sprintf("there is no model %s with a table that can be read", declared.Model))
			continue
		}
		if why := l.findReferences(declared.References); why != "" {
			m.noteLink(l, why)
			continue
		}
		m.links = append(m.links, l)
	}
	return nil
}

// noteLink notes what is wrong with a relation that is declared.
func (m *Model) noteLink(l *link, why string) {
	m.note("relations: %s cannot be followed: %s.", l.name, why)
}

// findLinked finds the model's own columns of a link, and judges its name.
func (m *Model) findLinked(l *link, names []string) *problem {
	if m.columns[l.name] != nil || slices.ContainsFunc(m.all, func(f *Field) bool { return f.relation == l.name }) {
		return notAllowed("relations: %s: a column or the relation of a foreign key has that name; choose another", l.name)
	}
	for _, name := range names {
		f := m.columns[name]
		switch {
		case f == nil:
			return fieldNotFound("relations: "+l.name, name, m.Table, m.all)
		case !lookup.HasEquality(f.Column):
			return notAllowed("relations: %s: values of %s, of type %s, cannot be compared", l.name, name, f.Column.Kind)
		}
		l.ours = append(l.ours, f.Column)
	}
	return nil
}

// findReferences finds the columns of the other model, and says why there are none that the link's own equal.
func (l *link) findReferences(names []string) (why string) {
	for _, f := range l.to.Key {
		if len(names) == 0 {
			l.theirs = append(l.theirs, f.Column)
		}
	}
	for _, name := range names {
		f := l.to.columns[name]
		if f == nil {
			return fmt.Sprintf("%s has no column %s", l.to.Table, name)
		}
		l.theirs = append(l.theirs, f.Column)
	}
	switch {
	case len(l.theirs) == 0:
		return l.to.Name + " has no key; name its columns in references"
	case len(l.theirs) != len(l.ours):
		return fmt.Sprintf("the key of %s has %d columns, and the relation %d; name as many in references", l.to.Name, len(l.theirs), len(l.ours))
	}
	for i, theirs := range l.theirs {
		if ours := l.ours[i]; !lookup.HasEquality(theirs) || !database.Comparable(ours, theirs) {
			return fmt.Sprintf("%s, of type %s, cannot be compared with %s of %s, of type %s", ours.Name, ours.Kind, theirs.Name, l.to.Name, theirs.Kind)
		}
	}
	l.many = !isUnique(l.to.Table, l.theirs...) && !l.to.isKey(l.theirs)
	return ""
}

// isKey reports whether columns are the model's key, in any order. One that the exposure declares tells rows apart as its
// administrator says.
func (m *Model) isKey(columns []*database.Column) bool {
	return len(m.Key) > 0 && len(m.Key) == len(columns) && !slices.ContainsFunc(m.Key, func(f *Field) bool { return !slices.Contains(columns, f.Column) })
}

// reverseName is the name of the relation back that nobody declares.
func reverseName(m *Model, relation string) string { return m.Name + "_by_" + relation }

// relateByLink adds the relation of a link and the way back, if both ends are served and visible and the names are free. It returns
// why it did not.
func (c *Catalog) relateByLink(l *link) (why string) {
	switch {
	case c.byTable[l.to.Table] != l.to:
		return fmt.Sprintf("the model %s is not served", l.to.Name)
	case !l.from.shows(l.ours):
		return joined(l.ours) + " must be visible, and not masked"
	case !l.to.shows(l.theirs):
		return fmt.Sprintf("%s of %s must be visible, and not masked", joined(l.theirs), l.to.Name)
	case l.from.relations[l.name] != nil:
		return "the relation of a foreign key has that name; choose another"
	}
	l.from.addRelation(&Relation{Name: l.name, Target: l.to, Many: l.many, Ours: l.ours, Theirs: l.theirs})
	if l.to.columns[l.reverse] != nil || l.to.relations[l.reverse] != nil {
		return fmt.Sprintf("it has no way back, as a column or relation of %s is named %s; set reverseName", l.to.Name, l.reverse)
	}
	l.to.addRelation(&Relation{Name: l.reverse, Target: l.from, Many: true, Ours: l.theirs, Theirs: l.ours})
	return ""
}

// linkStep follows a relation that an exposure declares, or one back; nil if there is none of the name.
func (c *Catalog) linkStep(t *database.Table, name string) *FilterStep {
	for _, m := range c.models {
		for _, l := range m.links {
			switch {
			case l.from.Table == t && l.name == name:
				return &FilterStep{l.to.Table, l.ours, l.theirs}
			case l.to.Table == t && l.reverse == name:
				return &FilterStep{l.from.Table, l.theirs, l.ours}
			}
		}
	}
	return nil
}

// NamedAfter reports whether a column is named like the key of another table or model, as customer_id and main_customer_id are
// like the id of customers, and film_id like the film_id of film.
func NamedAfter(column, table, key string) bool { return Names{}.NamedAfter(column, table, key) }

// Names remembers the words of names, as each column may be compared with the key of each table. It is used by one goroutine.
type Names map[string]nameWords

// nameWords are a name's words as one text, and how many there are.
type nameWords struct {
	text  string
	count int
}

func (n Names) words(name string) nameWords {
	found, ok := n[name]
	if !ok {
		words := WordsOf(name)
		found = nameWords{strings.Join(words, ""), len(words)}
		n[name] = found
	}
	return found
}

// NamedAfter is the function NamedAfter.
func (n Names) NamedAfter(column, table, key string) bool {
	own, whole := n.words(column), n.words(table+"_"+key)
	if theirs := n.words(key); theirs.count > 1 && own.text == theirs.text {
		return true
	}
	return own.text == whole.text || strings.HasSuffix(own.text, whole.text) && own.count > whole.count
}

// maxSuggestions bounds the relations that one model's status suggests.
const maxSuggestions = 3

// suggestLinks notes the columns that are named like the key of another model, though no relation begins with them.
func (m *Model) suggestLinks() {
	suggested := 0
	for _, f := range m.Fields {
		related := slices.ContainsFunc(m.Relations, func(r *Relation) bool { return slices.Contains(r.Ours, f.Column) })
		if related || f.Masked || m.isKey([]*database.Column{f.Column}) || isForeignKey(m.Table, f.Column) || suggested == maxSuggestions {
			continue
		}
		if to := m.namesakeOf(f.Column); to != nil {
			suggested++
			m.note("%s is named like the key of %s, but no foreign key leads there. If it names a row of %s, say so: relations: [{name: %s, columns: [%s], model: %s}].",
				f.Column.Name, to.Name, to.Name, m.freeRelation(f.Column.Name, to), f.Column.Name, to.Name)
		}
	}
}

// namesakeOf is the only other model after whose key a column is named; nil if there is none, or if there are several.
func (m *Model) namesakeOf(c *database.Column) (found *Model) {
	for _, to := range m.catalog.served() {
		if to == m || len(to.Key) != 1 || !lookup.HasEquality(c) || !database.Comparable(c, to.Key[0].Column) || to.Key[0].Masked {
			continue
		}
		if key := to.Key[0].Column.Name; m.catalog.names.NamedAfter(c.Name, to.Name, key) || m.catalog.names.NamedAfter(c.Name, to.Table.Name, key) {
			if found != nil {
				return nil
			}
			found = to
		}
	}
	return found
}

// freeRelation is a name for a relation by a column: as a foreign key's, or else the other model's.
func (m *Model) freeRelation(column string, to *Model) string {
	if name := RelationName(column); name != "" && m.columns[name] == nil && m.relations[name] == nil {
		return name
	}
	return to.Name
}
