package database

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// maxRuns is the most runs of one transaction. The pause before run n+1 is random, and less than firstPause doubled n
// times, so that transactions that collided once do not collide again.
const (
	maxRuns    = 6
	firstPause = 5 * time.Millisecond
)

// Transactor runs something in one transaction, as DB does.
type Transactor interface {
	Transact(ctx context.Context, do func(Tx) error) error
}

// Transact runs do in a transaction of db, as DB.Transact does. It runs all of it again if it failed only because of
// outside events: another transaction got in the way (Error.Again), or the connection was lost before the commit, as in
// a failover. The database keeps nothing of a failed run, so do must start afresh too: the result of its last run counts.
//
// It stops after a few runs, when ctx ends, and once within has passed (0: no limit). If other transactions got in the
// way each time, the error is Contended.
func Transact(ctx context.Context, db Transactor, within time.Duration, do func(Tx) error) error {
	begun := time.Now()
	for run := 1; ; run++ {
		began := false
		err := db.Transact(ctx, func(tx Tx) error {
			began = true
			return do(tx)
		})
		var failure *Error
		if !began || !errors.As(err, &failure) || failure.NotBegun || !failure.passes() {
			return err
		}
		pause := rand.N(firstPause << run) //nolint:gosec // G404: nobody gains anything by guessing the pause
		late := within > 0 && time.Since(begun)+pause > within
		if run == maxRuns || late || !sleep(ctx, pause) {
			return failure.lasting()
		}
		tracing.Happened(ctx, tracing.RunAgain)
	}
}

// passes reports whether a transaction that failed with e left nothing behind and may succeed if it runs again.
func (e *Error) passes() bool { return e.Again || e.Code == Unreachable }

// lasting returns the error to report after the last run.
func (e *Error) lasting() *Error {
	if !e.Again {
		return e
	}
	return &Error{Code: Contended, Reason: e.Reason, Message: "other transactions got in the way each time; try again", Cause: e.Cause}
}

// sleep waits, and reports whether ctx lasted that long.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
