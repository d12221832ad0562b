package server

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// growing is a database that gets tables, and that notes when its schema is read.
type growing struct {
	database.DB
	mu     sync.Mutex
	tables []string
	looks  []time.Time // since looked was called last
	last   time.Time   // the last of all looks
}

// add makes a table.
func (g *growing) add(table string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tables = append(g.tables, table)
}

// looked returns when the schema was read since it was asked last.
func (g *growing) looked() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	looks := g.looks
	g.looks = nil
	return looks
}

// rest waits until the next look that somebody asks for is not put off because of the last one.
func (g *growing) rest() {
	g.mu.Lock()
	pause := leastPause - time.Since(g.last)
	g.mu.Unlock()
	time.Sleep(pause)
}

func (g *growing) Introspect(context.Context) (*database.Schema, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = time.Now()
	g.looks = append(g.looks, g.last)
	schema := &database.Schema{Engine: contract.EngineSQLite}
	for _, name := range g.tables {
		id := &database.Column{Name: "id", Kind: database.Integer, Privileges: database.MaySelect}
		schema.Tables = append(schema.Tables, &database.Table{Name: name, Columns: []*database.Column{id}, PrimaryKey: []*database.Column{id}, Privileges: database.MaySelect})
	}
	return schema, nil
}
func (g *growing) Ping(context.Context) error { return nil }
func (g *growing) Writers() int               { return 1 }
func (g *growing) Close()                     {}

// naming is a Config with models of these tables.
func naming(revision int64, tables ...string) *contract.Config {
	c := &contract.Config{Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: revision}
	c.Endpoint.Database = contract.Database{Engine: contract.EngineSQLite, MaxConnections: 2}
	for _, name := range tables {
		c.Models = append(c.Models, contract.Model{Exposure: name, UID: name, Name: name, Table: name, DefaultPageSize: 100, MaxPageSize: 1000})
	}
	return c
}

func TestWhatIsMissingIsLookedForSoonAndThenMoreSeldom(t *testing.T) {
	inABubble(looksForWhatIsMissing)(t)
}

func looksForWhatIsMissing(t *testing.T) {
	db := &growing{tables: []string{"book"}}
	c := newCore(&Server{Log: slog.New(slog.DiscardHandler), OpenDatabase: func(string, database.Settings) database.DB { return db }}, telemetry.NewMetrics())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	c.apply(source.Update{Config: naming(1, "book")})
	go func() { defer close(ended); c.watchSchema(ctx) }()
	defer func() { stop(); <-ended; c.close() }()
	time.Sleep(10 * time.Minute)
	reason := func(model int) string {
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.models.all[model].Reason
	}

	// Names that nothing has cause one look at once. What is missing is looked for after 1 s, 2 s, 4 s, and so on.
	for revision, tables := range [][]string{{"book", "author"}, {"book", "author", "shelf"}} {
		db.rest()
		asked := time.Now()
		db.looked()
		c.apply(source.Update{Config: naming(int64(revision)+2, tables...)})
		got, looks := reason(len(tables)-1), db.looked()
		if got != contract.ReasonTableNotFound || len(looks) != 1 || !looks[0].Equal(asked) {
			t.Fatalf("%v: at once: %s, looked %v", tables, got, looks)
		}
		time.Sleep(10 * time.Minute)
		before, want := asked, time.Second
		for i, look := range db.looked() {
			if pause := look.Sub(before); pause < want*9/10 || pause > want*11/10 {
				t.Errorf("%v: pause %d is %s, want %s", tables, i, pause, want)
			}
			before, want = look, min(2*want, introspectEvery)
		}
		if want != introspectEvery {
			t.Errorf("%v: it was not looked for again and again: the next pause is %s", tables, want)
		}
	}

	// A table that comes a few seconds after its exposure is served a few seconds later.
	c.apply(source.Update{Config: naming(4, "book", "author", "shelf", "reader")})
	time.Sleep(5 * time.Second)
	if got := reason(3); got != contract.ReasonTableNotFound {
		t.Fatalf("before the table was made: %s", got)
	}
	db.add("reader")
	time.Sleep(5 * time.Second)
	if got := reason(3); got != contract.ReasonServed {
		t.Errorf("after the table was made: %s", got)
	}
}
