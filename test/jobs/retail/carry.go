package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// result is what came of a task.
type result struct {
	*task
	// calls, bytes and changes are as in client.
	calls, bytes, changes int
	// refused are the actions that the shop refused.
	refused int
	// problems say how the end state differs from the expected one, and which actions were refused or done although they
	// should not; none if all is exact.
	problems []string
}

// stage is a served shop, with its rows as they were in the beginning.
type stage struct {
	*client
	plain       *sql.DB
	placeholder func(int) string
	tables      []*table
	initial     map[string]*snapshot
}

// carryOut carries the tasks out, each on the initial rows.
func carryOut(ctx context.Context, t testing.TB, e harness.Engine, folder string, tasks []*task) ([]*result, error) {
	s, err := open(ctx, t, e, folder)
	if err != nil {
		return nil, err
	}
	var results []*result
	for i, task := range tasks {
		if i%100 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d of %d tasks …\n", e.Title, i, len(tasks))
		}
		r, err := s.carry(ctx, task)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", task.ID, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// open loads a shop and serves each of its tables with all columns, to a token that may do everything.
func open(ctx context.Context, t testing.TB, e harness.Engine, folder string) (*stage, error) {
	schema, err := os.ReadFile(filepath.Join(folder, "schema.sql"))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(folder, "data.sql"))
	if err != nil {
		return nil, err
	}
	database, plain := e.Open(t, string(schema)+"\n"+string(data))
	s := &stage{plain: plain, tables: readTables(string(schema)), placeholder: func(int) string { return "?" }}
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
	s.client = &client{token: text, Endpoint: harness.Serve(t, database, models, []contract.Token{token}, func(c *contract.Config) {
		c.Endpoint.Catalogue.StructuredContent = false // as it is unless somebody asks for it
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

// carry carries a task out, compares every table, and makes the rows what they were before.
func (s *stage) carry(ctx context.Context, task *task) (*result, error) {
	s.calls, s.bytes, s.changes = 0, 0, 0
	r := &result{task: task}
	for i := range task.Actions {
		a := &task.Actions[i]
		switch done, err := (shop{s.client}).do(a); {
		case err != nil:
			r.problems = append(r.problems, err.Error())
		case !done:
			r.refused++
			if a.Error == "" && a.Kind == "write" {
				r.problems = append(r.problems, a.Name+" was refused, which the shop takes")
			}
		case a.Error != "" && a.Kind == "write":
			r.problems = append(r.problems, a.Name+" was done, which the shop refuses: "+a.Error)
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
		r.problems = append(r.problems, t.differences(is[t.name].rows, t.after(s.initial[t.name].rows, w))...)
	}
	return r, restore(ctx, s.plain, s.placeholder, changed, is, s.initial)
}
