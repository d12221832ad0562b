package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// log is a database whose log of changes is a number: it is at one, and a replica has reached another.
type log struct {
	database.DB
	name             string
	position, replay *int
	servers          int
	fails            error
}

func (l *log) Select(context.Context, *database.Select, []byte) ([]byte, database.Page, error) {
	return []byte(l.name), database.Page{}, l.fails
}
func (l *log) Transact(context.Context, func(database.Tx) error) error { *l.position++; return nil }
func (l *log) Introspect(context.Context) (*database.Schema, error)    { return &database.Schema{}, nil }
func (l *log) Ping(context.Context) error                              { return nil }
func (l *log) Writers() int                                            { return 1 }
func (l *log) Close()                                                  {}
func (l *log) Servers() int                                            { return l.servers }
func (l *log) Position(context.Context) (string, error)                { return string(rune(*l.position)), nil }
func (l *log) Reached(_ context.Context, position string) (reached, told bool, err error) {
	return *l.replay >= int([]rune(position)[0]), true, nil
}

func TestATokenReadsItsOwnWrites(t *testing.T) { inABubble(readsItsOwnWrites)(t) }

func readsItsOwnWrites(t *testing.T) {
	position, replay := 100, 100
	replica := &log{name: "replica", replay: &replay, servers: 1}
	primary := newRotatingDatabase(&log{name: "primary", position: &position})
	r := newReplicatedDatabase(primary, primary, &contract.Replicas{MaxStaleness: contract.Duration(300 * time.Millisecond), MaxConnections: 2}, login{},
		func(login) database.DB { return replica }, func(db database.DB) database.DB { return db }, nil)
	known := false
	look := func() string {
		usable, problem := r.look(t.Context(), login{}, &known)
		r.usable.Store(usable)
		return problem
	}
	ctx := share.WithName(t.Context(), "a")
	reads := func(ctx context.Context, want string) {
		t.Helper()
		if text, _, err := r.Replicas().Select(ctx, &database.Select{}, nil); string(text) != want || err != nil {
			t.Errorf("the %s answers (%v), want the %s", text, err, want)
		}
	}
	reads(ctx, "primary") // nobody has looked at the replicas yet
	if problem := look(); problem != "" {
		t.Fatal(problem)
	}
	reads(ctx, "replica")
	if text, _, _ := r.Select(ctx, &database.Select{}, nil); string(text) != "primary" {
		t.Error("a read that must be exact goes to the replica")
	}

	if err := r.Transact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	reads(ctx, "primary")
	reads(share.WithName(t.Context(), "b"), "replica")
	time.Sleep(40 * time.Millisecond)
	if problem := look(); problem != "" { // the replica has not the write
		t.Fatal(problem)
	}
	reads(ctx, "primary")
	replay = position
	look()
	reads(ctx, "replica")
	if len(r.written) != 0 {
		t.Error("a write that the replica has is kept in mind")
	}

	// It stays behind.
	position += 5
	time.Sleep(400 * time.Millisecond)
	if problem := look(); problem == "" {
		t.Error("a replica that is behind is not told of")
	}
	reads(ctx, "primary")
	replay = position
	look()
	reads(ctx, "replica")

	// Several replicas behind one address: only time tells.
	replica.servers = 2
	look()
	_ = r.Transact(ctx, nil)
	replay = position
	look()
	reads(ctx, "primary")
	time.Sleep(320 * time.Millisecond)
	reads(ctx, "replica")

	// Its own errors are not the caller's.
	for _, code := range []database.Code{database.Changed, database.Locked, database.Refused, database.Unreachable} {
		replica.fails = &database.Error{Code: code}
		r.usable.Store(true)
		reads(ctx, "primary")
	}
	if r.usable.Load() {
		t.Error("a replica that is away is asked again")
	}
	r.usable.Store(true)
	replica.fails = &database.Error{Code: database.Invalid}
	if _, _, err := r.Replicas().Select(ctx, &database.Select{}, nil); !errors.Is(err, replica.fails) {
		t.Errorf("got %v", err)
	}
}
