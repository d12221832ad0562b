package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The operation runs declared queries (docs/design/actions.md, "Reports").
var _ = withArguments("report", operation{
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Run a report about %s.", many(m))
	},
	outputSchema: func(*catalog.Model) schema {
		s := rowsSchema(schema{Type: types{"object"}}, "total_count")
		delete(s.Properties, "total_count")
		s.Properties["report"] = schema{Type: types{"string"}}
		return s
	},
	advice: "answers a question that was prepared for you; actions names the reports and their parameters",
}, (*call).report, withRowsForm(func(a *reportArguments) *rowsForm { return &a.rowsForm },
	argument[reportArguments]{name: "report", into: func(a *reportArguments) any { return &a.report }, required: always,
		hint: func(c *call) string { return "you may run " + reportNames(c.scope.Reports()) },
		help: "its name, as actions has it", names: func(s access.Scope) string {
			return namesOf(": ", s.Reports(), reportSignature)
		}},
	argument[reportArguments]{name: "parameters", into: func(a *reportArguments) any { return &a.parameters },
		common: true, help: "the report's parameters, by name"},
	argument[reportArguments]{name: "limit", into: func(a *reportArguments) any { return &a.limit }, schema: limitSchema},
	argument[reportArguments]{name: "offset", into: func(a *reportArguments) any { return &a.offset }},
)...)

type reportArguments struct {
	report        string
	parameters    json.RawMessage
	limit, offset count
	rowsForm
}

// hasReports reports whether the model has any report.
func hasReports(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Reports) > 0 }

// mayReport reports whether the token may run any of them.
func mayReport(_ *catalog.Catalog, s access.Scope) bool { return len(s.Reports()) > 0 }

// reporter answers reports: a database, but no transaction, as a report has one of its own.
type reporter interface {
	Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error)
}

// report answers {report, count, results}, or columns and rows instead of results.
func (c *call) report(a *reportArguments) ([]byte, error) {
	declared, err := c.findReport(a.report)
	if err != nil {
		return nil, err
	}
	given, err := parameterList{of: declared.Name, argument: "parameters", declared: declared.Parameters}.read(a.parameters)
	if err != nil {
		return nil, err
	}
	m := c.scope.Model()
	var form database.Select
	if err := a.apply(&form, c.settings.MaxResultBytes); err != nil {
		return nil, err
	}
	plan := &database.Report{
		Statement: c.bindReport(declared, given), Form: form.Form, MaxBytes: form.MaxBytes, MaxValue: maxListValue,
		Limit: min(a.limit.or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize), Offset: a.offset.or(0),
	}
	rows, reported, err := c.reports.Report(c.ctx, plan, nil)
	if err != nil {
		return nil, err
	}
	end := pageEnd{things: "rows", offset: plan.Offset, count: reported.Count, more: reported.More, cut: reported.Cut,
		bytes: plan.MaxBytes, mostBytes: c.settings.MaxResultBytes, limit: plan.Limit, usualLimit: m.Declared.DefaultPageSize, mostLimit: m.Declared.MaxPageSize}
	ends := end.ending()
	if reported.Shortened {
		ends.note("long values were cut, and say so at their end")
	}
	return answerReport(declared, plan, rows, reported, &ends)
}

// answerReport puts the answer around a report's rows.
func answerReport(declared *catalog.Report, plan *database.Report, rows []byte, reported database.Reported, end *ending) ([]byte, error) {
	answer := appendJSON([]byte(`{"report":`), declared.Name)
	answer = fmt.Appendf(answer, `,"count":%d`, reported.Count)
	if plan.Form == database.RowArrays {
		columns, err := json.Marshal(reported.Columns)
		if err != nil {
			return nil, err
		}
		answer = append(append(append(answer, `,"columns":`...), columns...), `,"rows":[`...)
	} else {
		answer = append(answer, `,"results":[`...)
	}
	answer = append(append(answer, rows...), ']')
	return append(end.appendTo(answer), '}'), nil
}

// findReport returns the report that is named, where a rule of the token names it.
func (c *call) findReport(name string) (*catalog.Report, error) {
	m, allowed := c.scope.Model(), c.scope.Reports()
	for _, r := range allowed {
		if r.Name == name {
			return r, nil
		}
	}
	if slices.ContainsFunc(m.Reports, func(r *catalog.Report) bool { return r.Name == name }) {
		return nil, failf(CodePermissionDenied, "Permission denied: cannot run %s on %s; you may run %s", name, m.Name, reportNames(allowed))
	}
	return nil, invalid("report: %s has no report %q; you may run %s", m.Name, name, reportNames(allowed))
}

func reportNames(reports []*catalog.Report) string {
	if len(reports) == 0 {
		return "none"
	}
	names := make([]string, len(reports))
	for i, r := range reports {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}

// reportSignature is a report and its parameters, for a list of tools.
func reportSignature(r *catalog.Report) string {
	parameters := make([]string, len(r.Parameters))
	for i, p := range r.Parameters {
		if parameters[i] = p.Name + " " + strings.ToLower(p.Type); !p.Required {
			parameters[i] += "?"
		}
	}
	return r.Name + "(" + strings.Join(parameters, ", ") + ")"
}

// bindReport puts values in the place of the query's parameters. What was left out, and what the caller does not have, is
// NULL.
func (c *call) bindReport(r *catalog.Report, given parameters) *database.Declared {
	kinds := map[string]database.Kind{}
	for _, p := range r.Parameters {
		kinds[p.Name] = catalog.ParameterKinds[p.Type]
	}
	statement := &database.Declared{}
	for _, piece := range r.Query {
		bound := database.Piece{SQL: piece.SQL, Bound: piece.Parameter != "", Kind: database.Text}
		kind, declared := kinds[piece.Parameter]
		attribute, isAttribute := strings.CutPrefix(piece.Parameter, sqlscan.AttributePrefix)
		switch {
		case !bound.Bound:
		case declared:
			bound.Kind, bound.Values = kind, []database.Value{given.values[piece.Parameter]}
		case piece.Parameter == sqlscan.Token:
			bound.Values = []database.Value{c.token.Caller()}
		case piece.Parameter == sqlscan.Groups:
			for _, group := range c.token.Groups() {
				bound.Values = append(bound.Values, group)
			}
		case isAttribute:
			if value, there := c.token.Attribute(attribute); there {
				bound.Values = []database.Value{value}
			}
		}
		statement.Pieces = append(statement.Pieces, bound)
	}
	return statement
}
