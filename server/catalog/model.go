package catalog

import (
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Model is one table under the name that agents use.
type Model struct {
	// Declared is the Config's entry.
	Declared contract.Model
	catalog  *Catalog
	// Name is the model's name for callers.
	Name string
	// Operations are the tools that the exposure offers. For the audit table they are only the ones that show rows. Empty
	// means all that the table allows.
	Operations []string
	// Index is the model's place in the catalog.
	Index int
	// Module is the module in force, for permission rules.
	Module string
	// Status is the server's report to the controllers. A model that is not Served has none of the fields below.
	Status contract.ModelStatus
	Table  *database.Table
	// Fields are the visible columns, in the table's order. Output are the members of a row that shows them all: the whole key
	// under KeyName, and then the fields.
	Fields []*Field
	Output []database.Output
	// ByColumn are the Fields in the order of their columns' names.
	ByColumn []*Field
	// Key are the columns of the key, in its order: the primary key, or the exposure's declared key; empty if there is
	// none. UniqueKey reports whether the database guarantees that a key is never null and stands in one row only. Without
	// that guarantee there is no update, delete or cursor.
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
	// TextIndex is the full-text index that search uses; nil if it looks for pieces of texts.
	TextIndex *database.TextIndex
	// Vectors are the visible columns of vectors, which are not among the Fields.
	Vectors []*Field
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
	// links are the relations that the exposure declares.
	links []*link
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
	// Reading is the field as conditions, orders, groups and measures take it, if its texts hold something else, or if its integers
	// are codes; nil if neither. Stored is the field itself in such a Reading, and nil elsewhere.
	Reading, Stored *Field
	// PrimaryKey reports whether the column is part of the key, Unique whether no two rows have the same value.
	PrimaryKey, Unique bool
	// Masked reports whether callers see only **** and the last KeepLast characters of the value. A masked field may be
	// given to a new row and never changes then, and no filter, order, search or label uses it.
	Masked   bool
	KeepLast int
	// ReadOnly reports whether no call writes the field: because the exposure says so, or because it is generated or the
	// version.
	ReadOnly bool
	// Restorable reports whether undo sets the field again although it is ReadOnly, in a row that was deleted.
	Restorable bool
	// Secret reports whether the column is named like a secret although it is shown. The audit never records its
	// values.
	Secret bool
	// Help is the exposure's text or the column's comment about it.
	Help string
	// Synonyms are other words for it.
	Synonyms []string
	// Choices are the values that it may have: from the exposure, else from an enum, else from a check; empty is any.
	Choices []contract.Choice
	// Examples reports whether describe_ shows the field's values if there are few.
	Examples bool
	// Check has the table's simple checks of the column, joined into one; nil if there are none.
	Check *database.Check
	// relation is the name of the relation of a foreign key of this column alone; "" if there is none.
	relation string
}

// Catalog is the catalog that the model is part of.
func (m *Model) Catalog() *Catalog { return m.catalog }

// Served reports whether the model can be asked.
func (m *Model) Served() bool { return m.Status.Served() }

// Description is the exposure's description, or else the table's comment.
func (m *Model) Description() string {
	if m.Declared.Description == "" {
		return m.Table.Comment
	}
	return m.Declared.Description
}

// Field returns the visible field of that API or column name, or nil.
func (m *Model) Field(name string) *Field { return m.fields[name] }

// Relation returns the relation of that name, or nil.
func (m *Model) Relation(name string) *Relation { return m.relations[name] }

// isUnderstood withholds a model that this server cannot serve as its exposure demands. Its table is known by then, and is
// withheld with it.
func (m *Model) isUnderstood() *problem {
	if missing := contract.Missing(m.Declared.Requires); len(missing) > 0 {
		return &problem{contract.ReasonNotUnderstood, fmt.Sprintf("this server is older than its manager, and does not understand %q; "+
			"remove spec.server.image, so that the endpoint has the manager's own server image", missing)}
	}
	return nil
}

// output makes Output.
func (m *Model) output() []database.Output {
	output := make([]database.Output, 0, len(m.Fields)+1)
	if m.KeyName != "" {
		output = append(output, m.KeyOutput(m.KeyName))
	}
	for _, f := range m.Fields {
		output = append(output, f.Output())
	}
	return slices.Clip(output)
}

// KeyOutput is the member of a row that holds the whole key, under a name.
func (m *Model) KeyOutput(name string) database.Output {
	columns := make([]*database.Column, len(m.Key))
	for i, f := range m.Key {
		columns[i] = f.Column
	}
	return database.Output{Name: name, Columns: columns, Composite: len(columns) > 1}
}

// HoldsCodes reports whether the field is the Reading of integers that are codes.
func (f *Field) HoldsCodes() bool { return f.Stored != nil && f.Column.Kind == database.Text }

// Output is the member of a row that shows the field.
func (f *Field) Output() database.Output {
	return database.Output{Name: f.Name, Columns: []*database.Column{f.Column}, Mask: f.Masked, KeepLast: f.KeepLast}
}

// Compared is the field as calls compare it and compute with it.
func (f *Field) Compared() *Field {
	if f.Reading != nil {
		return f.Reading
	}
	return f
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

// noteOpenReference adds a note about a model that anybody may read whole, though its rows belong to rows that row policies
// guard. A policy that is for everyone, such as one that leaves out deleted rows, guards them from nobody in particular.
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
	for _, l := range m.links {
		if l.why != "" {
			m.noteLink(l, l.why)
		}
	}
	m.suggestLinks()
	m.noteOpenReference()
	for _, f := range m.Key {
		m.Status.Key = append(m.Status.Key, f.Column.Name)
	}
	m.Status.ForeignKeys = m.foreignKeys()
	m.Status.Reason = contract.ReasonServed
}

// foreignKeys are the table's, as far as callers may know of them: from visible columns to those of another served model.
func (m *Model) foreignKeys() []contract.ForeignKeyStatus {
	var told []contract.ForeignKeyStatus
	for _, fk := range m.Table.ForeignKeys {
		target := m.catalog.byTable[fk.References]
		if target == nil || !m.shows(fk.Columns) || !target.shows(fk.ReferencedColumns) {
			continue
		}
		key := contract.ForeignKeyStatus{Model: target.Name}
		for _, c := range fk.Columns {
			key.Columns = append(key.Columns, c.Name)
		}
		told = append(told, key)
	}
	return told
}

// moduleOf is the module that is known without a schema.
func moduleOf(entry contract.Model) string {
	if entry.Module != "" {
		return entry.Module
	}
	return entry.Schema
}
