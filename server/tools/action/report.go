package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// The operation runs declared queries (docs/design/actions.md, "Reports").
var _ = call.WithArguments("report", call.Operation{
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Run a report about %s.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema {
		s := call.RowsSchema(call.Schema{Type: call.Types{"object"}}, "total_count")
		delete(s.Properties, "total_count")
		s.Properties["report"] = call.Schema{Type: call.Types{"string"}}
		return s
	},
	Advice: "answers a question that was prepared for you; actions names the reports and their parameters",
}, report, read.WithRowsForm(func(a *reportArguments) *read.RowsForm { return &a.RowsForm },
	call.Argument[reportArguments]{Name: "report", Into: func(a *reportArguments) any { return &a.report }, Required: call.Always,
		Hint: func(c *call.Call) string { return "you may run " + reportNames(c.Scope.Reports()) },
		Help: "its name, as actions has it", Names: func(s access.Scope) string {
			return call.NamesOf(": ", s.Reports(), reportSignature)
		}},
	call.Argument[reportArguments]{Name: "parameters", Into: func(a *reportArguments) any { return &a.parameters },
		Common: true, Help: "the report's parameters, by name"},
	call.Argument[reportArguments]{Name: "limit", Into: func(a *reportArguments) any { return &a.limit }, Schema: call.LimitSchema},
	call.Argument[reportArguments]{Name: "offset", Into: func(a *reportArguments) any { return &a.offset }},
)...)

type reportArguments struct {
	report        string
	parameters    json.RawMessage
	limit, offset call.Count
	read.RowsForm
}

// report answers {report, count, results}, or columns and rows instead of results.
func report(c *call.Call, a *reportArguments) ([]byte, error) {
	declared, err := findReport(c, a.report)
	if err != nil {
		return nil, err
	}
	given, err := parameterList{of: declared.Name, argument: "parameters", declared: declared.Parameters}.read(a.parameters)
	if err != nil {
		return nil, err
	}
	m := c.Scope.Model()
	export, err := a.Exporting(c, c.Scope, a.limit, false)
	if err != nil {
		return nil, err
	}
	if export != nil {
		text, err := export.Report(&database.Report{Statement: bindReport(c, declared, given), Offset: a.offset.Or(0)})
		return text, unfit(err)
	}
	var form database.Select
	if err := a.Apply(&form, c.Settings.MaxResultBytes); err != nil {
		return nil, err
	}
	plan := &database.Report{
		Statement: bindReport(c, declared, given), Form: form.Form, MaxBytes: form.MaxBytes, MaxValue: call.MaxListValue,
		Limit: min(a.limit.Or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize), Offset: a.offset.Or(0),
	}
	rows, reported, err := c.Reports.Report(c.Ctx, plan, nil)
	if err != nil {
		return nil, unfit(err)
	}
	c.Rows = reported.Count
	end := call.PageEnd{Things: "rows", Offset: plan.Offset, Count: reported.Count, More: reported.More, Cut: reported.Cut,
		Bytes: plan.MaxBytes, MostBytes: c.Settings.MaxResultBytes, Limit: plan.Limit, UsualLimit: m.Declared.DefaultPageSize, MostLimit: m.Declared.MaxPageSize}
	ends := end.Ending()
	if reported.Shortened {
		ends.Note("long values were cut, and say so at their end")
	}
	return answerReport(declared, plan, rows, reported, &ends)
}

// unfit turns the error of a report that names what is not there. The server does not write the query, so that reading the schema anew
// changes nothing about it.
func unfit(err error) error {
	failure := (*database.Error)(nil)
	if !errors.As(err, &failure) || failure.Code != database.Changed {
		return err
	}
	of := *failure
	of.Code = database.Unfit
	return &of
}

// TryReport has the database say whether it takes the query of a report. No row is read, and each parameter is NULL.
func TryReport(c *call.Call, declared *catalog.Report) error {
	_, _, err := c.Reports.Report(c.Ctx, &database.Report{Statement: bindReport(c, declared, parameters{}), OnlyPrepare: true}, nil)
	return err
}

// answerReport puts the answer around a report's rows.
func answerReport(declared *catalog.Report, plan *database.Report, rows []byte, reported database.Reported, end *call.Ending) ([]byte, error) {
	answer := call.AppendJSON([]byte(`{"report":`), declared.Name)
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
	return append(end.AppendTo(answer), '}'), nil
}

// findReport returns the report that is named, where a rule of the token names it.
func findReport(c *call.Call, name string) (*catalog.Report, error) {
	m, allowed := c.Scope.Model(), c.Scope.Reports()
	for _, r := range allowed {
		if r.Name == name {
			return r, nil
		}
	}
	if slices.ContainsFunc(m.Reports, func(r *catalog.Report) bool { return r.Name == name }) {
		return nil, call.Failf(call.CodePermissionDenied, "Permission denied: cannot run %s on %s; you may run %s", name, m.Name, reportNames(allowed))
	}
	return nil, call.Invalid("report: %s has no report %q; you may run %s", m.Name, name, reportNames(allowed))
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
func bindReport(c *call.Call, r *catalog.Report, given parameters) *database.Declared {
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
			bound.Values = []database.Value{c.Token.Caller()}
		case piece.Parameter == sqlscan.Groups:
			for _, group := range c.Token.Groups() {
				bound.Values = append(bound.Values, group)
			}
		case isAttribute:
			if value, there := c.Token.Attribute(attribute); there {
				bound.Values = []database.Value{value}
			}
		}
		statement.Pieces = append(statement.Pieces, bound)
	}
	return statement
}
