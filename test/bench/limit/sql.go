package main

import (
	"context"
	"database/sql"
	"errors"
)

// plain uses database/sql, as most Go servers do, with prepared statements and values as texts: MariaDB and SQLite. A
// transaction is a round trip for each statement, as the drivers have no pipeline.
type plain struct {
	// read and write are the same but for SQLite, which has one writer.
	read, write *sql.DB
	prepared    map[string]*sql.Stmt
	// again reports whether an UPDATE returns no row, so that it must be read again.
	again bool
}

// prepare prepares the statements; those of writes on the connections that write.
func (p *plain) prepare(reads, writes map[string]string) (engine, error) {
	p.prepared = map[string]*sql.Stmt{}
	var all []error
	for _, set := range []struct {
		db         *sql.DB
		statements map[string]string
	}{{p.read, reads}, {p.write, writes}} {
		for name, text := range set.statements {
			var err error
			p.prepared[name], err = set.db.Prepare(text) //nolint:sqlclosecheck // it is used until the process ends
			all = append(all, err)
		}
	}
	return p, errors.Join(all...)
}

// each runs a prepared statement, and gives each of its rows to a function; columns is how many it has. A row is valid until the next.
func each(ctx context.Context, s *sql.Stmt, columns int, row func([][]byte), values ...any) error {
	rows, err := s.QueryContext(ctx, values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	raw, targets, texts := make([]sql.RawBytes, columns), make([]any, columns), make([][]byte, columns)
	for i := range raw {
		targets[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i := range raw {
			texts[i] = raw[i]
		}
		row(texts)
	}
	return rows.Err()
}

// change runs a prepared statement without rows.
func change(ctx context.Context, s *sql.Stmt, values ...any) error {
	_, err := s.ExecContext(ctx, values...)
	return err
}

func (p *plain) get(ctx context.Context, m *memory, id int64) error {
	return each(ctx, p.prepared["get"], len(bookFields), func(row [][]byte) { m.text = appendRow(m.text, bookFields, row) }, budget, id)
}

func (p *plain) list(ctx context.Context, m *memory, author int64, counted bool) error {
	err := each(ctx, p.prepared["list"], len(bookFields)+1, func(row [][]byte) { m.page.add(bookFields, row) }, budget, author)
	var total []byte
	if err == nil && counted {
		err = each(ctx, p.prepared["count"], 1, func(row [][]byte) { total = append(total, row[0]...) }, budget, author)
	}
	m.text = appendPage(m.text, &m.page, total)
	return err
}

func (p *plain) aggregate(ctx context.Context, m *memory, author int64) error {
	err := each(ctx, p.prepared["aggregate"], len(groupFields), func(row [][]byte) { m.page.add(groupFields, row) }, budget, author)
	m.text = appendPage(m.text, &m.page, nil)
	return err
}

// transact runs do in a transaction, with the prepared statements in it.
func (p *plain) transact(ctx context.Context, do func(in func(name string) *sql.Stmt) error) error {
	tx, err := p.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(func(name string) *sql.Stmt { return tx.StmtContext(ctx, p.prepared[name]) }); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (p *plain) create(ctx context.Context, m *memory, data *book) error {
	call := newCall()
	return p.transact(ctx, func(in func(string) *sql.Stmt) error {
		var id []byte
		err := each(ctx, in("author"), 1, func([][]byte) {}, data.AuthorID)
		if err != nil {
			return err
		}
		err = each(ctx, in("create"), len(bookFields), func(row [][]byte) {
			id = append(id, row[0]...)
			m.changes = appendChanges(m.changes, nil, row)
			m.text = appendCreated(m.text, row, call)
		}, data.AuthorID, data.Description, data.Price, data.Published, data.Title)
		if err != nil {
			return err
		}
		return journalIn(ctx, in, m, "create", id, data.Title, "created", call)
	})
}

func (p *plain) update(ctx context.Context, m *memory, id int64, data *book) error {
	call := newCall()
	return p.transact(ctx, func(in func(string) *sql.Stmt) error {
		var before [][]byte
		err := each(ctx, in("lock"), len(bookFields), func(row [][]byte) { before = keep(row) }, budget, id)
		if err != nil {
			return err
		}
		after := func(row [][]byte) {
			m.changes = appendChanges(m.changes, before, row)
			m.text = appendUpdated(m.text, row, call)
		}
		values := []any{data.Price, budget, id}
		if p.again {
			if err = change(ctx, in("update"), values...); err == nil {
				err = each(ctx, in("again"), len(bookFields), after, budget, id)
			}
		} else {
			err = each(ctx, in("update"), len(bookFields), after, values...)
		}
		if err != nil {
			return err
		}
		return journalIn(ctx, in, m, "update", before[0], string(before[1]), "changed price", call)
	})
}

// journalIn writes the row of the journal about a change.
func journalIn(ctx context.Context, in func(string) *sql.Stmt, m *memory, action string, id []byte, title, message, call string) error {
	return change(ctx, in("journal"), "bench/limit", action, "book", "", "book", string(id), title, message, string(m.changes), call)
}
