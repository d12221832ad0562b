package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// A transaction's statements wait in its queue until the answer of one is needed, and are sent together then: BEGIN with the
// first of them, and rows that nobody waits for (InsertLater) with COMMIT at the latest.

// statement is a statement of a transaction's queue.
type statement struct {
	// command is sent as it is if c, the memory that the statement lies in, is nil.
	command string
	c       *call
	// plan is what a read asks for; counts reports whether the statement is the count for the read before it.
	plan   *database.Select
	counts bool
	// inserts reports whether it adds a row, returning is what a write asks for, meets whether it tells whether the row meets a condition, table what it writes to.
	inserts   bool
	returning []database.Output
	meets     bool
	table     *database.Table
	// answer is what came back, behind what Text held before; take judges it and may be nil.
	answer database.Answer
	take   func(database.Answer) error

	prepared *pgconn.StatementDescription
}

// text is the statement's SQL, and its values.
func (s *statement) text() ([]byte, [][]byte) {
	switch {
	case s.c == nil:
		return []byte(s.command), nil
	case s.counts:
		return s.c.sql.Count, s.c.params.values[:s.c.sql.CountArgs]
	case s.plan != nil:
		return s.c.sql.Select, s.c.params.values
	}
	return s.c.sql.Text, s.c.params.values
}

func newStatement() *statement {
	c := calls.Get()
	c.queued.c = c
	return &c.queued
}

// queueRead queues a read. A count is always exact: a count that is cut off would end the transaction.
func (t *transaction) queueRead(plan *database.Select, out []byte, take func(database.Answer) error) error {
	s := newStatement()
	s.plan, s.answer.Text, s.take = plan, out, take
	if err := s.c.prepare(plan); err != nil {
		s.c.release()
		return err
	}
	t.queue = append(t.queue, s)
	if plan.Total != database.TotalNone {
		s.take = nil
		t.queue = append(t.queue, &statement{c: s.c, plan: plan, counts: true, take: take})
	}
	return nil
}

// queueWrite queues a statement that build writes.
func (t *transaction) queueWrite(table *database.Table, build func(*sqltext.Statement) error) (*statement, error) {
	s := newStatement()
	s.table = table
	err := build(&s.c.sql)
	if err == nil {
		err = s.c.params.encode(s.c.sql.Args)
	}
	if err != nil {
		s.c.release()
		return nil, err
	}
	t.queue = append(t.queue, s)
	return s, nil
}

// queueInsert queues an insertion.
func (t *transaction) queueInsert(plan *database.Insert, out []byte, take func(database.Answer) error) error {
	s, err := t.queueWrite(plan.Into.Table(), func(sql *sqltext.Statement) error { return sql.BuildInsert(sqltext.PostgreSQL, plan) })
	if err == nil {
		s.inserts, s.take = true, take
		s.returns(plan.Returning, plan.MaxValue, plan.Meets, out)
	}
	return err
}

// queueUpdate queues an update.
func (t *transaction) queueUpdate(plan *database.Update, take func(database.Answer) error) error {
	s, err := t.queueWrite(plan.In.Table(), func(sql *sqltext.Statement) error { return sql.BuildUpdate(sqltext.PostgreSQL, plan) })
	if err == nil {
		s.take = take
		s.returns(plan.Returning, plan.MaxValue, plan.Meets, nil)
	}
	return err
}

func (s *statement) returns(outputs []database.Output, maxValue int, meets database.Condition, out []byte) {
	s.returning, s.meets, s.answer.Text = outputs, meets != nil, out
	s.c.rows.writer.Prepare(cells{}, outputs, maxValue, database.RowObjects)
}

func (t *transaction) queueCommand(command string) {
	t.queue = append(t.queue, &statement{command: command})
}

// owes reports whether a row waits in the queue: what it leads to is not known yet.
func (t *transaction) owes() bool {
	for _, s := range t.queue {
		if s.c != nil {
			return true
		}
	}
	return false
}

// drop forgets what is queued beyond the first statements.
func (t *transaction) drop(beyond int) {
	release(t.queue[beyond:])
	t.queue = t.queue[:beyond]
}

func release(queue []*statement) {
	for _, s := range queue {
		if s.c != nil && !s.counts {
			s.c.release()
		}
	}
	clear(queue)
}

// flush sends what is queued, judges the answers, and returns the last. An error is a *database.Error, or what a statement's
// take returned.
func (t *transaction) flush(ctx context.Context) (last database.Answer, err error) {
	defer t.drop(0)
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

// send sends what is queued in one round trip. If a statement failed, it returns that and the server's own error. BEGIN goes with
// the first statements; a connection that turns out to be dead then is replaced once, as nothing can have been committed.
func (t *transaction) send(ctx context.Context) (*statement, error) {
	if len(t.queue) == 0 {
		return nil, nil
	}
	t.sent++
	for again := false; ; again = true {
		guarded, cancel := t.db.guard(ctx, len(t.queue))
		s, err := t.attempt(ctx, guarded)
		lost := err != nil && !t.begun && (preparedLost(err) || t.db.died(ctx, guarded, t.conn))
		cancel()
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
func (t *transaction) attempt(ctx, guarded context.Context) (*statement, error) {
	t.delivered = false
	if s, err := t.prepare(guarded); err != nil {
		return s, err
	}
	var batch pgconn.Batch
	before := 0
	if !t.begun {
		before = t.sendBegin(ctx, &batch)
	}
	for _, s := range t.queue {
		sql, values := s.text()
		send(&batch, s.prepared, sql, values)
	}
	t.delivered = true
	results := t.conn.ExecBatch(guarded, &batch)
	for ; before > 0; before-- {
		if !results.NextResult() {
			return nil, results.Close()
		}
		if _, err := results.ResultReader().Close(); err != nil {
			_ = results.Close() // it has the same error
			return nil, err
		}
		t.begun = true
	}
	for i, s := range t.queue {
		if !results.NextResult() {
			return s, results.Close()
		}
		if err := s.read(results.ResultReader()); err != nil {
			_ = results.Close() // it has the same error, or none
			return s, err
		}
		if s.counts {
			s.answer.Text, s.answer.Page = t.queue[i-1].answer.Text, s.counted(t.queue[i-1].answer.Page)
		}
		if s.take == nil {
			continue
		}
		if err := s.take(s.answer); err != nil {
			_ = results.Close() // what the other statements led to is undone
			return nil, err
		}
	}
	return t.queue[len(t.queue)-1], results.Close()
}

// prepare prepares the statements that have come before. If that fails, it returns the statement.
func (t *transaction) prepare(ctx context.Context) (*statement, error) {
	if t.unnamed() {
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
			continue
		}
		sql, _ := s.text()
		var err error
		if s.prepared, err = t.session.prepare(ctx, t.conn, sql); err != nil {
			return s, err
		}
	}
	return nil, nil
}

// read reads the statement's result.
func (s *statement) read(reader *pgconn.ResultReader) error {
	var err error
	switch {
	case s.counts:
		for reader.NextRow() {
			s.answer.Page.Total, err = strconv.ParseInt(string(reader.Values()[0]), 10, 64)
		}
	case s.plan != nil:
		s.answer.Text, s.answer.Page, err = s.c.rows.read(reader, s.plan, s.answer.Text)
	case len(s.returning) > 0:
		s.answer.Text, err = s.c.rows.returned(reader, s.returning, s.meets, s.answer.Text)
	}
	tag, closeErr := reader.Close()
	if closeErr != nil {
		return closeErr
	}
	s.answer.Matched = tag.RowsAffected()
	if s.inserts && len(s.returning) == 0 && s.answer.Matched > 0 {
		s.answer.Text = append(s.answer.Text, "{}"...)
	}
	return err
}

// counted is the page of the read before, with the total that was counted.
func (s *statement) counted(page database.Page) database.Page {
	page.Total = s.answer.Page.Total
	settleTotal(s.plan, &page)
	return page
}
