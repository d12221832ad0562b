package sqlite

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Of checks, and of an index's expressions, SQLite tells only the text that made them. The code below reads from it
// which columns a violation is about. If it misreads a text, it names no columns.

// token is a piece of a definition.
type token struct {
	class class
	// text is a name without its quotes, or any other token as it stands.
	text string
	// from and to are where it stands.
	from, to int
}

// class says what a token is.
type class uint8

const (
	word class = iota
	quotedName
	literal
	sign
)

// is reports whether the token is that word of SQL.
func (t token) is(keyword string) bool { return t.class == word && sameName(t.text, keyword) }

// names reports whether the token may stand for a column.
func (t token) names(c *database.Column) bool {
	return (t.class == word || t.class == quotedName) && sameName(t.text, c.Name)
}

// isSign reports whether the token is that character.
func (t token) isSign(s string) bool { return t.class == sign && t.text == s }

// tokens splits a definition that SQLite has accepted, and leaves out comments.
func tokens(sql string) []token {
	var all []token
	for at := 0; at < len(sql); {
		from, rest := at, sql[at:]
		switch c := sql[at]; {
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			at++
		case strings.HasPrefix(rest, "--"):
			at = from + through(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			at = from + through(rest, "*/")
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end := c
			if c == '[' {
				end = ']'
			}
			var content string
			content, at = quoted(sql, at+1, end, c != '[')
			kind := quotedName
			if c == '\'' {
				kind = literal
			}
			all = append(all, token{kind, content, from, at})
		case isWordByte(c):
			for at < len(sql) && isWordByte(sql[at]) {
				at++
			}
			all = append(all, token{word, sql[from:at], from, at}) // or a number, which is not a name either
		default:
			at++
			all = append(all, token{sign, sql[from:at], from, at})
		}
	}
	return all
}

// through returns the length of a text up to and including the first end in it.
func through(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

// quoted reads up to the closing quote and returns where to go on. A doubled quote stands for one.
func quoted(sql string, at int, end byte, doubled bool) (content string, next int) {
	var b strings.Builder
	for ; at < len(sql); at++ {
		if sql[at] == end {
			if !doubled || at+1 == len(sql) || sql[at+1] != end {
				return b.String(), at + 1
			}
			at++
		}
		b.WriteByte(sql[at])
	}
	return b.String(), at
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// closing returns the index of the token that closes the parenthesis at the index open, or -1.
func closing(all []token, open int) int {
	depth := 0
	for i := open; i < len(all); i++ {
		switch {
		case all[i].isSign("("):
			depth++
		case all[i].isSign(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// checkDefinition is a check as the table's definition has it. name is "" if it has none.
type checkDefinition struct {
	name      string
	from, to  int
	condition []token
}

// checkDefinitions finds the checks of a table's definition.
func checkDefinitions(all []token) []checkDefinition {
	var found []checkDefinition
	for i := 0; i+1 < len(all); i++ {
		if !all[i].is("CHECK") || !all[i+1].isSign("(") {
			continue
		}
		end := closing(all, i+1)
		if end < 0 {
			break
		}
		d := checkDefinition{from: all[i+1].to, to: all[end].from, condition: all[i+2 : end]}
		if i >= 2 && all[i-2].is("CONSTRAINT") {
			d.name = all[i-1].text
		}
		found = append(found, d)
		i = end
	}
	return found
}

// checks returns the checks of a table by the names that SQLite gives them in its errors: their own, or else their
// text.
func checks(table *database.Table, sql string) []database.Constraint {
	var found []database.Constraint
	for _, d := range checkDefinitions(tokens(sql)) {
		name := d.name
		if name == "" {
			name = strings.TrimSpace(sql[d.from:d.to])
		}
		found = append(found, database.Constraint{Name: name, Columns: mentioned(table, d.condition)})
	}
	return found
}

// nameOf returns a check's own name from the name that SQLite has for it in its errors; "" if it has none of its own.
func nameOf(told string) string {
	if strings.ContainsFunc(told, func(r rune) bool { return strings.ContainsRune("()<>=!*/+|%&~'\"", r) }) {
		return ""
	}
	return told
}

// indexed returns the columns in an index's expressions, without those in its condition.
func indexed(table *database.Table, sql string) []*database.Column {
	all := tokens(sql)
	open := slices.IndexFunc(all, func(t token) bool { return t.isSign("(") })
	if open < 0 {
		return nil
	}
	if end := closing(all, open); end >= 0 {
		return mentioned(table, all[open:end])
	}
	return nil
}

// insteadOf returns which kind of statement a trigger replaces for a view.
func insteadOf(sql string) database.Privileges {
	all := tokens(sql)
	for i := 2; i < len(all); i++ {
		if !all[i-2].is("INSTEAD") || !all[i-1].is("OF") {
			continue
		}
		switch {
		case all[i].is("INSERT"):
			return database.MayInsert
		case all[i].is("UPDATE"):
			return database.MayUpdate
		case all[i].is("DELETE"):
			return database.MayDelete
		}
	}
	return 0
}

// mentioned returns the columns that tokens name, each once, in the table's order.
func mentioned(table *database.Table, among []token) []*database.Column {
	var columns []*database.Column
	for _, column := range table.Columns {
		if slices.ContainsFunc(among, func(t token) bool { return t.names(column) }) {
			columns = append(columns, column)
		}
	}
	return columns
}
