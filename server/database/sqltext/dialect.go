package sqltext

import (
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Dialect is an engine's way of writing SQL: PostgreSQL or SQLite.
type Dialect interface {
	// quote appends a quoted identifier.
	quote(dst []byte, name string) []byte
	// placeholder appends the placeholder of the nth value, counted from 1.
	placeholder(dst []byte, n int) []byte
	// selectPrefix and selectSuffix stand around the statement that reads the rows.
	selectPrefix(plan *database.Select) string
	selectSuffix(plan *database.Select) string
	// output writes a column that is read.
	output(w *writer, c *database.Column)
	// compare is called with a value that is not nil, in with at least one, match with a text that is not empty but
	// for TextEquals.
	compare(w *writer, c database.Compare)
	in(w *writer, c database.In)
	match(w *writer, m database.Match)
	part(w *writer, p database.PartEquals)
}

// quoteStandard quotes an identifier as standard SQL has it.
func quoteStandard(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(name); i++ {
		if name[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '"')
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePattern is the LIKE pattern, with the backslash as its escape character, that a text operator stands for.
func likePattern(op database.TextOp, text string) string {
	pattern := likeEscaper.Replace(text)
	switch op {
	case database.TextContains:
		return "%" + pattern + "%"
	case database.TextStartsWith:
		return pattern + "%"
	case database.TextEndsWith:
		return "%" + pattern
	}
	return pattern
}

// partNumber returns the number that a Year, Month or Day is compared with.
func partNumber(w *writer, p database.PartEquals) (int64, bool) {
	n, ok := p.Value.(int64)
	if !ok {
		w.invalid(p.Column, "must be a whole number")
	}
	return n, ok
}

// partDay returns the day that a WholeDate is compared with.
func partDay(w *writer, p database.PartEquals) (time.Time, bool) {
	text, _ := p.Value.(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		w.invalid(p.Column, "must be a date, written YYYY-MM-DD")
	}
	return day, err == nil
}
