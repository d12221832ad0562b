package main

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// target is how an engine's schema is written.
type target struct {
	quote       byte
	types       map[form]string
	placeholder func(n int) string
	// keyText is the type of a text that a key has, of that many characters; longest is the most that a whole key may have.
	keyText string
	longest int
	// suffix ends CREATE TABLE, unchecked a foreign key that the rows need not meet.
	suffix, unchecked string
	// before runs before the rows and keys are written.
	before string
}

// form is the type of a column's values: the type that its declared type means, if all of its values fit that.
type form int

const (
	textForm form = iota
	integerForm
	floatForm
	booleanForm
	dateForm
	timestampForm
	bytesForm
)

var postgres = target{
	quote: '"', placeholder: func(n int) string { return "$" + strconv.Itoa(n) },
	types: map[form]string{textForm: "text", integerForm: "bigint", floatForm: "double precision", booleanForm: "boolean",
		dateForm: "date", timestampForm: "timestamp", bytesForm: "bytea"},
	keyText: "text", longest: 600, unchecked: " NOT VALID",
}

var mariadb = target{
	quote: '`', placeholder: func(int) string { return "?" },
	types: map[form]string{textForm: "longtext", integerForm: "bigint", floatForm: "double", booleanForm: "boolean",
		dateForm: "date", timestampForm: "datetime", bytesForm: "longblob"},
	keyText: "varchar(%d)", longest: 600, suffix: " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
	before: "SET foreign_key_checks = 0",
}

func (t target) name(text string) string {
	q := string(t.quote)
	return q + strings.ReplaceAll(text, q, q+q) + q
}

func (t target) names(columns []*sourceColumn) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = t.name(c.name)
	}
	return strings.Join(all, ", ")
}

// loader copies a source into another engine's database.
type loader struct {
	*source
	target
	forms map[*sourceColumn]form
	// lengths are of the longest texts, keyed the columns of keys.
	lengths map[*sourceColumn]int
	keyed   map[*sourceColumn]bool
	// made are the foreign keys that the engine has.
	made map[*sourceKey]bool
}

// load copies the source: each table with its rows, then the keys. It returns the foreign keys that the engine declares.
func load(ctx context.Context, s *source, t target, to *sql.DB) (map[*sourceKey]bool, error) {
	conn, err := to.Conn(ctx) // one session, for its settings
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	l := &loader{s, t, map[*sourceColumn]form{}, map[*sourceColumn]int{}, map[*sourceColumn]bool{}, map[*sourceKey]bool{}}
	if err := l.choose(ctx); err != nil {
		return nil, err
	}
	if t.before != "" {
		if _, err := conn.ExecContext(ctx, t.before); err != nil {
			return nil, err
		}
	}
	for _, table := range s.tables {
		if _, err := conn.ExecContext(ctx, l.create(table)); err != nil {
			return nil, fmt.Errorf("%s: %w", table.name, err)
		}
		if err := l.fill(ctx, table, conn); err != nil {
			return nil, fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return l.made, l.relate(ctx, conn)
}

// choose chooses the columns' types.
func (l *loader) choose(ctx context.Context) error {
	for _, t := range l.tables {
		for _, c := range t.columns {
			f, length, err := l.fitting(ctx, t, c)
			if err != nil {
				return err
			}
			l.forms[c], l.lengths[c] = f, length
		}
		for _, key := range t.unique {
			for _, c := range key {
				l.keyed[c] = true
			}
		}
	}
	for _, t := range l.tables { // a foreign key has the type of what it leads to, if its values fit
		for _, key := range t.keys {
			for i, c := range key.columns {
				want := l.forms[key.referenced[i]]
				if l.forms[c] != want {
					fits, err := l.fits(ctx, t, c, want)
					if err != nil {
						return err
					}
					if fits {
						l.forms[c] = want
					}
				}
				l.keyed[c], l.keyed[key.referenced[i]] = true, true
			}
		}
	}
	return nil
}

func (l *loader) fitting(ctx context.Context, t *sourceTable, c *sourceColumn) (form, int, error) {
	var length sql.NullInt64
	if err := l.QueryRowContext(ctx, fmt.Sprintf("SELECT max(length(%s)) FROM %s", quote(c.name), quote(t.name))).Scan(&length); err != nil {
		return 0, 0, err
	}
	for _, f := range meant(c.declared) {
		fits, err := l.fits(ctx, t, c, f)
		if err != nil || fits {
			return f, int(length.Int64), err
		}
	}
	return textForm, int(length.Int64), nil
}

// meant are the types that a declared type means, the first one first.
func meant(declared string) []form {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(declared, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("BOOL"):
		return []form{booleanForm, integerForm}
	case has("INT"):
		return []form{integerForm, floatForm}
	case has("CHAR", "CLOB", "TEXT"):
		return []form{textForm}
	case has("BLOB", "BINARY"):
		return []form{bytesForm}
	case has("DATETIME", "TIMESTAMP"):
		return []form{timestampForm}
	case declared == "DATE":
		return []form{dateForm, timestampForm}
	}
	return []form{integerForm, floatForm}
}

// patterns must match the texts of a type; numeric checks its numbers.
var patterns = map[form]*regexp.Regexp{
	integerForm:   regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`),
	floatForm:     regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,9}[1-9])?$`),
	dateForm:      regexp.MustCompile(`^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$`),
	timestampForm: regexp.MustCompile(`^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$`),
}

// fits reports whether all values of a column can be stored in a type, and come back as they were.
func (s *source) fits(ctx context.Context, t *sourceTable, c *sourceColumn, f form) (bool, error) {
	declared := meant(c.declared)[0]
	switch f {
	case textForm:
		return c.types["blob"] == 0, nil
	case bytesForm:
		return c.types["text"]+c.types["integer"]+c.types["real"] == 0, nil
	case integerForm:
		if c.types["text"]+c.types["real"]+c.types["blob"] == 0 {
			return declared != floatForm, nil
		}
	case floatForm:
		if c.types["text"]+c.types["blob"] == 0 {
			return true, nil
		}
	}
	pattern := patterns[f]
	if f == booleanForm {
		pattern = regexp.MustCompile(`^[01]$`)
	}
	if c.types["blob"] > 0 || c.types["real"] > 0 && f != floatForm {
		return false, nil
	}
	values, err := s.texts(ctx, fmt.Sprintf("SELECT DISTINCT CAST(%[1]s AS TEXT) FROM %[2]s WHERE %[1]s IS NOT NULL", quote(c.name), quote(t.name)), 1)
	for _, v := range values {
		if !pattern.MatchString(v[0]) {
			return false, err
		}
	}
	return true, err
}

func (l *loader) create(t *sourceTable) string {
	var lines []string
	for _, c := range t.columns {
		line := l.name(c.name) + " " + l.columnType(c)
		if c.notNull {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	for i, key := range t.unique {
		word := "UNIQUE"
		if i == 0 && t.keyed {
			word = "PRIMARY KEY"
		}
		if l.mayKey(key) && (word == "UNIQUE" || !hasNulls(key)) {
			lines = append(lines, word+" ("+l.names(key)+")")
		}
	}
	return "CREATE TABLE " + l.name(t.name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)" + l.suffix
}

func (l *loader) columnType(c *sourceColumn) string {
	if l.forms[c] == textForm && l.keyed[c] && l.lengths[c] <= l.longest && strings.Contains(l.keyText, "%d") {
		return fmt.Sprintf(l.keyText, l.keyLength(c))
	}
	return l.types[l.forms[c]]
}

// keyLength is how many characters a text column of a key may have.
func (l *loader) keyLength(c *sourceColumn) int { return max(l.lengths[c], 20) }

// mayKey reports whether a key's values are short enough.
func (l *loader) mayKey(key []*sourceColumn) bool {
	length := 0
	for _, c := range key {
		if l.forms[c] == bytesForm {
			return false
		}
		if l.forms[c] == textForm {
			length += l.keyLength(c)
		}
	}
	return length <= l.longest
}

func hasNulls(key []*sourceColumn) bool {
	for _, c := range key {
		if c.types["null"] > 0 {
			return true
		}
	}
	return false
}

// relate declares the foreign keys that the engine takes.
func (l *loader) relate(ctx context.Context, conn *sql.Conn) error {
	for _, t := range l.tables {
		for i, key := range t.keys {
			if !l.mayRelate(key) {
				continue
			}
			statement := fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", l.name(t.name),
				l.name(fmt.Sprintf("fk_%d_%.40s", i, t.name)), l.names(key.columns), l.name(key.references.name), l.names(key.referenced))
			if !key.holds {
				statement += l.unchecked
			}
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			l.made[key] = true
		}
	}
	return nil
}

// mayRelate reports whether an engine takes a foreign key: one of equal types, to columns that are unique.
func (l *loader) mayRelate(key *sourceKey) bool {
	if !l.mayKey(key.columns) || !l.mayKey(key.referenced) {
		return false
	}
	for i, c := range key.columns {
		if l.forms[c] != l.forms[key.referenced[i]] {
			return false
		}
	}
	for _, unique := range key.references.unique {
		if sameColumns(unique, key.referenced) {
			return true
		}
	}
	return false
}

func sameColumns(a, b []*sourceColumn) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
