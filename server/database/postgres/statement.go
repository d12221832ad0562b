package postgres

import (
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// statement is a statement of a transaction's queue: a command, a read, the count for the read before it, or a write.
type statement struct {
	// command is sent as it is if c, the memory that the statement lies in, is nil.
	command string
	c       *call
	// plan is set for a read and for its count; counts reports whether it is the count.
	plan   *database.Select
	counts bool
	// table is what a write writes to, and inserts reports whether it adds a row. returning is what it asks for of the row,
	// and meets reports whether it also asks if the row meets the write's condition.
	table     *database.Table
	inserts   bool
	returning []database.Output
	meets     bool
	// answer is what came back, behind what Text held before; take judges it and may be nil.
	answer database.Answer
	take   func(database.Answer) error

	prepared *pgconn.StatementDescription
}

// newStatement returns a statement that lies in memory of its own.
func newStatement() *statement {
	c := calls.Get()
	c.queued.c = c
	return &c.queued
}

// newRead is the statement of a read, without its count.
func newRead(plan *database.Select, out []byte) (*statement, error) {
	s := newStatement()
	s.plan, s.answer.Text = plan, out
	if err := s.c.prepare(plan); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// newWrite is a statement about a table that build writes.
func newWrite(table *database.Table, build func(*sqltext.Statement) error) (*statement, error) {
	s := newStatement()
	s.table = table
	err := build(&s.c.sql)
	if err == nil {
		err = s.c.params.encode(s.c.sql.Args)
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// returns notes what a write returns, which goes behind what out holds.
func (s *statement) returns(outputs []database.Output, maxValue int, meets database.Condition, out []byte) {
	s.returning, s.meets, s.answer.Text = outputs, meets != nil, out
	s.c.rows.writer.Prepare(&cells{}, outputs, maxValue, database.RowObjects)
}

// commands are statements without memory of their own.
var commands objpool.Pool[statement]

// release gives the statement's memory back. A count lies in the memory of its read.
func (s *statement) release() {
	switch {
	case s.c == nil:
		*s = statement{}
		commands.Put(s)
	case !s.counts:
		s.c.release()
	}
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

// completes makes the answer of a count the answer of its read, with the total.
func (s *statement) completes(read *statement) {
	total := s.answer.Page.Total
	s.answer.Text, s.answer.Page = read.answer.Text, read.answer.Page
	s.answer.Page.Total = total
	settleTotal(s.plan, &s.answer.Page)
}
