package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table is a table of the shop, as its schema declares it.
type table struct {
	name    string
	columns []column
	key     []string
}

type column struct{ name, kind string }

var (
	createTable = regexp.MustCompile(`(?is)CREATE TABLE (\w+) \((.*?)\n\);`)
	columnLine  = regexp.MustCompile(`^  ([a-z_]\w*) ([A-Z]+)`)
	// Drivers and documents write days and moments in several forms: with a T, a zone, or a time of midnight.
	day     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	moment  = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d*[1-9])?\.?0*(?:Z|[-+]00(?::?00)?)?$`)
	keyLine = regexp.MustCompile(`^  PRIMARY KEY \(([^)]*)\)`)
)

// readTables reads the tables of a schema in the order in which they are made.
func readTables(schema string) []*table {
	var all []*table
	for _, made := range createTable.FindAllStringSubmatch(schema, -1) {
		t := &table{name: made[1]}
		for line := range strings.Lines(made[2]) {
			if key := keyLine.FindStringSubmatch(line); key != nil {
				for name := range strings.SplitSeq(key[1], ",") {
					t.key = append(t.key, strings.TrimSpace(name))
				}
			} else if c := columnLine.FindStringSubmatch(line); c != nil {
				t.columns = append(t.columns, column{c[1], c[2]})
				if strings.Contains(line, "PRIMARY KEY") {
					t.key = []string{c[1]}
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// row is a row's values as texts, by column; NULL is not there.
type row map[string]string

// rows are those of a table, by their keys.
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

// text is a value in one form, whichever engine or document it is from: money with two decimals,
// truth as true and false, days as 2026-01-31 and moments as 2026-01-31 08:00:00.
func (c column) text(value any) string {
	text := fmt.Sprint(value)
	switch c.kind {
	case "DECIMAL":
		if amount, ok := new(big.Rat).SetString(text); ok {
			return amount.FloatString(2)
		}
	case "DATE":
		return day.FindString(text)
	case "TIMESTAMP":
		return moment.ReplaceAllString(text, "$1 $2$3")
	case "BOOLEAN":
		if truth, err := strconv.ParseBool(text); err == nil {
			return strconv.FormatBool(truth)
		}
	}
	return text
}

// rowOf is a row of a document, or the values of some of its columns.
func (t *table) rowOf(members map[string]any) row {
	r := row{}
	for _, c := range t.columns {
		if value, there := members[c.name]; there && value != nil {
			r[c.name] = c.text(value)
		}
	}
	return r
}

// after is what the rows must be once the changes are made.
func (t *table) after(before rows, w writes) rows {
	all := maps.Clone(before)
	for _, inserted := range w.Inserted {
		r := t.rowOf(inserted)
		all[t.keyOf(r)] = r
	}
	for _, updated := range w.Updated {
		key := t.keyOf(t.rowOf(updated.Key))
		r := row{}
		maps.Copy(r, all[key])
		for name := range updated.New {
			delete(r, name)
		}
		maps.Copy(r, t.rowOf(updated.New))
		all[key] = r
	}
	for _, deleted := range w.Deleted {
		delete(all, t.keyOf(t.rowOf(deleted.Key)))
	}
	return all
}

// differences says how rows differ from those that are wanted.
func (t *table) differences(got, want rows) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch is, there := got[key]; {
		case !there:
			all = append(all, fmt.Sprintf("%s %s: lacks %v", t.name, key, want[key]))
		case !maps.Equal(is, want[key]):
			all = append(all, fmt.Sprintf("%s %s: is %v, not %v", t.name, key, is, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[key]; !wanted {
			all = append(all, fmt.Sprintf("%s %s: %v is too many", t.name, key, got[key]))
		}
	}
	return all
}

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
		c := t.columns[slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })]
		values = append(values, c.value(r))
	}
	return " WHERE " + strings.Join(parts, " AND "), values
}

// value is a row's value as drivers take it.
func (c column) value(r row) any {
	text, there := r[c.name]
	switch {
	case !there:
		return nil
	case c.kind == "BOOLEAN":
		return text == "true"
	case c.kind == "INTEGER":
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			return n
		}
	}
	return text
}
