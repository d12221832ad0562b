package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Relation leads from a model to rows of another.
type Relation struct {
	Name   string
	Target *Model
	// Many reports whether there may be several rows at the other end: the relation is then the reverse of a foreign
	// key.
	Many bool
	// Ours are this model's columns and Theirs the target's. Two rows are related if they are equal pair by pair.
	Ours, Theirs []*database.Column
}

// nameFields names every column of the table, visible or not, so that a name never depends on which columns are hidden.
func (m *Model) nameFields() *problem {
	taken := map[string]bool{}
	for _, c := range m.Table.Columns {
		taken[c.Name] = true
		m.all = append(m.all, &Field{Name: c.Name, Column: c, Unique: isUnique(m.Table, c)})
	}
	renamed, p := m.rename(taken)
	if p != nil {
		return p
	}
	// name gives a foreign key's field the name of its relation; false if another field has that name.
	name := func(f *Field, relation string) bool {
		field := relation + "_id"
		own := func(name string) bool { return name == f.Column.Name || name == f.Name }
		if relation == "" || taken[relation] && !own(relation) || taken[field] && !own(field) {
			return false
		}
		taken[relation], taken[field] = true, true
		f.relation = relation
		if !renamed[f] {
			f.Name = field
		}
		return true
	}
	chosen := map[*Field]bool{}
	for _, o := range m.Declared.Overrides {
		i := slices.IndexFunc(m.all, func(f *Field) bool { return f.Column.Name == o.Name || RelationName(f.Column.Name)+"_id" == o.Name })
		if o.Relation == "" || i < 0 {
			continue // overrideFields says that the column does not exist
		}
		f := m.all[i]
		chosen[f] = true
		switch {
		case !isForeignKey(m.Table, f.Column):
			return notAllowed("fields.overrides: %s is not a foreign key, so it has no relation to name", o.Name)
		case !name(f, o.Relation):
			return notAllowed("fields.overrides: %s cannot be the relation of %s: another column or relation is named %s or %s_id", o.Relation, o.Name, o.Relation, o.Relation)
		}
	}
	for _, f := range m.all {
		if chosen[f] || !isForeignKey(m.Table, f.Column) {
			continue
		}
		name(f, RelationName(f.Column.Name)) // if the name is taken, the field keeps its own, and report says so
	}
	m.makePlain(taken)
	m.columns = byNames(m.all)
	return nil
}

// isForeignKey reports whether a column is a foreign key by itself.
func isForeignKey(t *database.Table, c *database.Column) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(fk *database.ForeignKey) bool { return len(fk.Columns) == 1 && fk.Columns[0] == c })
}

// relate finds the relations between served models: one for each foreign key whose columns are visible, and its
// reverse, and those that exposures declare. A masked column counts as hidden: its relation would tell its value.
func (c *Catalog) relate() {
	c.byTable = map[*database.Table]*Model{}
	served := c.served()
	for _, m := range served {
		c.byTable[m.Table] = m
		m.Relations, m.relations = nil, map[string]*Relation{}
	}
	for _, m := range served {
		for _, fk := range m.Table.ForeignKeys {
			if len(fk.Columns) == 1 {
				c.relateBy(m, fk, m.columns[fk.Columns[0].Name].relation)
			}
		}
		for _, fk := range m.Table.ForeignKeys {
			if target := c.byTable[fk.References]; len(fk.Columns) > 1 && target != nil && m.columns[target.Name] == nil {
				c.relateBy(m, fk, target.Name)
			}
		}
	}
	for _, m := range served {
		for _, l := range m.links {
			l.why = c.relateByLink(l)
		}
	}
	for _, m := range served {
		slices.SortFunc(m.Relations, func(a, b *Relation) int { return strings.Compare(a.Name, b.Name) })
	}
}

// relateBy adds a foreign key's relation and its reverse if both ends are visible and the name is free. MySQL and SQLite
// accept foreign keys to columns that are not unique: those lead to many rows.
func (c *Catalog) relateBy(m *Model, fk *database.ForeignKey, name string) {
	target := c.byTable[fk.References]
	if name == "" || target == nil || m.relations[name] != nil || !m.shows(fk.Columns) || !target.shows(fk.ReferencedColumns) {
		return
	}
	m.addRelation(&Relation{Name: name, Target: target, Many: !isUnique(target.Table, fk.ReferencedColumns...), Ours: fk.Columns, Theirs: fk.ReferencedColumns})
	if reverse := reverseName(m, name); target.columns[reverse] == nil {
		target.addRelation(reverseOf(fk, m, reverse))
	}
}

// reverseOf is the relation from the table that a foreign key names to the rows of its model.
func reverseOf(fk *database.ForeignKey, m *Model, name string) *Relation {
	return &Relation{Name: name, Target: m, Many: true, Ours: fk.ReferencedColumns, Theirs: fk.Columns}
}

func (m *Model) addRelation(r *Relation) {
	if m.relations[r.Name] == nil {
		m.relations[r.Name] = r
		m.Relations = append(m.Relations, r)
	}
}

// shows reports whether all the columns are visible and none is masked.
func (m *Model) shows(columns []*database.Column) bool {
	return !slices.ContainsFunc(columns, func(c *database.Column) bool {
		return !slices.ContainsFunc(m.Fields, func(f *Field) bool { return f.Column == c && !f.Masked })
	})
}

// findDependents lists the foreign keys that lead to each table, from any schema.
func (c *Catalog) findDependents() {
	c.pointing = map[*database.Table][]Dependent{}
	for _, t := range slices.Concat(c.schema.Tables, c.schema.Outside) {
		for _, fk := range slices.Concat(t.ForeignKeys, t.PartitionKeys) {
			if fk.Inherited {
				continue // the whole table's key finds the partition's rows
			}
			unreadable := slices.ContainsFunc(slices.Concat(fk.Columns, fk.ReferencedColumns), func(c *database.Column) bool { return !c.Privileges.Has(database.MaySelect) })
			model, parent := c.byTable[t], c.byTable[fk.References]
			hidden := model != nil && (!model.shows(fk.Columns) || parent != nil && !parent.shows(fk.ReferencedColumns))
			dependent := Dependent{Table: t, Key: fk, Model: model, Withheld: c.Withholds(t), Unreadable: unreadable, Hidden: hidden}
			c.pointing[fk.References] = append(c.pointing[fk.References], dependent)
		}
	}
}
