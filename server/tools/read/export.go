package read

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The argument export has the rows of list_, aggregate_, related_ and report_ leave the endpoint as a file (docs/design/exports.md,
// "Exports"). The call that has it counts the rows and answers with a link. Who fetches the link has the same call run again, with the
// token's rights of then, and its rows streamed: both go through the code below, and differ only in Call.Fetch.

// exportTime is how long the fetching of an export may take.
const exportTime = 5 * time.Minute

// maxExportValue is the most bytes of one value in an export: a row is in memory as a whole.
const maxExportValue = 16 << 20

// AdmitExports judges the call as a step: it has no export.
func AdmitExports(c *call.Call) error {
	if _, sent := c.Given.Find(call.ExportArgument); sent {
		return call.Invalid("%s is not for steps: a link cannot be undone; call %s by itself", call.ExportArgument, c.Op.Name)
	}
	return nil
}

// Export exports the rows of a call.
type Export struct {
	call *call.Call
	form *RowsForm
	// limit is the call's own.
	limit call.Count
}

// Exporting judges whether the call may ask for an export of rows of a scope, and how it asks. cursor is set if it goes on with a
// page. It returns nil if the call asks for no export.
func (f *RowsForm) Exporting(c *call.Call, scope access.Scope, limit call.Count, cursor bool) (*Export, error) {
	switch {
	case f.export == "":
		return nil, nil
	case c.IsPart:
		return nil, AdmitExports(c)
	case !scope.Has(access.View | access.Export):
		return nil, c.PermissionDenied(call.ExportArgument, scope.Model())
	case f.export != call.ExportCSV && f.export != call.ExportNDJSON:
		return nil, call.Invalid("%s must be %q or %q, or left out, not %q", call.ExportArgument, call.ExportCSV, call.ExportNDJSON, f.export)
	case f.format != "":
		return nil, call.Invalid("%s and format do not go together: leave format out, as %s is the format of the file", call.ExportArgument, call.ExportArgument)
	case f.maxBytes.Sent:
		return nil, call.Invalid("%s and max_bytes do not go together: leave max_bytes out, as a file is never cut off", call.ExportArgument)
	case cursor:
		return nil, call.Invalid("%s and cursor do not go together: leave cursor out for all rows, or send offset", call.ExportArgument)
	case c.Settings.ExportProblem != "":
		return nil, call.Failf(call.CodeUnavailable, "%s: nothing can be exported here: %s", call.ExportArgument, c.Settings.ExportProblem)
	}
	return &Export{call: c, form: f, limit: limit}, nil
}

// most is the most rows that the file may have. capped is set if it is not the call that says so: more rows are then an error.
func (e *Export) most() (rows int, capped bool) {
	most := e.call.Settings.MaxExportRows
	if e.limit.Sent && e.limit.N <= most {
		return e.limit.N, false
	}
	return most, true
}

// Page answers the call with a link, or writes the file if the link is fetched. The plan has all rows that the call means.
func (e *Export) Page(plan *database.Select) ([]byte, error) {
	if err := e.mayShow(plan); err != nil {
		return nil, err
	}
	if e.call.Fetch == nil {
		return e.ask(func() (int, error) { return e.count(plan) })
	}
	if err := e.call.Fetch.Claim(); err != nil {
		return nil, err
	}
	file := newRowFile(e.form.export, e.call.Fetch.To)
	stream := e.stream(file)
	whole := *plan
	whole.Limit, _ = e.most()
	whole.More, whole.Total, whole.Cursor, whole.MaxBytes, whole.MaxValue = true, database.TotalNone, nil, 0, maxExportValue
	whole.Form, whole.Stream = file.form(), stream
	if err := e.begin(file, whole.ColumnNames()); err != nil {
		return nil, unwritten(err)
	}
	_, page, err := e.call.DB.Select(e.call.Ctx, &whole, nil)
	return nil, e.ended(stream, page, err)
}

// Report is Page for a report, whose members are known only when it runs.
func (e *Export) Report(report *database.Report) ([]byte, error) {
	if e.call.Fetch == nil {
		return e.ask(func() (int, error) { return e.countReport(report) })
	}
	if err := e.call.Fetch.Claim(); err != nil {
		return nil, err
	}
	file := newRowFile(e.form.export, e.call.Fetch.To)
	stream := e.stream(file)
	begun, row := false, stream.Row
	stream.Row = func(members []database.Output, text []byte) error {
		if !begun {
			begun = true
			if err := e.begin(file, (&database.Select{Output: members}).ColumnNames()); err != nil {
				return err
			}
		}
		return row(members, text)
	}
	whole := *report
	whole.Limit, _ = e.most()
	whole.Form, whole.MaxBytes, whole.MaxValue, whole.Stream = file.form(), 0, maxExportValue, stream
	_, reported, err := e.call.Reports.Report(e.call.Ctx, &whole, nil)
	if err == nil && !begun {
		if err := e.begin(file, reported.Columns); err != nil {
			return nil, unwritten(err)
		}
	}
	return nil, e.ended(stream, reported.Page, err)
}

// ask answers the call with a link to so many rows.
func (e *Export) ask(count func() (int, error)) ([]byte, error) {
	rows, err := count()
	if err != nil {
		return nil, err
	}
	if most, capped := e.most(); capped && rows > most {
		return nil, call.Failf(call.CodeTooLarge, "%s: there are more rows than one export has (%d, the endpoint's maxExportRows): narrow the filters, or export them in parts with limit, offset and order_by", call.ExportArgument, most)
	}
	return e.call.AnswerExport(e.form.export, rows)
}

// count is how many rows the file would have, or one more than it may.
func (e *Export) count(plan *database.Select) (int, error) {
	most, _ := e.most()
	offset := min(max(plan.Offset, 0), 1<<40) // no table has as many rows
	counting := *plan
	counting.Output, counting.Order, counting.Cursor = nil, nil, nil
	counting.Limit, counting.Offset, counting.More = 0, 0, false
	counting.Total, counting.CountTo = database.TotalCapped, offset+most
	_, page, err := e.call.DB.Select(e.call.Ctx, &counting, nil)
	if err != nil {
		return 0, err
	}
	if page.Precision != database.TotalIsExact {
		page.Total++ // there is at least one more
	}
	return e.within(max(int(page.Total)-offset, 0)), nil
}

// countReport is count for a report, whose rows must be read for that.
func (e *Export) countReport(report *database.Report) (int, error) {
	counting := *report
	counting.Limit, _ = e.most()
	counting.Stream = &database.Stream{Row: func([]database.Output, []byte) error { return nil }}
	_, reported, err := e.call.Reports.Report(e.call.Ctx, &counting, nil)
	if err != nil {
		return 0, err
	}
	if reported.More {
		reported.Count++
	}
	return e.within(reported.Count), nil
}

// within is how many of some rows the call's own limit leaves.
func (e *Export) within(rows int) int {
	if most, capped := e.most(); !capped {
		return min(rows, most)
	}
	return rows
}

// begin begins a file whose rows have members of these names.
func (e *Export) begin(file rowFile, names []string) error {
	e.call.Fetch.Fields = names
	return file.begin(names)
}

// stream notes the rows of a file while they are written.
func (e *Export) stream(file rowFile) *database.Stream {
	return &database.Stream{Within: exportTime, Row: func(members []database.Output, row []byte) error {
		if err := file.row(members, row); err != nil {
			return err
		}
		e.call.Fetch.Row(row)
		return nil
	}}
}

// The ends of a file that is not whole.
var (
	errMoreRows  = &call.ToolError{Code: call.CodeTooLarge, Message: "more rows came than an export may have"}
	errLongValue = &call.ToolError{Code: call.CodeTooLarge, Message: fmt.Sprintf("a value has more than %d bytes", maxExportValue)}
)

// ErrReader is the end of a file whose reader went away, or took too long.
var ErrReader = errors.New("the reader of the export went away")

// ended is the error of a file that is not whole.
func (e *Export) ended(stream *database.Stream, page database.Page, err error) error {
	_, capped := e.most()
	switch {
	case stream.Err() != nil:
		return unwritten(stream.Err())
	case err != nil:
		return err
	case page.More && capped:
		return errMoreRows
	case page.Shortened:
		return errLongValue
	}
	if err := e.call.Fetch.To.Flush(); err != nil {
		return unwritten(err)
	}
	return nil
}

// unwritten is the error of a file that could not be written.
func unwritten(err error) error {
	if withdrawn := (*call.Withdrawn)(nil); errors.As(err, &withdrawn) {
		return withdrawn
	}
	return fmt.Errorf("%w: %w", ErrReader, err)
}

// mayShow judges whether the token may export all that the rows show: each model that they show something of needs the verb.
func (e *Export) mayShow(plan *database.Select) error {
	shown := shownTables{}
	shown.source(plan.From)
	for i := range plan.Output {
		shown.join(plan.Output[i].Join)
		for _, c := range plan.Output[i].Columns {
			shown.column(c)
		}
	}
	for _, m := range e.call.Catalog.Models() {
		if shown[m.Table] && m.Table != nil && !e.call.Scope.Of(m).Has(access.View|access.Export) {
			return e.mayNot(m)
		}
	}
	return nil
}

func (e *Export) mayNot(m *catalog.Model) error {
	return call.Failf(call.CodePermissionDenied, "Permission denied: cannot export %s, of which the rows show something; leave it out of fields, group_by and measures", m.Name)
}

// shownTables are the tables of which rows show something. Tables that only decide which rows there are do not count.
type shownTables map[*database.Table]bool

func (s shownTables) source(from database.Source) {
	switch filling, windows, groups := from.Filling(), from.Windows(), from.Groups(); {
	case filling != nil:
		s.source(filling.From)
	case windows != nil:
		s.source(windows.From)
		s.refs(windows.Columns...)
		for i := range windows.Windows {
			s.refs(windows.Windows[i].Of)
		}
	case groups != nil:
		s.source(groups.From)
		for i := range groups.Keys {
			s.refs(groups.Keys[i].Ref)
		}
		for i := range groups.Measures {
			s.refs(groups.Measures[i].Ref)
		}
	default:
		s[from.Table()] = true
	}
}

func (s shownTables) refs(refs ...database.Ref) {
	for _, r := range refs {
		s.join(r.Join)
		if r.Column != nil {
			s.column(r.Column)
		}
	}
}

func (s shownTables) join(join *database.Join) {
	if join != nil {
		s.source(join.From)
	}
}

// column adds what a computed column is computed of.
func (s shownTables) column(c *database.Column) {
	if v, ok := c.Expression.(database.RelatedValue); ok {
		s.source(v.Rows.From)
		s.refs(v.Measure.Ref)
		return
	}
	c.Reads(func(r database.Ref) { s.refs(r) })
}
