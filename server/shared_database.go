package server

import (
	"context"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// A sharedDatabase divides the connections of a database among the tokens that use it. A token may have all but a
// quarter of them. Tokens that wait are served in turn, so that many slow calls of one token delay each call of another
// by at most one of them. What the server does for no token does not wait in line.
type sharedDatabase struct {
	database.DB
	// calls are all connections. writes are the calls that can write, and the same as calls if any of them can.
	calls, writes *share.Pool
	// use counts those who wait for calls, writerUse those who wait for writes.
	use, writerUse *database.PoolUse
}

// newSharedDatabase shares a database whose pool has some connections.
// use and writerUse count its waits; they may be nil.
func newSharedDatabase(db database.DB, connections int, use, writerUse *database.PoolUse) *sharedDatabase {
	size, writers := int64(max(connections, 1)), int64(db.Writers())
	s := &sharedDatabase{DB: db, calls: share.New(size, share.ButQuarter(size)), use: use, writerUse: use}
	if s.writes = s.calls; writers < size {
		s.writes, s.writerUse = share.New(writers, share.ButQuarter(writers)), writerUse
	}
	return s
}

// resize changes how many connections there are to share. Writers of their own stay as many.
func (s *sharedDatabase) resize(connections int) {
	size := int64(max(connections, 1))
	s.calls.Resize(size, share.ButQuarter(size))
}

// Select implements database.DB.
func (s *sharedDatabase) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	name := share.Name(ctx)
	if err := enter(ctx, s.calls, s.use, name); err != nil {
		return out, database.Page{}, err
	}
	defer leave(s.calls, name)
	return s.DB.Select(ctx, plan, out)
}

// Report implements database.DB.
func (s *sharedDatabase) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	name := share.Name(ctx)
	if err := enter(ctx, s.calls, s.use, name); err != nil {
		return out, database.Reported{}, err
	}
	defer leave(s.calls, name)
	return s.DB.Report(ctx, report, out)
}

// Transact implements database.DB.
func (s *sharedDatabase) Transact(ctx context.Context, do func(database.Tx) error) error {
	name := share.Name(ctx)
	if err := enter(ctx, s.writes, s.writerUse, name); err != nil {
		return err
	}
	defer leave(s.writes, name)
	return s.DB.Transact(ctx, do)
}

func enter(ctx context.Context, pool *share.Pool, use *database.PoolUse, name string) error {
	if name == "" || pool.Try(name, 1) {
		return nil
	}
	over := use.Wait()
	err := pool.Wait(ctx, name, 1, database.AcquireTimeout)
	over(errors.Is(err, share.ErrBusy))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, share.ErrBusy):
		return &database.Error{
			Code: database.Busy, Reason: contract.ReasonDatabaseError, Cause: err,
			Message: "this token's share of the database connections is in use; try again, or make fewer calls at once",
		}
	default:
		return &database.Error{Code: database.Cancelled, Reason: contract.ReasonDatabaseError, Message: "cancelled", Cause: err}
	}
}

func leave(pool *share.Pool, name string) {
	if name != "" {
		pool.Give(name, 1)
	}
}
