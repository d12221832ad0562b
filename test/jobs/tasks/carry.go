package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// result is the outcome of a task.
type result struct {
	*task
	// calls, bytes and changes are as in client.
	calls, bytes, changes int
	// refused are the actions that were refused.
	refused int
	// problems say how the end state differs from the expected one, and which actions were refused or done although they
	// should not; none if all is exact.
	problems []string
}

// stage is a served domain, with its rows as they were in the beginning.
type stage struct {
	*client
	actions     actions
	plain       *sql.DB
	placeholder func(int) string
	tables      []*table
	initial     map[string]*snapshot
}

// carryOut carries a folder's tasks out, each on the initial rows.
func carryOut(ctx context.Context, t testing.TB, e harness.Engine, f *folder) ([]*result, error) {
	s, err := open(ctx, t, e, f)
	if err != nil {
		return nil, err
	}
	var results []*result
	for i, task := range f.tasks {
		if i > 0 && i%100 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d of %d tasks …\n", e.Title, i, len(f.tasks))
		}
		r, err := s.carry(ctx, task)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", task.ID, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// open loads a domain and serves each of its tables with all columns, to a token that may do everything.
func open(ctx context.Context, t testing.TB, e harness.Engine, f *folder) (*stage, error) {
	tables, err := readTables(ctx, f.schema)
	if err != nil {
		return nil, err
	}
	database, plain := e.Open(t, f.schema+"\n"+f.data)
	s := &stage{actions: f.actions, plain: plain, tables: tables, placeholder: func(int) string { return "?" }}
	if e.Name == contract.EnginePostgreSQL {
		s.placeholder = func(n int) string { return "$" + strconv.Itoa(n) }
	}
	if s.initial, err = s.read(ctx); err != nil {
		return nil, err
	}
	var models []contract.Model
	for _, t := range s.tables {
		models = append(models, contract.Model{Name: t.name, Table: t.name, Expose: true, Include: t.names()})
	}
	token, text := harness.Viewer()
	token.Rules[0].Verbs = []string{contract.Wildcard}
	s.client = &client{token: text, failing: failing(tables), Endpoint: harness.Serve(t, database, models, []contract.Token{token}, func(c *contract.Config) {
		c.Endpoint.Catalogue.StructuredContent = false // unchanged unless somebody asks for it
	})}
	return s, nil
}

// read reads the rows of all tables.
func (s *stage) read(ctx context.Context) (map[string]*snapshot, error) {
	all := map[string]*snapshot{}
	for _, t := range s.tables {
		found, err := t.read(ctx, s.plain, s.initial[t.name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		all[t.name] = found
	}
	return all, nil
}

// failing is a step that always fails: no answer has fewer rows than none.
func failing(tables []*table) step {
	return step{Tool: "list_" + tables[0].name, Arguments: object{"limit": 1, "total": "none"}, Expect: object{"count": -1}}
}

// carry carries a task out, compares every table, and makes the rows what they were before.
func (s *stage) carry(ctx context.Context, task *task) (*result, error) {
	s.calls, s.bytes, s.changes = 0, 0, 0
	r := &result{task: task}
	for i := range task.Actions {
		if task.Actions[i].Kind != "none" {
			r.note(s.carryAction(r, &task.Actions[i]))
		}
	}
	for name := range task.Writes {
		if !slices.ContainsFunc(s.tables, func(t *table) bool { return t.name == name }) {
			r.note(fmt.Errorf("the task expects changes of %s, which is no table", name))
		}
	}
	r.calls, r.bytes, r.changes = s.calls, s.bytes, s.changes
	is, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	var changed []*table
	for _, t := range s.tables {
		w, expected := task.Writes[t.name]
		if is[t.name] == s.initial[t.name] && !expected {
			continue
		}
		changed = append(changed, t)
		want, err := t.after(s.initial[t.name].rows, w)
		if err != nil {
			r.note(fmt.Errorf("the task does not fit the rows: %w", err))
			continue
		}
		r.problems = append(r.problems, t.differences(is[t.name].rows, want)...)
	}
	return r, restore(ctx, s.plain, s.placeholder, changed, is, s.initial)
}

// carryAction carries an action out. It is an error if it is refused and should not be, or the other way round.
func (s *stage) carryAction(r *result, a *action) error {
	done, err := s.actions.perform(s.client, a)
	if err != nil {
		return err
	}
	if !done {
		r.refused++
	}
	switch {
	case !done && a.Error == "":
		return fmt.Errorf("%s was refused, which the task does not expect", a.Name)
	case done && a.Error != "":
		return fmt.Errorf("%s was done, which must be refused: %s", a.Name, a.Error)
	}
	return nil
}

// note keeps a problem.
func (r *result) note(problem error) {
	if problem != nil {
		r.problems = append(r.problems, problem.Error())
	}
}
