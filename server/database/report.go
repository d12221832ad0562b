package database

import (
	"context"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Report is a query that an administrator declared. It runs in a transaction of its own, which only reads and is rolled
// back, so that nothing outlives it.
type Report struct {
	Statement *Declared
	// Form is how a row is written. Its members are the query's columns.
	Form RowForm
	// Limit, Offset, MaxBytes and MaxValue are as in Select. The rows before the offset are read and passed over.
	Limit, Offset, MaxBytes, MaxValue int
	// Stream is as in Select.
	Stream *Stream
	// OnlyPrepare has the database say whether it takes the query. No row is read. If it does not take it, the error is Untaken.
	OnlyPrepare bool
}

// Fault is what is wrong with a query that an administrator declared.
type Fault string

// The faults that a database tells.
const (
	NoSuchTable    Fault = "it names a table that is not there, or that the database's user may not see"
	NoSuchColumn   Fault = "it names a column that is not there"
	NoSuchFunction Fault = "it calls a function that the database does not have, or not for values of these types"
	WrongSyntax    Fault = "the database does not understand it, as it is not written in the SQL of this database"
	NotPermitted   Fault = "the database's user may not read all that it names"
	OtherFault     Fault = "the database does not take it"
)

// Untaken returns the error about a declared query that a database does not take as it is written. name is what the fault is about, or
// how the database numbers the fault; "" if that is not known.
func Untaken(fault Fault, name string, cause error) *Error {
	message := string(fault)
	if name != "" {
		message += " (" + name + ")"
	}
	return &Error{Code: Unready, Reason: contract.ReasonDatabaseError, Message: message, Cause: cause}
}

// explain has a statement tell how it would run.
const explain = "EXPLAIN "

// Prepared is the text that a database is asked about a report, on an engine whose EXPLAIN does not run what it explains.
func (r *Report) Prepared(text []byte) []byte {
	if !r.OnlyPrepare {
		return text
	}
	return append([]byte(explain), text...)
}

// Reported tells about the rows that a Report wrote.
type Reported struct {
	Page
	// Columns are the names of the query's columns.
	Columns []string
}

// Plan returns the plan that reads rows of some columns in the report's form.
func (r *Report) Plan(columns []*Column) *Select {
	plan := &Select{Limit: r.Limit, MaxBytes: r.MaxBytes, MaxValue: r.MaxValue, Form: r.Form, More: true, Stream: r.Stream}
	taken := map[string]bool{}
	for _, c := range columns {
		name := c.Name
		for n := 2; taken[name]; n++ {
			name = c.Name + "_" + strconv.Itoa(n) // a query may give two columns one name; an object must not
		}
		taken[name] = true
		plan.Output = append(plan.Output, Output{Name: name, Columns: []*Column{c}})
	}
	return plan
}

// ColumnNames are the names of a plan's members.
func (s *Select) ColumnNames() []string {
	names := make([]string, len(s.Output))
	for i, output := range s.Output {
		names[i] = output.Name
	}
	return names
}

// SessionSetting is a setting of the database's session and its value.
type SessionSetting struct{ Name, Value string }

type sessionKey struct{}

// WithSession returns a context whose transactions have some settings, each of them until the transaction ends, on an
// engine that has such settings. A Select or Report is a transaction.
func WithSession(ctx context.Context, settings []SessionSetting) context.Context {
	if len(settings) == 0 {
		return ctx
	}
	return context.WithValue(ctx, sessionKey{}, settings)
}

// Session are the settings that WithSession gave a context.
func Session(ctx context.Context) []SessionSetting {
	settings, _ := ctx.Value(sessionKey{}).([]SessionSetting)
	return settings
}
