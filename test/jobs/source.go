package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"

	_ "modernc.org/sqlite" // the questions' own databases
)

// source is a question's own database: a SQLite file as it was given.
type source struct {
	*sql.DB
	tables []*sourceTable
}

type sourceTable struct {
	name    string
	columns []*sourceColumn
	// unique are the primary key, which is first if keyed, and the unique constraints.
	unique [][]*sourceColumn
	keyed  bool
	keys   []*sourceKey
}

type sourceColumn struct {
	name, declared string
	notNull        bool
	// types are how many rows hold each type of value (integer, real, text, blob, null).
	types map[string]int
	// dates reports whether all values are of a declared type of dates, in its usual form.
	dates bool
	// folded reports whether texts that differ are equal here.
	folded bool
	// distinct reports whether every row has another value.
	distinct bool
	// numbers says which numbers the texts hold. It is nil if SQLite computes with other ones.
	numbers *numberTexts
	// plain reports whether all texts are of small letters and digits of ASCII alone.
	plain bool
}

type sourceKey struct {
	columns    []*sourceColumn
	references *sourceTable
	referenced []*sourceColumn
	// holds reports whether each row without NULLs leads to a row.
	holds bool
}

// openSource opens a file and reads its schema.
func openSource(ctx context.Context, file string) (*source, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	s := &source{DB: db}
	if err := s.read(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func (s *source) read(ctx context.Context) error {
	names, err := s.texts(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", 1)
	if err != nil {
		return err
	}
	for _, n := range names {
		t := &sourceTable{name: n[0]}
		s.tables = append(s.tables, t)
		if err := s.readColumns(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range s.tables {
		if err := s.readKeys(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// foldedTexts asks whether a column's collation takes a text for equal to another one: in the other case, or with a blank
// more. An expression such as x || ” has no collation.
const foldedTexts = `SELECT EXISTS (SELECT 1 FROM %[2]s WHERE typeof(%[1]s) = 'text' AND
(%[1]s = upper(%[1]s) AND %[1]s || '' <> upper(%[1]s) OR %[1]s = lower(%[1]s) AND %[1]s || '' <> lower(%[1]s) OR %[1]s = %[1]s || ' '))`

func (s *source) readColumns(ctx context.Context, t *sourceTable) error {
	rows, err := s.texts(ctx, `SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid`, 4, t.name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		c := &sourceColumn{name: r[0], declared: strings.ToUpper(r[1]), notNull: r[2] == "1", types: map[string]int{}}
		t.columns = append(t.columns, c)
		counts, err := s.texts(ctx, fmt.Sprintf("SELECT typeof(%[1]s), count(*) FROM %[2]s GROUP BY 1", quote(c.name), quote(t.name)), 2)
		if err != nil {
			return err
		}
		if err := s.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) = count(DISTINCT %s) FROM %s", quote(c.name), quote(t.name))).Scan(&c.distinct); err != nil {
			return err
		}
		if err := s.QueryRowContext(ctx, fmt.Sprintf(foldedTexts, quote(c.name), quote(t.name))).Scan(&c.folded); err != nil {
			return err
		}
		if err := s.QueryRowContext(ctx, fmt.Sprintf("SELECT NOT EXISTS (SELECT 1 FROM %s WHERE %s GLOB '*[^a-z0-9]*')", quote(t.name), quote(c.name))).Scan(&c.plain); err != nil {
			return err
		}
		if affinity(c.declared) == planner.TextAffinity {
			if c.numbers, err = s.numbersIn(ctx, t, c); err != nil {
				return err
			}
		}
		for _, n := range counts {
			c.types[n[0]], err = strconv.Atoi(n[1])
			if err != nil {
				return err
			}
		}
	}
	for _, c := range t.columns {
		if f := meant(c.declared)[0]; f == dateForm || f == timestampForm {
			if c.dates, err = s.fits(ctx, t, c, f); err != nil {
				return err
			}
		}
	}
	key, err := s.texts(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", 1, t.name)
	if err != nil {
		return err
	}
	if t.keyed = len(key) > 0; t.keyed {
		t.unique = append(t.unique, t.find(key))
	}
	indexes, err := s.texts(ctx, `SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0 AND origin <> 'pk' ORDER BY seq`, 1, t.name)
	for _, index := range indexes {
		var columns [][]string
		if columns, err = s.texts(ctx, "SELECT name FROM pragma_index_info(?) WHERE name IS NOT NULL ORDER BY seqno", 1, index[0]); err != nil {
			return err
		}
		t.unique = append(t.unique, t.find(columns))
	}
	return err
}

// readKeys reads the foreign keys that lead to columns that exist.
func (s *source) readKeys(ctx context.Context, t *sourceTable) error {
	rows, err := s.texts(ctx, `SELECT id, "table", "from", coalesce("to", '') FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq`, 4, t.name)
	if err != nil {
		return err
	}
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && rows[end][0] == rows[i][0] {
			end++
		}
		if key := s.key(t, rows[i:end]); key != nil {
			if err := s.checkKey(ctx, t, key); err != nil {
				return err
			}
			t.keys = append(t.keys, key)
		}
		i = end
	}
	return nil
}

func (s *source) key(t *sourceTable, rows [][]string) *sourceKey {
	key := &sourceKey{}
	for _, other := range s.tables {
		if strings.EqualFold(other.name, rows[0][1]) {
			key.references = other
		}
	}
	if key.references == nil {
		return nil
	}
	for i, r := range rows {
		from, to := t.column(r[2]), key.references.column(r[3])
		if r[3] == "" && key.references.keyed && i < len(key.references.unique[0]) {
			to = key.references.unique[0][i]
		}
		if from == nil || to == nil {
			return nil
		}
		key.columns, key.referenced = append(key.columns, from), append(key.referenced, to)
	}
	return key
}

// checkKey finds out whether a foreign key holds.
func (s *source) checkKey(ctx context.Context, t *sourceTable, key *sourceKey) error {
	var there, same []string
	for i := range key.columns {
		there = append(there, fmt.Sprintf("a.%s IS NOT NULL", quote(key.columns[i].name)))
		same = append(same, fmt.Sprintf("a.%s = b.%s", quote(key.columns[i].name), quote(key.referenced[i].name)))
	}
	return s.QueryRowContext(ctx, fmt.Sprintf("SELECT NOT EXISTS (SELECT 1 FROM %s AS a WHERE %s AND NOT EXISTS (SELECT 1 FROM %s AS b WHERE %s))",
		quote(t.name), strings.Join(there, " AND "), quote(key.references.name), strings.Join(same, " AND "))).Scan(&key.holds)
}

// texts runs a query and returns its rows as texts.
func (s *source) texts(ctx context.Context, query string, columns int, args ...any) ([][]string, error) {
	rows, err := s.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]string
	for rows.Next() {
		row := make([]string, columns)
		into := make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// rows is how many rows the table has.
func (t *sourceTable) rows() int {
	n := 0
	for _, c := range t.columns[:1] {
		for _, of := range c.types {
			n += of
		}
	}
	return n
}

// table returns the table of a name that there is.
func (s *source) table(name string) *sourceTable {
	for _, t := range s.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (t *sourceTable) column(name string) *sourceColumn {
	for _, c := range t.columns {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

func (t *sourceTable) find(names [][]string) []*sourceColumn {
	var columns []*sourceColumn
	for _, n := range names {
		if c := t.column(n[0]); c != nil {
			columns = append(columns, c)
		}
	}
	return columns
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
