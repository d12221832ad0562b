package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A transaction's statements wait in its queue until the answer of one is needed, and are sent together then: BEGIN with the
// first of them, and rows that nobody waits for (InsertLater) with COMMIT at the latest.

// flush sends what is queued, judges the answers, and returns the last. An error is a *database.Error, or what a statement's
// take returned.
func (t *transaction) flush(ctx context.Context) (last database.Answer, err error) {
	defer t.queue.drop(0)
	s, err := t.send(ctx)
	switch {
	case s == nil:
		return last, err
	case err != nil:
		return last, t.explain(ctx, s, err)
	}
	return s.answer, nil
}

// explain says why a statement failed.
func (t *transaction) explain(ctx context.Context, s *statement, err error) error {
	if s.plan == nil {
		return t.db.writeError(ctx, err, s.c, s.table)
	}
	failure := t.db.readError(ctx, s.c, err)
	if s.plan.Lock && failure.Code == database.Refused {
		failure.Message = "the database user may not read and lock the row: PostgreSQL asks for the rights to SELECT and to UPDATE for that, also before a deletion"
	}
	return failure
}

// send sends what is queued in one round trip. If a statement failed, it returns that and the server's own error. BEGIN goes
// with the first statements; a connection that turns out to be dead then is replaced once, as nothing can have been committed.
func (t *transaction) send(ctx context.Context) (*statement, error) {
	return t.sendWithin(ctx, len(t.queue))
}

// sendWithin is send with the time that so many statements may take.
func (t *transaction) sendWithin(ctx context.Context, statements int) (*statement, error) {
	if len(t.queue) == 0 {
		return nil, nil
	}
	t.sent++
	t.comment = t.db.comment(ctx)
	for again := false; ; again = true {
		t.pooled.guard(statements)
		s, err := t.attempt(ctx)
		t.pooled.unguard()
		lost := err != nil && !t.begun && (preparedLost(err) || t.db.died(ctx, t.pooled))
		switch {
		case err == nil || t.begun || s != nil && !lost:
			return s, err
		case again || !lost:
			return nil, notBegun(t.db.statementError(ctx, err))
		}
		if preparedLost(err) {
			t.db.unnamed.Store(true)
		}
		if err := t.reconnect(ctx); err != nil {
			return nil, notBegun(database.AsError(err))
		}
	}
}

func notBegun(e *database.Error) *database.Error {
	e.NotBegun = true
	return e
}

// attempt is one attempt of send.
func (t *transaction) attempt(ctx context.Context) (*statement, error) {
	t.delivered = false
	if s, err := t.prepare(ctx); err != nil {
		return s, err
	}
	var batch pgconn.Batch
	before := 0
	if !t.begun {
		before = t.sendBegin(ctx, &batch)
	}
	for _, s := range t.queue {
		sql, values := s.text()
		if s.c != nil {
			sql = t.commented(sql)
		}
		send(&batch, s.prepared, sql, values)
	}
	t.delivered = true
	results := t.conn.ExecBatch(ctx, &batch)
	s, err := t.readAnswers(results, before)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return s, err
}

// readAnswers reads the answers of what begins the transaction, as many as before says, and of the queue. It returns the
// statement at which it ended: the last, one that failed, or none if it is a take's error. Closing the results has the
// error of an answer that did not come.
func (t *transaction) readAnswers(results *pgconn.MultiResultReader, before int) (*statement, error) {
	for ; before > 0; before-- {
		if !results.NextResult() {
			return nil, nil
		}
		if _, err := results.ResultReader().Close(); err != nil {
			return nil, err
		}
		t.begun = true
	}
	var last *statement
	for _, s := range t.queue {
		if !results.NextResult() {
			return s, nil
		}
		if err := s.read(results.ResultReader()); err != nil {
			return s, err
		}
		if s.counts {
			s.completes(last)
		}
		if s.take != nil {
			if err := s.take(s.answer); err != nil {
				return nil, err // what the other statements led to is undone
			}
		}
		last = s
	}
	return last, nil
}

// prepare prepares the statements that have come before. If that fails, it returns the statement.
func (t *transaction) prepare(ctx context.Context) (*statement, error) {
	if !t.prepares() {
		for _, s := range t.queue {
			s.prepared = nil
		}
		return nil, nil
	}
	if err := t.session.makeRoom(ctx, t.conn, len(t.queue)+len(beginnings)); err != nil {
		return nil, err
	}
	if !t.begun {
		for _, sql := range beginnings {
			if _, err := t.session.prepare(ctx, t.conn, sql); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range t.queue {
		if s.c == nil {
			continue // a command costs the server nothing to read
		}
		sql, _ := s.text()
		var err error
		if s.prepared, err = t.session.prepare(ctx, t.conn, sql); err != nil {
			return s, err
		}
	}
	return nil, nil
}
