package server

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// watchedDatabase counts how often its schema is read.
type watchedDatabase struct {
	noFile
	reads   int
	same    bool
	trouble error
}

func (*watchedDatabase) Ping(context.Context) error { return nil }

func (d *watchedDatabase) Introspect(context.Context) (*database.Schema, error) {
	d.reads++
	return &database.Schema{}, nil
}

func (d *watchedDatabase) Unchanged(context.Context) (bool, error) { return d.same, d.trouble }

func TestASchemaThatHasNotChangedIsNotReadAgain(t *testing.T) {
	counted := &watchedDatabase{}
	c := newCore(&Server{Log: slog.New(slog.DiscardHandler)}, telemetry.NewMetrics())
	db := &openDatabase{DB: counted, ctx: t.Context(), rotating: newRotatingDatabase(counted)}
	c.databases.current = db
	w := schemaWatch{}
	for _, step := range []struct {
		name    string
		prepare func()
		reads   int
	}{
		{"at first", func() { counted.same = true }, 1},
		{"within the minute", func() {}, 1},
		{"after a minute without a change", func() { w.read = w.read.Add(-2 * introspectEvery) }, 1},
		{"after a change", func() { w.read, counted.same = w.read.Add(-2*introspectEvery), false }, 2},
		{"if the database does not tell", func() {
			w.read, counted.same, counted.trouble = w.read.Add(-2*introspectEvery), true, errors.New("it cannot")
		}, 3},
		{"if a call was in trouble", func() { w.healthy, counted.trouble = false, nil }, 4},
		{"after an hour without a change", func() {
			w.read, w.readAll = w.read.Add(-2*introspectEvery), w.readAll.Add(-2*readAllEvery)
		}, 5},
		{"a minute later", func() { w.read = w.read.Add(-2 * introspectEvery) }, 5},
	} {
		step.prepare()
		c.lookIfDue(t.Context(), db, &w)
		if counted.reads != step.reads || !w.healthy {
			t.Errorf("%s: the schema was read %d times, want %d; healthy is %t", step.name, counted.reads, step.reads, w.healthy)
		}
	}
}
