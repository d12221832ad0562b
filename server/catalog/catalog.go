// Package catalog joins the Config's models with the database's schema: which table a model is, which of its columns
// are visible under which names, how models relate. A catalog never changes once it is built.
//
// It knows nothing of tokens: package access says what one token may see of a model.
//
// What is above the database imports it: access, tools, snapshot, and the command that guesses models. Begin with Build.
package catalog

import (
	"cmp"
	"slices"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Catalog is every model of a Config, served or withheld.
type Catalog struct {
	// models are sorted by name, as in the Config.
	models []*Model
	byName map[string]*Model
	// schema is nil if it has not been seen yet.
	schema *database.Schema
	// registered are the models by their tables, byTable only the served ones.
	registered, byTable map[*database.Table]*Model
	// pointing are the foreign keys that lead to each table.
	pointing map[*database.Table][]Dependent
	// withheld are the tables of exposures that the controllers did not accept.
	withheld map[*database.Table]bool
	readOnly bool
	// approves is set if some calls wait until other people allow them.
	approves bool
	// names are used while the catalog is built.
	names Names
	// words finds the words of the models once.
	words func() []ModelWords
}

// Dependent is a foreign key that leads to a table. When a row of that table is deleted or gets another key, the rows
// of Table that point to it are deleted or changed too, or forbid it.
type Dependent struct {
	Table *database.Table
	Key   *database.ForeignKey
	// Model is the served model of Table; nil if there is none.
	Model *Model
	// Withheld reports whether Table belongs to an exposure that is not served: nobody has rights on its rows, and
	// nobody may see them.
	Withheld bool
	// Unreadable reports whether the database's user may not read the key's columns. Then nobody can find out which
	// rows depend.
	Unreadable bool
	// Hidden reports whether Model, or the model of the table that the key leads to, hides or masks one of the key's columns:
	// then no caller may find out which rows depend.
	Hidden bool
}

// Build joins a Config's models with a schema. If the schema is nil, it has not been read yet, and no model is served.
func Build(config *contract.Config, schema *database.Schema) *Catalog {
	schema = overrideTypes(config, schema)
	c := &Catalog{names: Names{}, byName: make(map[string]*Model, len(config.Models)), schema: schema, readOnly: config.Endpoint.Database.ReadOnly || schema != nil && schema.ReadOnly != "", approves: len(config.Endpoint.Approvals) > 0}
	c.words = sync.OnceValue(c.findWords)
	for i, entry := range config.Models {
		m := &Model{Declared: entry, Name: entry.Name, Operations: entry.Operations, catalog: c, Index: i, Module: moduleOf(entry)}
		m.Status = contract.ModelStatus{Exposure: entry.Exposure, UID: entry.UID, Name: entry.Name}
		c.models = append(c.models, m)
		c.byName[m.Name] = m
	}
	if schema == nil {
		for _, m := range c.models {
			m.withhold(problem{contract.ReasonSchemaUnknown, "the database's schema has not been read yet"})
		}
		return c
	}
	c.resolveTables(schema)
	c.each((*Model).isUnderstood)
	c.withheld = map[*database.Table]bool{}
	for _, t := range config.Endpoint.WithheldTables {
		table := findTable(schema, t.Schema, t.Name)
		if i := slices.IndexFunc(schema.Outside, func(o *database.Table) bool { return o.Schema == t.Schema && o.Name == t.Name }); table == nil && i >= 0 {
			table = schema.Outside[i]
		}
		if table != nil {
			c.withheld[table] = true
		}
	}
	c.each((*Model).resolveFields)
	c.each(c.resolveLinks)
	c.each(func(m *Model) *problem { return c.resolvePolicies(m) })
	c.each(func(m *Model) *problem { return c.resolveActions(m) })
	c.each((*Model).resolveReports)
	// Lists may go through relations, and relations lead to served models only. If a model is withheld because of its
	// lists, the relations to it go too, which may withhold another model.
	for settled := false; !settled; {
		c.relate()
		settled = c.each(func(m *Model) *problem { return cmp.Or(m.resolveLists(), c.resolveInlines(m)) })
	}
	c.findDependents()
	for _, m := range c.served() {
		m.Output = m.output()
		m.findMissing()
		m.report()
	}
	return c
}

// each resolves something of every model that is not withheld. A model with a problem is withheld from then on. It
// reports whether there was no problem.
func (c *Catalog) each(resolve func(*Model) *problem) bool {
	none := true
	for _, m := range c.served() {
		if p := resolve(m); p != nil {
			m.withhold(*p)
			none = false
		}
	}
	return none
}

// Models returns all models by name, withheld ones too.
func (c *Catalog) Models() []*Model { return c.models }

// Model returns the model of that name, or nil.
func (c *Catalog) Model(name string) *Model { return c.byName[name] }

// Dependents are the foreign keys that lead to a table, from registered tables and from others.
func (c *Catalog) Dependents(t *database.Table) []Dependent { return c.pointing[t] }

// ModelOf returns the served model of a table, or nil.
func (c *Catalog) ModelOf(t *database.Table) *Model { return c.byTable[t] }

// Withholds reports whether a table belongs to an exposure that is not served: nobody may see its rows.
func (c *Catalog) Withholds(t *database.Table) bool {
	return (c.registered[t] != nil || c.withheld[t]) && c.byTable[t] == nil
}

// Approves reports whether some calls wait until other people allow them.
func (c *Catalog) Approves() bool { return c.approves }

// Audit is the table of the audit; nil if there is none that can be used.
func (c *Catalog) Audit() *database.Table {
	if c.schema == nil {
		return nil
	}
	return c.schema.Audit
}

// AuditProblem says why the audit table that the Config names cannot be used; "" if it can, or if the Config names
// none. While there is a problem nothing is written: a change that cannot be recorded is refused.
func (c *Catalog) AuditProblem() string {
	if c.schema == nil {
		return ""
	}
	return c.schema.AuditProblem
}

// Idempotency is the table of kept answers; nil if there is none that can be used, and then IdempotencyProblem says why, if
// the Config names one.
func (c *Catalog) Idempotency() *database.Table {
	if c.schema == nil {
		return nil
	}
	return c.schema.Idempotency
}

// IdempotencyProblem says why the table of kept answers that the Config names cannot be used; "" if it can, or if the Config
// names none.
func (c *Catalog) IdempotencyProblem() string {
	if c.schema == nil {
		return ""
	}
	return c.schema.IdempotencyProblem
}

// NeverWrites reports whether nothing in the database can be written, whatever the endpoint's settings say.
func (c *Catalog) NeverWrites() bool { return c.schema != nil && c.schema.ReadOnly != "" }

// ReadOnly reports whether the endpoint only reads its database.
func (c *Catalog) ReadOnly() bool { return c.readOnly }

// served are the models that are not withheld, or not yet.
func (c *Catalog) served() []*Model {
	return slices.DeleteFunc(slices.Clone(c.models), func(m *Model) bool { return m.Status.Reason != "" && !m.Served() })
}
