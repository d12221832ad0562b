package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// instantDatabase answers at once.
type instantDatabase struct{ database.DB }

func (instantDatabase) Select(_ context.Context, _ *database.Select, out []byte) ([]byte, database.Page, error) {
	return out, database.Page{}, nil
}

func (instantDatabase) Transact(_ context.Context, do func(database.Tx) error) error { return do(nil) }

func observed() (database.DB, *database.Select) {
	d := &databases{metrics: telemetry.NewMetrics()}
	db := d.observe(instantDatabase{}, target{engine: contract.EngineSQLite})
	return db, &database.Select{}
}

// What is not traced costs no memory: the metric is found by its labels, and the memory of a transaction is used again.
func TestObservingAllocatesNothing(t *testing.T) {
	db, plan := observed()
	ctx := t.Context()
	nothing := func(database.Tx) error { return nil }
	_ = db.Transact(ctx, nothing)
	if n := testing.AllocsPerRun(200, func() {
		_, _, _ = db.Select(ctx, plan, nil)
		_ = db.Transact(ctx, nothing)
	}); n >= 1 { // a collection may empty the pool
		t.Errorf("%v allocations", n)
	}
}

// A span names the table that was asked for, not the one that stands for groups, and not the one that a change refers to.
func TestASpanNamesTheTableThatWasAskedFor(t *testing.T) {
	of := func(name string) database.Source { return access.Token{}.Unscoped(&database.Table{Name: name}) }
	groups := (&database.Grouping{From: of("orders")}).Source()
	check := database.Statement{Select: &database.Select{From: of("customer")}}
	for _, row := range []struct {
		statements []database.Statement
		want       string
	}{
		{[]database.Statement{check}, "SELECT customer"},
		{[]database.Statement{{Select: &database.Select{From: groups}}}, "SELECT orders"},
		{[]database.Statement{check, {Insert: &database.Insert{Into: of("orders")}}}, "BATCH orders"},
		{[]database.Statement{check, {Update: &database.Update{In: of("orders")}}}, "BATCH orders"},
		{[]database.Statement{check, {Select: &database.Select{From: of("orders")}}}, "BATCH customer"},
	} {
		if name, table := whatOf(&database.Batch{Statements: row.statements}); name+" "+table.Name != row.want {
			t.Errorf("got %s %s, want %s", name, table.Name, row.want)
		}
	}
}

func BenchmarkObserved(b *testing.B) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	for _, row := range []struct{ name, flags string }{{"Off", ""}, {"UnsampledParent", "00"}, {"Sampled", "01"}} {
		b.Run(row.name, func(b *testing.B) {
			db, plan := observed()
			ctx := b.Context()
			if row.flags != "" {
				tracer := tracing.New(slog.New(slog.DiscardHandler), nil)
				tracer.Configure(&tracing.Settings{URL: sink.URL, Protocol: tracing.ProtocolHTTP})
				defer tracer.Close()
				ctx, _ = tracer.Active().Serve(ctx, "tools/call", tracing.Parent{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-" + row.flags})
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _, _ = db.Select(ctx, plan, nil)
			}
		})
	}
}

func TestTheStatusCodeOfAnError(t *testing.T) {
	for want, err := range map[string]error{
		"23505": &database.Error{Code: database.Violated, Cause: stated("23505")},
		"1062":  &database.Error{Code: database.Violated, Cause: numbered("1062")},
		"":      errors.New("none"),
	} {
		if got := statusCode(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

type (
	stated   string
	numbered string
)

func (s stated) Error() string        { return string(s) }
func (s stated) SQLState() string     { return string(s) }
func (n numbered) Error() string      { return string(n) }
func (n numbered) StatusCode() string { return string(n) }

func TestTheNameAtTheDatabase(t *testing.T) {
	for _, row := range []struct{ endpoint, pod, want string }{
		{"", "", ""}, {"books", "", "mcp-admin/books"}, {"books", "books-mcp-7d9f8-x2x4z", "mcp-admin/books-x2x4z"},
		{"a-name-that-is-as-long-as-an-endpoint-can", "p-x2x4z", "mcp-admin/a-name-that-is-as-long-as-an-endpoint-can-x2x4z"},
	} {
		if got := applicationName(row.endpoint, row.pod); got != row.want || len(got) > 63 {
			t.Errorf("%q, %q: %q", row.endpoint, row.pod, got)
		}
	}
}
