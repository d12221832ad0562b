package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// batch is how many rows one INSERT writes at most, if they have few columns.
const batch = 200

// fill copies the rows of a table.
func (l *loader) fill(ctx context.Context, t *sourceTable, conn *sql.Conn) error {
	read := make([]string, len(t.columns))
	for i, c := range t.columns {
		read[i] = "+" + quote(c.name) // an expression has no declared type, so the driver changes nothing
		switch l.forms[c] {
		case textForm, dateForm, timestampForm:
			read[i] = "CAST(" + quote(c.name) + " AS TEXT)"
		case integerForm, booleanForm:
			read[i] = "CAST(" + quote(c.name) + " AS INTEGER)"
		case floatForm:
			read[i] = "CAST(" + quote(c.name) + " AS REAL)"
		}
	}
	rows, err := l.QueryContext(ctx, "SELECT "+strings.Join(read, ", ")+" FROM "+quote(t.name))
	if err != nil {
		return err
	}
	defer rows.Close()
	most := max(1, min(batch, 10000/len(t.columns)))
	var values []any
	write := func() error {
		if len(values) == 0 {
			return nil
		}
		_, err := conn.ExecContext(ctx, l.insert(t, len(values)/len(t.columns)), values...)
		values = values[:0]
		return err
	}
	for rows.Next() {
		row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.columns {
			if n, ok := row[i].(int64); ok && l.forms[c] == booleanForm {
				row[i] = n != 0
			}
		}
		if values = append(values, row...); len(values) >= most*len(t.columns) {
			if err := write(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return write()
}

func (l *loader) insert(t *sourceTable, rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES ", l.name(t.name), l.names(t.columns))
	n := 0
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('(')
		for j := range t.columns {
			if j > 0 {
				b.WriteString(", ")
			}
			n++
			b.WriteString(l.placeholder(n))
		}
		b.WriteByte(')')
	}
	return b.String()
}
