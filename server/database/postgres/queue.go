package postgres

import (
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// queue has the statements of a transaction that were not sent yet.
type queue []*statement

// read adds a read. A count is always exact: a count that is cut off would end the transaction.
func (q *queue) read(plan *database.Select, out []byte, take func(database.Answer) error) error {
	s, err := newRead(plan, out)
	if err != nil {
		return err
	}
	if plan.Total == database.TotalNone {
		s.take = take
		*q = append(*q, s)
		return nil
	}
	*q = append(*q, s, &statement{c: s.c, plan: plan, counts: true, take: take})
	return nil
}

// insert adds an insertion.
func (q *queue) insert(plan *database.Insert, out []byte, take func(database.Answer) error) error {
	s, err := newWrite(plan.Into.Table(), func(sql *sqltext.Statement) error { return sql.BuildInsert(sqltext.PostgreSQL, plan) })
	if err != nil {
		return err
	}
	s.inserts, s.take = true, take
	s.returns(plan.Returning, plan.MaxValue, plan.Meets, out)
	*q = append(*q, s)
	return nil
}

// update adds an update.
func (q *queue) update(plan *database.Update, take func(database.Answer) error) error {
	s, err := newWrite(plan.In.Table(), func(sql *sqltext.Statement) error { return sql.BuildUpdate(sqltext.PostgreSQL, plan) })
	if err != nil {
		return err
	}
	s.take = take
	s.returns(plan.Returning, plan.MaxValue, plan.Meets, nil)
	*q = append(*q, s)
	return nil
}

// delete adds a deletion.
func (q *queue) delete(plan *database.Delete) error {
	s, err := newWrite(plan.From.Table(), func(sql *sqltext.Statement) error { return sql.BuildDelete(sqltext.PostgreSQL, plan) })
	if err == nil {
		*q = append(*q, s)
	}
	return err
}

// declared adds a statement that an administrator wrote.
func (q *queue) declared(statement *database.Declared) error {
	s, err := newWrite(nil, func(sql *sqltext.Statement) error { return sql.BuildDeclared(sqltext.PostgreSQL, statement) })
	if err == nil {
		*q = append(*q, s)
	}
	return err
}

// batched adds a statement of a batch.
func (q *queue) batched(b *database.Statement) error {
	switch {
	case b.Select != nil:
		return q.read(b.Select, nil, b.Take)
	case b.Insert != nil:
		return q.insert(b.Insert, nil, b.Take)
	}
	return q.update(b.Update, b.Take)
}

// command adds a command without values.
func (q *queue) command(text string) {
	s := commands.Get()
	s.command = text
	*q = append(*q, s)
}

// owes reports whether a row waits: what it leads to is not known yet.
func (q queue) owes() bool {
	for _, s := range q {
		if s.c != nil {
			return true
		}
	}
	return false
}

// drop forgets what was added beyond the first statements.
func (q *queue) drop(beyond int) {
	for _, s := range (*q)[beyond:] {
		s.release()
	}
	clear((*q)[beyond:])
	*q = (*q)[:beyond]
}
