package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // it reads the schema
)

// table is a table of a domain, as its schema declares it.
type table struct {
	name    string
	columns []column
	key     []string
}

// column is a column with its type, without lengths and in capital letters.
type column struct{ name, kind string }

// readTables reads the tables of a schema in the order in which they are made. SQLite reads it, which keeps the types as they
// are written.
func readTables(ctx context.Context, schema string) ([]*table, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("schema.sql: %w", err)
	}
	found, err := db.QueryContext(ctx, `SELECT t.name, c.name, c.type, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.rowid, c.pk, c.cid`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []*table
	for found.Next() {
		var name, kind string
		var c column
		var place int
		if err := found.Scan(&name, &c.name, &kind, &place); err != nil {
			return nil, err
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &table{name: name})
		}
		t := all[len(all)-1]
		c.kind, _, _ = strings.Cut(strings.ToUpper(kind), "(")
		t.columns = append(t.columns, c)
		if place > 0 { // they come in the order of the key
			t.key = append(t.key, c.name)
		}
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("schema.sql makes no table")
	}
	for _, t := range all {
		if len(t.key) == 0 {
			return nil, fmt.Errorf("schema.sql: %s has no primary key; its rows cannot be told apart", t.name)
		}
	}
	return all, nil
}

// column is the table's column of a name; nil if it has none.
func (t *table) column(name string) *column {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// row is a row's values as texts, by column; NULL is not there.
type row map[string]string

// rows are a table's rows, by their keys.
type rows map[string]row

func (t *table) keyOf(r row) string {
	parts := make([]string, len(t.key))
	for i, name := range t.key {
		parts[i] = strconv.Quote(r[name])
	}
	return strings.Join(parts, ",")
}

func (t *table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// snapshot is the rows of a table at one time. lines are the same as the driver gives them, with their keys: a row that is
// still the same need not be read again.
type snapshot struct {
	rows  rows
	lines map[string]string
}

// read reads all rows of a table. If they are as before, it returns before itself; that may be nil.
func (t *table) read(ctx context.Context, db *sql.DB, before *snapshot) (*snapshot, error) {
	found, err := db.QueryContext(ctx, "SELECT "+strings.Join(t.names(), ", ")+" FROM "+t.name)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	values, into := make([]sql.RawBytes, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		into[i] = &values[i]
	}
	now := &snapshot{rows{}, map[string]string{}}
	same := true
	var line []byte
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		line = line[:0]
		for _, v := range values {
			line = append(strconv.AppendBool(line, v == nil), v...)
			line = append(line, 0)
		}
		if key, known := before.find(line); known {
			now.rows[key] = before.rows[key]
			continue
		}
		same = false
		r := row{}
		for i, c := range t.columns {
			if values[i] != nil {
				r[c.name] = c.text(string(values[i]))
			}
		}
		key := t.keyOf(r)
		now.rows[key], now.lines[string(line)] = r, key
	}
	if before != nil && same && len(now.rows) == len(before.rows) {
		now = before
	}
	return now, found.Err()
}

// find returns the key of a row that is the same as it was.
func (s *snapshot) find(line []byte) (key string, known bool) {
	if s == nil {
		return "", false
	}
	key, known = s.lines[string(line)]
	return key, known
}
