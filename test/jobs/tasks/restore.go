package main

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
)

// restore makes the rows of tables what they were, by plain SQL.
func restore(ctx context.Context, db *sql.DB, placeholder func(int) string, tables []*table, got, want map[string]*snapshot) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it is an error after the commit
	run := func(sql string, values ...any) error {
		_, err := tx.ExecContext(ctx, sql, values...)
		return err
	}
	for _, t := range slices.Backward(tables) { // rows that refer to others first
		for key, r := range got[t.name].rows {
			if _, wanted := want[t.name].rows[key]; wanted {
				continue
			}
			where, values := t.where(r, placeholder, 0)
			if err := run("DELETE FROM "+t.name+where, values...); err != nil {
				return err
			}
		}
	}
	for _, t := range tables {
		for key, r := range want[t.name].rows {
			is, there := got[t.name].rows[key]
			if there && maps.Equal(is, r) {
				continue
			}
			if err := t.put(r, there, placeholder, run); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// put writes a row, which is there or not.
func (t *table) put(r row, there bool, placeholder func(int) string, run func(string, ...any) error) error {
	var names, marks, sets []string
	var values []any
	for i, c := range t.columns {
		names, marks = append(names, c.name), append(marks, placeholder(i+1))
		sets = append(sets, c.name+" = "+placeholder(i+1))
		values = append(values, c.value(r))
	}
	if !there {
		return run("INSERT INTO "+t.name+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", values...)
	}
	where, key := t.where(r, placeholder, len(values))
	return run("UPDATE "+t.name+" SET "+strings.Join(sets, ", ")+where, append(values, key...)...)
}

// where is the condition that a row has the key of this one.
func (t *table) where(r row, placeholder func(int) string, before int) (sql string, values []any) {
	var parts []string
	for i, name := range t.key {
		parts = append(parts, name+" = "+placeholder(before+i+1))
		values = append(values, t.column(name).value(r))
	}
	return " WHERE " + strings.Join(parts, " AND "), values
}
