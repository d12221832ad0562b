// Package catalog joins the Config's models with the database's schema: which table a model is, which of its columns
// are visible under which names, how models relate. What it makes is never changed afterwards.
//
// It knows nothing of tokens: what one token may see of a model, package access says.
package catalog

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Catalog is every model of a Config, served or withheld.
type Catalog struct {
	// models are sorted by name, as in the Config.
	models []*Model
	byName map[string]*Model
}

// Model is one table under the name that agents use.
type Model struct {
	contract.Model
	// Index is the model's place in the catalog.
	Index int
	// Module is the module in force, for permission rules.
	Module string
	// Status is what the controllers are told. A model that is not Served has nothing of what follows.
	Status contract.ModelStatus
	Table  *database.Table
	// Fields are the visible columns, in the table's order.
	Fields []*Field
	// Key are the columns of the primary key, in its order; empty where there is none.
	Key []*Field
	// KeyName is the member of a row that holds the whole key: "id", or "pk" where a column of another meaning is
	// called id. It is "" where there is no key, or where the key is one column that is called id itself.
	KeyName string
	// Search are the search fields, Ordering the order where a call names none (without the key).
	Search   []SearchField
	Ordering []Order
	// Relations are sorted by name. All lead to served models; whether a token may follow one, access says.
	Relations []*Relation
	fields    map[string]*Field
	relations map[string]*Relation
}

// Field is a visible column.
type Field struct {
	// Name is the name in the API: the column's, or <relation>_id for a foreign key.
	Name   string
	Column *database.Column
	// PrimaryKey is whether the column is of the key, Unique whether its value is in one row only.
	PrimaryKey, Unique bool
}

// Relation leads from a model to rows of another.
type Relation struct {
	Name   string
	Target *Model
	// Many is whether there may be several rows at the other end: the relation then is the reverse of a foreign key.
	Many bool
	// Ours are this model's columns and Theirs the target's, equal pair by pair where rows are related.
	Ours, Theirs []*database.Column
}

// SearchOp is how a search field is compared with a word.
type SearchOp = database.TextOp

// SearchField is a text column that `search` looks in, of this model or of one that a relation leads to.
type SearchField struct {
	// Text is the field as the exposure has it, or its name.
	Text string
	Op   SearchOp
	// Relation is nil for a field of the model itself.
	Relation *Relation
	Field    *Field
}

// Order is one step of an ordering.
type Order struct {
	Field      *Field
	Descending bool
}

// Build joins a Config's models with a schema. With a nil schema, which has not been seen yet, no model is served.
func Build(config *contract.Config, schema *database.Schema) *Catalog {
	c := &Catalog{byName: make(map[string]*Model, len(config.Models))}
	for i, entry := range config.Models {
		m := &Model{Model: entry, Index: i, Module: moduleOf(entry)}
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
	for _, m := range c.served() {
		if p := m.resolveFields(); p != nil {
			m.withhold(*p)
		}
	}
	// Lists may go through relations, and relations lead to served models only: a model that is withheld for its
	// lists takes the relations to it away, which may withhold another.
	for settled := false; !settled; {
		settled = true
		c.relate()
		for _, m := range c.served() {
			if p := m.resolveLists(); p != nil {
				m.withhold(*p)
				settled = false
			}
		}
	}
	for _, m := range c.served() {
		m.report()
	}
	return c
}

// Models returns all models by name, withheld ones too.
func (c *Catalog) Models() []*Model { return c.models }

// Model returns the model of that name, or nil.
func (c *Catalog) Model(name string) *Model { return c.byName[name] }

// Served is whether the model can be asked.
func (m *Model) Served() bool { return m.Status.Served() }

// Field returns the visible field of that API or column name, or nil.
func (m *Model) Field(name string) *Field { return m.fields[name] }

// Relation returns the relation of that name, or nil.
func (m *Model) Relation(name string) *Relation { return m.relations[name] }

func (c *Catalog) served() []*Model {
	return slices.DeleteFunc(slices.Clone(c.models), func(m *Model) bool { return m.Status.Reason != "" && !m.Served() })
}

// problem is why a model is withheld.
type problem struct{ reason, message string }

func (m *Model) withhold(p problem) {
	m.Status.Reason, m.Status.Message = p.reason, p.message
}

// report says in the status what is served.
func (m *Model) report() {
	m.Status.Reason = contract.ReasonServed
	for _, f := range m.Fields {
		m.Status.Columns = append(m.Status.Columns, f.Column.Name)
	}
	for _, f := range m.Key {
		m.Status.Key = append(m.Status.Key, f.Column.Name)
	}
}

// moduleOf is the module that is known without a schema.
func moduleOf(entry contract.Model) string {
	if entry.Module != "" {
		return entry.Module
	}
	return entry.Schema
}
