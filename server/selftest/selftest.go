// Package selftest tries out on a database whatever the server needs of one, by the server's own code: introspection, plans,
// transactions, and the tools of a model. It shows where an engine that speaks PostgreSQL's or MySQL's protocol differs, and what
// that means for agents.
//
// Package server opens the database for it, and nothing else imports it. Begin with Run; the checks are in the tables of reading.go,
// writing.go and calls.go.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Result is how a check ended.
type Result string

// The results. Differs: something works in another way or not at all, and the server does without. Fails: what the server needs
// does not work.
const (
	Works    Result = "works"
	Differs  Result = "differs"
	Fails    Result = "fails"
	NotAsked Result = "not asked"
)

// NeedsTables is why a check is not asked that would write.
const NeedsTables = "it would write, which needs tables of its own"

// Check is one thing that was tried. None of its texts names the database, a user, a host or a value.
type Check struct {
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Result   Result `json:"result"`
	// Answer is what the engine did; "" if there is nothing to tell. Of a check that was not asked it is why.
	Answer string `json:"answer,omitempty"`
	// Means is what a result other than Works means for agents.
	Means string `json:"meaning,omitempty"`
}

// Report is what was found.
type Report struct {
	// Program is the version of the program. Engine and Version are the engine's as the server takes it, Says is its own word.
	Program string  `json:"program"`
	Engine  string  `json:"engine,omitempty"`
	Version string  `json:"version,omitempty"`
	Says    string  `json:"says,omitempty"`
	Checks  []Check `json:"checks"`
	// Notes are what the status of an endpoint would say of the engine, and of what is left out, of which they name nothing.
	Notes []string `json:"notes,omitempty"`
	// Left are the statements that drop the tables that could not be dropped. They name the schema.
	Left []string `json:"-"`
}

// Count is the number of checks with a result.
func (r *Report) Count(result Result) (n int) {
	for i := range r.Checks {
		if r.Checks[i].Result == result {
			n++
		}
	}
	return n
}

// Options say what is tried.
type Options struct {
	// Open opens the database with the settings of an endpoint: where the test makes its tables if trial is set.
	Open func(e contract.Endpoint, trial bool) database.DB
	// Tables has the test make tables of its own in Schema; without it nothing is written.
	Tables bool
	Schema string
	SQL    SQL
	// Program is the version of the program.
	Program string
	// Hide are names and secrets of the connection, which stand in no text.
	Hide []string
	// Told is called with each check once it has ended.
	Told func(Check)
}

// SQL are the statements that are not the server's own, in the engine's dialect.
type SQL struct {
	// Make makes the tables but the last two of Names, with foreign keys or without. Drop drops one of all.
	Names []string
	Make  func(foreignKeys bool) []string
	Drop  func(i int) string
	// Write adds a row to the table without a key.
	Write string
	// Endless is a query that goes on until it is stopped, or for half a minute.
	Endless string
}

// trial is a check before it is made.
type trial struct {
	name, expected, means string
	// needed reports whether the server cannot do without. With tables the check writes to tables of its own.
	needed, tables bool
	// try returns what the engine did, for people.
	try func(context.Context, *run) (string, error)
}

// The errors with which a try ends a check that neither works nor fails.
type (
	// differently says that the server does without.
	differently struct{ answer string }
	// unasked says why a check cannot be made.
	unasked struct{ why string }
	// unexpected says what came out instead.
	unexpected struct{ answer string }
)

func (e differently) Error() string { return e.answer }
func (e unasked) Error() string     { return e.why }
func (e unexpected) Error() string  { return e.answer }

// run is a test on its way.
type run struct {
	Options
	report *Report
	// base is used for most. brief has little time for a statement, and reading allows no changes.
	base, brief, reading database.DB
	schema               *database.Schema
	tables               *tables
	agent                *agent
}

// The times that statements may take. Engines of many servers take seconds for a new table.
const (
	baseTime  = time.Minute
	briefTime = 2 * time.Second
)

// ErrConnect says that there is nothing to test: the database cannot be reached, or its catalogue cannot be read.
var ErrConnect = errors.New("nothing more can be tried")

var errInterrupted = errors.New("the test was interrupted")

// Run tries everything, and undoes what it did, also if ctx ends. An error says why the test could not be made as it was asked for;
// what failed of the engine stands in the report alone.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	r := &run{Options: o, report: &Report{Program: o.Program, Checks: []Check{}}}
	r.connect(ctx)
	if r.report.Count(Works) == 0 {
		return r.report, ErrConnect
	}
	r.base, r.brief, r.reading = r.open(baseTime, false), r.open(briefTime, false), r.open(baseTime, true)
	defer func() {
		for _, db := range []database.DB{r.base, r.brief, r.reading} { // base is another one once there are tables
			db.Close()
		}
	}()
	if o.Tables {
		r.tables = &tables{run: r}
		defer func() { err = errors.Join(err, r.tables.drop(context.WithoutCancel(ctx))) }()
		switch err := r.tables.make(ctx); {
		case ctx.Err() != nil:
			return r.report, errInterrupted
		case err != nil:
			return r.report, err
		}
	}
	for _, t := range all() {
		r.check(ctx, t)
	}
	if ctx.Err() != nil {
		return r.report, errInterrupted
	}
	r.notes(ctx)
	return r.report, nil
}

// connect tries whether the database can be read at all.
func (r *run) connect(ctx context.Context) {
	r.base = r.Open(settings(baseTime, true), false)
	defer r.base.Close()
	r.check(ctx, connecting)
}

// settings are those of an endpoint with a time for each statement.
func settings(within time.Duration, readOnly bool) contract.Endpoint {
	return contract.Endpoint{Database: contract.Database{MaxConnections: 6, StatementTimeout: contract.Duration(within), ReadOnly: readOnly}}
}

// open opens the database where the test makes its tables, with a time for each statement.
func (r *run) open(within time.Duration, readOnly bool) database.DB {
	e := settings(within, readOnly)
	if r.Tables && r.Schema != "" {
		e.Database.Schemas = []string{r.Schema}
	}
	return r.Open(e, r.Tables)
}

// check makes a check and notes what came of it.
func (r *run) check(ctx context.Context, t trial) {
	c := Check{Name: t.name, Expected: t.expected, Result: Works}
	var err error
	switch {
	case ctx.Err() != nil:
		err = unasked{errInterrupted.Error()}
	case t.tables && r.tables == nil:
		err = unasked{NeedsTables}
	default:
		c.Answer, err = t.try(ctx, r)
		if err != nil && ctx.Err() != nil {
			err = unasked{errInterrupted.Error()}
		}
	}
	var other differently
	var not unasked
	switch {
	case err == nil:
	case errors.As(err, &not):
		c.Result, c.Answer = NotAsked, not.why
	case errors.As(err, &other), !t.needed:
		c.Result, c.Answer, c.Means = Differs, r.say(err), t.means
	default:
		c.Result, c.Answer, c.Means = Fails, r.say(err), t.means
	}
	r.report.Checks = append(r.report.Checks, c)
	if r.Told != nil {
		r.Told(c)
	}
}

// notes reads the schema once more: what the engine turned out to lack is told by then.
func (r *run) notes(ctx context.Context) {
	if schema, err := r.base.Introspect(ctx); err == nil {
		r.report.Notes = notesOf(schema)
	}
}

// notesOf are the notes of a schema, with a number in the place of each name.
func notesOf(schema *database.Schema) []string {
	notes, counts := slices.Clone(schema.Notes), map[string]int{}
	for _, u := range schema.Unserved {
		counts[u.Why] += max(u.Count, 1)
	}
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		notes = append(notes, fmt.Sprintf("%s (%d in all)", why, counts[why]))
	}
	return notes
}

// all are the checks behind the first, in their order.
func all() []trial {
	var every []trial
	every = append(every, reading...)
	every = append(every, writing...)
	every = append(every, calling...)
	for _, q := range questions {
		every = append(every, q.trial())
	}
	return every
}
