package catalog

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Action is a declared action whose fields are found.
type Action struct {
	contract.Action
	// Question is the confirmation's own message; nil if it has none that can be rendered.
	Question *confirmtext.Text
	// Set and Where belong to an update action.
	Set   []ActionAssignment
	Where []RowFilter
	// Statements are the statements of an sql action, cut at their parameters.
	Statements [][]sqlscan.Piece
}

// ActionAssignment sets a column: to Value, or to the named parameter, or to now.
type ActionAssignment struct {
	Field     *Field
	How       database.AssignHow
	Value     database.Value
	Parameter string
}

// ParameterKinds are the kinds that values of a parameter's type have, by the type.
var ParameterKinds = map[string]database.Kind{
	contract.TypeString: database.Text, contract.TypeInteger: database.Integer, contract.TypeDecimal: database.Decimal,
	contract.TypeBoolean: database.Boolean, contract.TypeDate: database.Date, contract.TypeDateTime: database.TimestampTZ,
}

// fitting are the kinds of columns that a parameter of each type can be stored in.
var fitting = map[string][]database.Kind{
	contract.TypeString:   {database.Text, database.Enum, database.UUID, database.Time, database.Interval, database.Bytes, database.Other},
	contract.TypeInteger:  {database.Integer, database.Decimal, database.Float},
	contract.TypeDecimal:  {database.Decimal, database.Float},
	contract.TypeBoolean:  {database.Boolean},
	contract.TypeDate:     {database.Date},
	contract.TypeDateTime: {database.Timestamp, database.TimestampTZ},
}

// resolveActions finds the fields of declared actions and compiles what they compare and set.
func (c *Catalog) resolveActions(m *Model) *problem {
	for _, declared := range m.Declared.Actions {
		a := &Action{Action: declared}
		list := "actions " + a.Name
		if a.Confirm != nil {
			a.Question, _ = confirmtext.Parse(a.Confirm.Message) // The API refuses what cannot be rendered; here the standard question is used.
		}
		p := checkParameters(list, a.Parameters)
		switch {
		case p != nil:
		case a.Update != nil:
			p = c.resolveUpdate(m, list, a)
		case a.SQL != nil:
			p = m.resolveSQL(list, a)
		}
		if p != nil {
			return p
		}
		m.Actions = append(m.Actions, a)
	}
	return nil
}

// checkParameters refuses parameters that are declared twice or have no known type, and choices that are not of that
// type.
func checkParameters(list string, parameters []contract.Parameter) *problem {
	for i, d := range parameters {
		if slices.ContainsFunc(parameters[:i], func(other contract.Parameter) bool { return other.Name == d.Name }) {
			return notAllowed("%s: the parameter %s is declared twice", list, d.Name)
		}
		kind, known := ParameterKinds[d.Type]
		if !known {
			return notAllowed("%s: the parameter %s has no known type", list, d.Name)
		}
		for _, choice := range d.Choices {
			if _, err := lookup.ParseText(&database.Column{Kind: kind}, choice.Value); err != nil {
				return notAllowed("%s: the choice %q of %s %s", list, choice.Value, d.Name, err)
			}
		}
	}
	return nil
}

// resolveUpdate finds the columns of an update action. They may be hidden: the administrator names them.
func (c *Catalog) resolveUpdate(m *Model, list string, a *Action) *problem {
	for _, set := range a.Update.Set {
		f := m.columns[set.Field]
		switch {
		case f == nil:
			return fieldNotFound(list, set.Field, m.Table, m.all)
		case f.PrimaryKey:
			return notAllowed("%s: %s is part of the key, which cannot be changed", list, set.Field)
		case f.Column.Generated:
			return notAllowed("%s: %s is computed by the database", list, set.Field)
		case f == m.Version:
			return notAllowed("%s: %s is the versionField, which the server moves with every write", list, set.Field)
		case slices.ContainsFunc(a.Set, func(other ActionAssignment) bool { return other.Field == f }):
			return notAllowed("%s: %s is set twice", list, set.Field)
		}
		assignment, p := a.assignment(list, f, set)
		if p != nil {
			return p
		}
		a.Set = append(a.Set, assignment)
	}
	for _, filter := range a.Update.Where {
		f, p := c.rowFilter(m, list, filter)
		if p == nil {
			p = f.withoutAttributes(list)
		}
		if p != nil {
			return p
		}
		a.Where = append(a.Where, f)
	}
	return nil
}

// withoutAttributes refuses a filter that takes an attribute of the token.
func (f *RowFilter) withoutAttributes(list string) *problem {
	if f.TokenAttribute != "" {
		return notAllowed("%s: the filter of %s: tokenAttribute belongs to row policies", list, f.Field)
	}
	for i := range f.AnyOf {
		if p := f.AnyOf[i].withoutAttributes(list); p != nil {
			return p
		}
	}
	return nil
}

// assignment compiles what an update action sets one field to.
func (a *Action) assignment(list string, f *Field, set contract.ActionAssignment) (ActionAssignment, *problem) {
	assignment := ActionAssignment{Field: f}
	kind := f.Column.Kind
	switch set.Source {
	case contract.SourceValue:
		value, err := lookup.ParseStoredText(f.Column, set.Value)
		if err != nil {
			return assignment, notAllowed("%s: the value of %s %s", list, set.Field, err)
		}
		assignment.Value = value
	case contract.SourceNull:
		if !f.Column.Nullable {
			return assignment, notAllowed("%s: %s must not be null", list, set.Field)
		}
	case contract.SourceNow:
		if !slices.Contains([]database.Kind{database.Date, database.Time, database.Timestamp, database.TimestampTZ}, kind) {
			return assignment, notAllowed("%s: %s is %s, which now is none of", list, set.Field, kind)
		}
		assignment.How = database.AssignNow
	case contract.SourceParameter:
		i := slices.IndexFunc(a.Parameters, func(d contract.Parameter) bool { return d.Name == set.Parameter })
		if i < 0 {
			return assignment, notAllowed("%s: %s is set to the parameter %s, which is not declared", list, set.Field, set.Parameter)
		}
		if d := a.Parameters[i]; !slices.Contains(fitting[d.Type], kind) {
			return assignment, notAllowed("%s: the parameter %s is of type %s, and %s is %s", list, d.Name, d.Type, set.Field, kind)
		}
		assignment.Parameter = set.Parameter
	default:
		return assignment, notAllowed("%s: %s has no known source", list, set.Field)
	}
	return assignment, nil
}

// resolveSQL cuts the statements of an sql action. Its ids are bound as a list, so the key must be one column.
func (m *Model) resolveSQL(list string, a *Action) *problem {
	if len(m.Key) != 1 {
		return notAllowed("%s: an sql action needs a key of one column, and that of %s has %d", list, m.Table, len(m.Key))
	}
	names := make([]string, len(a.Parameters))
	for i, d := range a.Parameters {
		names[i] = d.Name
	}
	statements := a.SQL.All()
	var at int
	var err error
	switch a.Statements, at, err = sqlscan.ScanAll(statements, names); {
	case err == nil:
		return nil
	case len(statements) == 1:
		return notAllowed("%s: the statement %s", list, err)
	}
	return notAllowed("%s: statement %d of %d %s", list, at+1, len(statements), err)
}
