// Package catalog joins the Config's models with the database's schema: which table a model is, which of its columns
// are visible under which names, how models relate. A catalog never changes once it is built.
//
// It knows nothing of tokens: package access says what one token may see of a model.
package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Catalog is every model of a Config, served or withheld.
type Catalog struct {
	// models are sorted by name, as in the Config.
	models []*Model
	byName map[string]*Model
	// schema is nil if it has not been seen yet.
	schema *database.Schema
	// registered are the models by their tables, byTable those that are served.
	registered, byTable map[*database.Table]*Model
	// pointing are the foreign keys that lead to each table.
	pointing map[*database.Table][]Dependent
	// withheld are the tables of exposures that the controllers did not accept.
	withheld map[*database.Table]bool
	readOnly bool
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
}

// Model is one table under the name that agents use.
type Model struct {
	// Declared is the Config's entry.
	Declared contract.Model
	catalog  *Catalog
	// Name is the model's name for callers.
	Name string
	// Operations are the tools that the exposure offers. For the audit table they are only those that show rows. Empty
	// means all that the table allows.
	Operations []string
	// Index is the model's place in the catalog.
	Index int
	// Module is the module in force, for permission rules.
	Module string
	// Status is what the server reports to the controllers. A model that is not Served has none of the fields below.
	Status contract.ModelStatus
	Table  *database.Table
	// Fields are the visible columns, in the table's order.
	Fields []*Field
	// Key are the columns of the key, in its order: the primary key, or the one that the exposure declares; empty if
	// there is none. UniqueKey reports whether the database guarantees that a key is never null and stands in one row
	// only. Without that guarantee there is no update, delete or cursor.
	Key       []*Field
	UniqueKey bool
	// Unfilled are the columns that a new row needs and no call can set. If there is any, no row can be created.
	Unfilled []*database.Column
	// KeyName is the member of a row that holds the whole key: "id", or "pk" if another column is called id. It is ""
	// if there is no key, or if the key is one column that is itself called id.
	KeyName string
	// Search are the search fields. Ordering is the order of a call that names none; it does not include the key.
	Search   []SearchField
	Ordering []Order
	// Relations are sorted by name. All lead to served models; whether a token may follow one, access says.
	Relations []*Relation
	// Display is the field whose value names a row for people ("Dune"); nil: the key does.
	Display *Field
	// Inlines are the exposure's, in its order.
	Inlines []*Inline
	// Actions are the declared ones, in the exposure's order, without delete_selected.
	Actions []*Action
	// Reports are the declared queries, in the exposure's order.
	Reports []*Report
	// Policies are the row policies; access says which match a token. If there is any, a token that matches none
	// sees no row.
	Policies []*Policy
	// Audits reports whether the table is the audit table, or the table of kept answers: both are read-only.
	Audits bool
	// Version is the field of optimistic concurrency; nil is none.
	Version *Field
	// missing says which operations the model lacks, and why.
	missing missingTools
	// fields and relations are the visible ones by their names.
	fields    map[string]*Field
	relations map[string]*Relation
	// all are the columns in the table's order, visible or not. columns are the same by their columns' and their
	// fields' names.
	all     []*Field
	columns map[string]*Field
}

// Field is a visible column.
type Field struct {
	// Name is the name in the API: the column's, or <relation>_id for a foreign key.
	Name   string
	Column *database.Column
	// PrimaryKey reports whether the column is part of the key, Unique whether no two rows have the same value.
	PrimaryKey, Unique bool
	// Masked reports whether callers see only **** and the last KeepLast characters of the value. A masked field may be
	// given to a new row and never changes then, and no filter, order, search or label uses it.
	Masked   bool
	KeepLast int
	// ReadOnly reports whether no call writes the field: because the exposure says so, or because it is generated or the
	// version.
	ReadOnly bool
	// Secret reports whether the column is named like a secret although it is shown. The audit never records its
	// values.
	Secret bool
	// Help is what the exposure or the column's comment says about it.
	Help string
	// Choices are the values that it may have: from the exposure, else from an enum, else from a check; empty is any.
	Choices []contract.Choice
	// Check is what the table's simple checks say of the column, joined into one; nil if they say nothing.
	Check *database.Check
	// relation is the name of the relation of a foreign key of this column alone; "" if there is none.
	relation string
}

// Inline is a model whose rows belong to one row of this model.
type Inline struct {
	Model *Model
	// Relation leads from this model to the inline's rows; its Theirs are the foreign key.
	Relation *Relation
	// Max is the most rows that one call shows or changes.
	Max int
}

// Policy is a row policy whose fields are found. A row must meet all of its Filters. AllRows has none.
type Policy struct {
	Declared contract.RowPolicy
	Filters  []RowFilter
}

// RowFilter is one filter of a policy or of an action's where: a condition that is the same for all tokens, one that takes a token's attribute,
// or several, of which a row must meet one.
type RowFilter struct {
	contract.Filter
	// AnyOf are the filters of which one must be met. If there are any, the rest is not set.
	AnyOf []RowFilter
	// Column is the column that is compared, hidden or not: this model's own, or that of the table to which Steps lead.
	Column *database.Column
	// Steps lead to another table, of which one row at least must meet the condition; empty for the model's own columns.
	Steps []FilterStep
	// Condition is the comparison if it takes no attribute; nil if it does.
	Condition database.Condition
}

// FilterStep leads from one table to rows of another, whose Theirs equal the first one's Ours.
type FilterStep struct {
	Table        *database.Table
	Ours, Theirs []*database.Column
}

// Action is a declared action whose fields are found.
type Action struct {
	contract.Action
	// Question is the confirmation's own message; nil if it has none that can be rendered.
	Question *confirmtext.Text
	// Set and Where are those of an update action.
	Set   []ActionAssignment
	Where []RowFilter
	// Statements are those of an sql action, cut at their parameters.
	Statements [][]sqlscan.Piece
}

// ActionAssignment sets a column: to Value, or to the named parameter, or to now.
type ActionAssignment struct {
	Field     *Field
	How       database.AssignHow
	Value     database.Value
	Parameter string
}

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

// Build joins a Config's models with a schema. If the schema is nil, it has not been read yet, and no model is served.
func Build(config *contract.Config, schema *database.Schema) *Catalog {
	schema = overrideTypes(config, schema)
	c := &Catalog{byName: make(map[string]*Model, len(config.Models)), schema: schema, readOnly: config.Endpoint.Database.ReadOnly}
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

// Catalog is the catalog that the model is part of.
func (m *Model) Catalog() *Catalog { return m.catalog }

// Served reports whether the model can be asked.
func (m *Model) Served() bool { return m.Status.Served() }

// Field returns the visible field of that API or column name, or nil.
func (m *Model) Field(name string) *Field { return m.fields[name] }

// Relation returns the relation of that name, or nil.
func (m *Model) Relation(name string) *Relation { return m.relations[name] }

// Dependents are the foreign keys that lead to a table, from registered tables and from others.
func (c *Catalog) Dependents(t *database.Table) []Dependent { return c.pointing[t] }

// ModelOf returns the served model of a table, or nil.
func (c *Catalog) ModelOf(t *database.Table) *Model { return c.byTable[t] }

// Withholds reports whether a table belongs to an exposure that is not served: nobody may see its rows.
func (c *Catalog) Withholds(t *database.Table) bool {
	return (c.registered[t] != nil || c.withheld[t]) && c.byTable[t] == nil
}

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

// ReadOnly reports whether the endpoint only reads its database.
func (c *Catalog) ReadOnly() bool { return c.readOnly }

// served are the models that are not withheld, or not yet.
func (c *Catalog) served() []*Model {
	return slices.DeleteFunc(slices.Clone(c.models), func(m *Model) bool { return m.Status.Reason != "" && !m.Served() })
}

// isUnderstood withholds a model that this server cannot serve as its exposure demands. Its table is known by then, and is
// withheld with it.
func (m *Model) isUnderstood() *problem {
	if missing := contract.Missing(m.Declared.Requires); len(missing) > 0 {
		return &problem{contract.ReasonNotUnderstood, fmt.Sprintf("this server is older than its manager, and does not understand %q; "+
			"remove spec.server.image, so that the endpoint has the manager's own server image", missing)}
	}
	return nil
}

// problem is why a model is withheld.
type problem struct{ reason, message string }

func (m *Model) withhold(p problem) {
	m.Status.Reason, m.Status.Message = p.reason, p.message
}

// note tells admins what a served model lacks, or what the server chose for it.
func (m *Model) note(format string, args ...any) {
	m.Status.Notes = append(m.Status.Notes, fmt.Sprintf(format, args...))
}

// noteOpenReference tells of a model that anybody may read whole, though its rows belong to rows that row policies guard. A
// policy that is for everyone, such as one that leaves out deleted rows, guards them from nobody in particular.
func (m *Model) noteOpenReference() {
	if len(m.Declared.RowPolicies) > 0 {
		return
	}
	for _, fk := range m.Table.ForeignKeys {
		target := m.catalog.byTable[fk.References]
		if target != nil && target != m && slices.ContainsFunc(target.Declared.RowPolicies, func(p contract.RowPolicy) bool { return !p.Everyone }) {
			m.note("%s has row policies, which do not guard the rows that refer to it by %s: a token that may view this model sees all of them. If they belong to %s, give this model a row policy along %s.",
				target.Name, joined(fk.Columns), target.Name, joined(fk.Columns))
		}
	}
}

// report says in the status what is served.
func (m *Model) report() {
	for _, f := range m.Fields {
		m.Status.Columns = append(m.Status.Columns, f.Column.Name)
		if f.Masked {
			m.Status.Masked = append(m.Status.Masked, f.Column.Name)
		}
		if f.ReadOnly {
			m.Status.ReadOnly = append(m.Status.ReadOnly, f.Column.Name)
		}
		if f.relation == "" && isForeignKey(m.Table, f.Column) {
			m.note("The foreign key %s has no relation, because the name it would have is taken. Name one in fields.overrides.", f.Column.Name)
		}
	}
	m.noteOpenReference()
	for _, f := range m.Key {
		m.Status.Key = append(m.Status.Key, f.Column.Name)
	}
	m.Status.Reason = contract.ReasonServed
}

// moduleOf is the module that is known without a schema.
func moduleOf(entry contract.Model) string {
	if entry.Module != "" {
		return entry.Module
	}
	return entry.Schema
}
