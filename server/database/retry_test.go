package database

import (
	"context"
	"errors"
	"testing"
	"time"
)

// runs is a database whose transactions end in the errors of a list, one after the other, and then succeed.
type runs struct {
	DB
	begins []error // the errors with which do does not run at all
	ends   []error
	begun  int
}

func (r *runs) Transact(_ context.Context, do func(Tx) error) error {
	n := r.begun
	r.begun++
	if n < len(r.begins) && r.begins[n] != nil {
		return r.begins[n]
	}
	if err := do(nil); err != nil {
		return err
	}
	if n < len(r.ends) {
		return r.ends[n]
	}
	return nil
}

func TestATransactionIsRunAgain(t *testing.T) {
	deadlock := &Error{Code: Locked, Again: true}
	held, lost, uncertain := &Error{Code: Locked}, &Error{Code: Unreachable}, &Error{Code: Uncertain}
	other := errors.New("a tool's own")
	for _, tc := range []struct {
		name         string
		begins, ends []error
		runs         int
		want         Code
	}{
		{"it succeeds at once", nil, nil, 1, ""},
		{"another transaction got in the way", nil, []error{deadlock, deadlock}, 3, ""},
		{"others get in the way each time", nil, []error{deadlock, deadlock, deadlock, deadlock, deadlock, deadlock, deadlock}, maxRuns, Contended},
		{"the connection is lost before the commit", nil, []error{lost}, 2, ""},
		{"no connection can be had afterwards", []error{nil, lost}, []error{lost}, 2, Unreachable},
		{"no connection can be had at all", []error{lost}, nil, 1, Unreachable},
		{"nobody knows whether it was committed", nil, []error{uncertain}, 1, Uncertain},
		{"a lock is held for too long", nil, []error{held}, 1, Locked},
		{"do returns an error of its own", nil, []error{other}, 1, Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db := &runs{begins: tc.begins, ends: tc.ends}
			err := Transact(t.Context(), db, 0, func(Tx) error { return nil })
			if db.begun != tc.runs {
				t.Errorf("%d runs, want %d", db.begun, tc.runs)
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || AsError(err).Code != tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestATransactionIsNotRunAgainOnceTimeIsUp(t *testing.T) {
	deadlock := &Error{Code: Locked, Again: true}
	slow := func(Tx) error { time.Sleep(30 * time.Millisecond); return deadlock }
	db := &runs{}
	if err := Transact(t.Context(), db, 20*time.Millisecond, slow); AsError(err).Code != Contended || db.begun != 1 {
		t.Errorf("past its time: %v after %d runs", err, db.begun)
	}
	ctx, cancel := context.WithCancel(t.Context())
	db = &runs{}
	gone := func(Tx) error { cancel(); return deadlock }
	if err := Transact(ctx, db, 0, gone); AsError(err).Code != Contended || db.begun != 1 {
		t.Errorf("for a caller who went away: %v after %d runs", err, db.begun)
	}
}
