package main

import (
	"context"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// declarations say what exposures declare in the second count: relations where the set's own queries join without a foreign key,
// reads where they compute with texts, and larger pages of tables that have more rows than a page.
type declarations struct {
	// relations are by their table's name.
	relations map[*planner.Table][]*planner.ForeignKey
	// reads is the type of what a column's texts hold.
	reads map[*planner.Column]string
	// large are the tables that have more rows than a page.
	large []*planner.Table
}

// largePage is the most rows that an exposure may allow a page.
const largePage = 10000

// declare finds what the questions of a database want declared; nil if it is nothing.
func declare(ctx context.Context, s *source, schema *planner.Schema, jobs []*job) (*declarations, error) {
	var wanted planner.Wanted
	for _, j := range jobs {
		if tree, err := sqltree.Parse(j.SQL); err == nil {
			wanted.Add(schema, tree)
		}
	}
	d := &declarations{map[*planner.Table][]*planner.ForeignKey{}, map[*planner.Column]string{}, nil}
	for _, join := range wanted.Joins {
		if join.Column.Served == join.On.Served && join.Column.Affinity == join.On.Affinity {
			if err := d.relate(ctx, s, join); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range schema.Tables {
		for _, c := range t.Columns {
			if slices.Contains(wanted.Numbers, c) {
				d.read(s, t, c, slices.Contains(wanted.Texts, c))
			}
		}
	}
	for _, t := range s.tables {
		if served := schema.Table(t.name); served != nil && t.rows() > planner.PageSize {
			d.large = append(d.large, served)
		}
	}
	if len(d.relations)+len(d.reads)+len(d.large) == 0 {
		return nil, nil
	}
	return d, nil
}

// relate declares a relation, with a name that nothing else of its table has.
func (d *declarations) relate(ctx context.Context, s *source, join planner.Join) error {
	key := &planner.ForeignKey{Table: join.Table, Columns: []*planner.Column{join.Column}, References: join.To, Referenced: []*planner.Column{join.On}}
	own := &sourceKey{columns: []*sourceColumn{{name: join.Column.Name}}, references: &sourceTable{name: join.To.Name}, referenced: []*sourceColumn{{name: join.On.Name}}}
	if err := s.checkKey(ctx, &sourceTable{name: join.Table.Name}, own); err != nil {
		return err
	}
	key.Holds = own.holds
	taken := map[string]bool{}
	for _, c := range join.Table.Columns {
		taken[c.Name], taken[c.Field] = true, true
	}
	for _, other := range append(join.Table.ForeignKeys, d.relations[join.Table]...) {
		taken[other.Relation] = true
	}
	key.Relation = join.To.Model
	for taken[key.Relation] {
		key.Relation += "_row"
	}
	key.Reverse = join.Table.Model + "_by_" + key.Relation
	d.relations[join.Table] = append(d.relations[join.Table], key)
	return nil
}

// read declares what the texts of a column hold, if SQLite computes with each as the server does, or takes it for 0. If other questions
// compare them as texts, as their SQL does whatever they hold, that must be the order of the numbers.
func (d *declarations) read(s *source, t *planner.Table, c *planner.Column, compared bool) {
	held := s.table(t.Name).column(c.Name).numbers
	if held == nil || compared && !held.oneLength {
		return
	}
	d.reads[c] = held.reads
	c.Read, c.Others, c.OneLength = true, held.others, held.oneLength
}

// apply adds the declarations to models, and tells the planner's schema of them.
func (d *declarations) apply(schema *planner.Schema, models []contract.Model) {
	for i := range models {
		m := &models[i]
		for _, t := range schema.Tables {
			if t.Model != m.Name {
				continue
			}
			if slices.Contains(d.large, t) {
				t.PageSize, m.MaxPageSize = largePage, largePage
			}
			for _, key := range d.relations[t] {
				t.ForeignKeys = append(t.ForeignKeys, key)
				m.Relations = append(m.Relations, contract.Relation{Name: key.Relation, Columns: []string{key.Columns[0].Name}, Model: key.References.Model,
					References: []string{key.Referenced[0].Name}})
			}
			for _, c := range t.Columns {
				if d.reads[c] != "" {
					m.Overrides = readAs(m.Overrides, c.Name, d.reads[c])
				}
			}
		}
	}
}

// readAs adds to the overrides of a model what the texts of a column hold.
func readAs(overrides []contract.FieldOverride, column, reads string) []contract.FieldOverride {
	for i := range overrides {
		if overrides[i].Name == column {
			overrides[i].Reads = reads
			return overrides
		}
	}
	return append(overrides, contract.FieldOverride{Name: column, Reads: reads})
}
