package sqlite

import (
	"database/sql/driver"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// simpleChecks returns the checks of a table that bound the values of single columns. It leaves out a check that it
// does not surely understand.
func simpleChecks(table *database.Table, sql string) []database.Check {
	var found []database.Check
	all := tokens(sql)
	collated := slices.ContainsFunc(all, func(t token) bool { return t.is("COLLATE") })
	for _, d := range checkDefinitions(all) {
		r := checkReader{table: table, rest: d.condition, collated: collated}
		if r.condition() && len(r.rest) == 0 {
			for _, check := range r.found {
				check.Name = d.name
				found = append(found, check)
			}
		}
	}
	return found
}

// checkReader reads the condition of a check from left to right. Its methods report whether they understood what they read.
type checkReader struct {
	table *database.Table
	rest  []token
	// collated reports that texts may be compared by other rules than byte by byte.
	collated bool
	found    []database.Check
}

// condition reads terms joined by AND, or alternatives joined by OR, up to the end or a closing parenthesis.
func (r *checkReader) condition() bool {
	if r.isEither() {
		return r.either()
	}
	return r.terms()
}

// isEither reports whether an OR joins what comes next, outside of parentheses.
func (r *checkReader) isEither() bool {
	depth := 0
	for _, t := range r.rest {
		switch {
		case t.isSign("("):
			depth++
		case t.isSign(")"):
			depth--
		case depth == 0 && t.is("OR"):
			return true
		}
		if depth < 0 {
			return false
		}
	}
	return false
}

// either reads alternatives that are about one column: values, or one bound. NULL meets every check, so an alternative
// "c IS NULL" says nothing.
func (r *checkReader) either() bool {
	var c *database.Column
	var alternatives []database.Check
	for {
		one := checkReader{table: r.table, rest: r.rest, collated: r.collated}
		about := one.isNull()
		if about == nil {
			if !one.terms() || len(one.found) != 1 {
				return false
			}
			about = one.found[0].Column
			alternatives = append(alternatives, one.found[0])
		}
		if c != nil && c != about {
			return false
		}
		c, r.rest = about, one.rest
		if !r.takeWord("OR") {
			break
		}
	}
	all, ok := oneOf(alternatives)
	if !ok || slices.ContainsFunc(r.found, func(known database.Check) bool { return known.Column == c }) {
		return false
	}
	r.found = append(r.found, all)
	return true
}

// oneOf joins the alternative checks of a column: one must be met.
func oneOf(alternatives []database.Check) (database.Check, bool) {
	if len(alternatives) == 0 {
		return database.Check{}, false
	}
	if len(alternatives) == 1 {
		return alternatives[0], true
	}
	all := database.Check{Column: alternatives[0].Column}
	for _, each := range alternatives {
		if len(each.Choices) == 0 || each.Minimum != "" || each.Maximum != "" || each.MinLength > 0 || each.MaxLength > 0 {
			return all, false
		}
		all.Choices = append(all.Choices, each.Choices...)
	}
	return all, true
}

// terms reads terms joined by AND.
func (r *checkReader) terms() bool {
	for r.term() {
		if !r.takeWord("AND") {
			return true
		}
	}
	return false
}

// isNull takes "c IS NULL", or the same in parentheses, if that is next and all of an alternative, and returns c.
func (r *checkReader) isNull() *database.Column {
	before := r.rest
	depth := 0
	for r.takeSign("(") {
		depth++
	}
	c := r.column()
	ok := c != nil && r.takeWord("IS") && r.takeWord("NULL")
	for ; ok && depth > 0; depth-- {
		ok = r.takeSign(")")
	}
	if !ok || len(r.rest) > 0 && !r.rest[0].is("OR") && !r.rest[0].isSign(")") {
		r.rest = before
		return nil
	}
	return c
}

// term reads a bound of one column, or a condition in parentheses.
func (r *checkReader) term() bool {
	if r.takeSign("(") {
		return r.condition() && r.takeSign(")")
	}
	if r.takesLength() {
		return r.length()
	}
	c := r.column()
	if c != nil && r.takeWord("IS") {
		return r.takeWord("NOT") && r.takeWord("NULL")
	}
	return c != nil && r.bound(c)
}

// bound reads what a column's values are compared with.
func (r *checkReader) bound(c *database.Column) bool {
	check := r.checkOf(c)
	switch {
	case r.takeWord("IN"):
		return r.takeSign("(") && len(check.Choices) == 0 && r.choices(check) && r.takeSign(")")
	case r.takeWord("BETWEEN"):
		return r.least(check, false) && r.takeWord("AND") && r.greatest(check, false)
	}
	switch r.operator() {
	case "=", "==":
		return len(check.Choices) == 0 && r.choice(check)
	case ">":
		return r.least(check, true)
	case ">=":
		return r.least(check, false)
	case "<":
		return r.greatest(check, true)
	case "<=":
		return r.greatest(check, false)
	}
	return false
}

func (r *checkReader) choices(check *database.Check) bool {
	for r.choice(check) {
		if !r.takeSign(",") {
			return true
		}
	}
	return false
}

func (r *checkReader) choice(check *database.Check) bool {
	text, ok := r.literal(check.Column, true)
	check.Choices = append(check.Choices, text)
	return ok
}

func (r *checkReader) least(check *database.Check, exclusive bool) (ok bool) {
	if check.Minimum != "" {
		return false
	}
	check.Minimum, ok = r.literal(check.Column, false)
	check.ExclusiveMinimum = exclusive
	return ok
}

func (r *checkReader) greatest(check *database.Check, exclusive bool) (ok bool) {
	if check.Maximum != "" {
		return false
	}
	check.Maximum, ok = r.literal(check.Column, false)
	check.ExclusiveMaximum = exclusive
	return ok
}

// takesLength takes "length(" if that comes next.
func (r *checkReader) takesLength() bool {
	if len(r.rest) < 2 || !r.rest[0].is("length") || !r.rest[1].isSign("(") {
		return false
	}
	r.rest = r.rest[2:]
	return true
}

// length reads a bound of a text's length, after "length(".
func (r *checkReader) length() bool {
	c := r.column()
	if c == nil || c.Kind != database.Text || !r.takeSign(")") {
		return false
	}
	check := r.checkOf(c)
	if r.takeWord("BETWEEN") {
		least, ok := r.size()
		if !ok || !r.takeWord("AND") {
			return false
		}
		greatest, ok := r.size()
		check.MinLength, check.MaxLength = least, greatest
		return ok && greatest > 0
	}
	operator := r.operator()
	n, ok := r.size()
	switch operator {
	case ">":
		check.MinLength = n + 1
		return ok
	case ">=":
		check.MinLength = n
		return ok
	case "<":
		check.MaxLength = n - 1
	case "<=":
		check.MaxLength = n
	case "=":
		check.MinLength, check.MaxLength = n, n
	default:
		return false
	}
	return ok && check.MaxLength > 0 // 0 would be no bound
}

func (r *checkReader) size() (int, bool) {
	n, ok := r.number()
	size, isInteger := n.(int64)
	return int(size), ok && isInteger && size >= 0 && size < 1<<30
}

// checkOf returns the check of a column as found so far.
func (r *checkReader) checkOf(c *database.Column) *database.Check {
	at := slices.IndexFunc(r.found, func(known database.Check) bool { return known.Column == c })
	if at < 0 {
		at = len(r.found)
		r.found = append(r.found, database.Check{Column: c})
	}
	return &r.found[at]
}

// literal reads a value and returns its text in the form of the column's kind.
func (r *checkReader) literal(c *database.Column, choice bool) (string, bool) {
	var value driver.Value
	ok := false
	switch c.Kind {
	case database.Integer:
		value, ok = r.number()
		_, isInteger := value.(int64)
		ok = ok && isInteger
	case database.Decimal, database.Float:
		value, ok = r.number()
	case database.Text, database.Date:
		if len(r.rest) > 0 && r.rest[0].class == literal {
			text := r.rest[0].text
			_, err := time.Parse(time.DateOnly, text)
			value, ok = text, c.Kind == database.Date && err == nil || c.Kind == database.Text && choice && !r.collated
			r.rest = r.rest[1:]
		}
	}
	if !ok {
		return "", false
	}
	return string(values{}.AppendPlain(nil, c, value)), true
}

// number reads a number from the next tokens.
func (r *checkReader) number() (driver.Value, bool) {
	end := 0
	for end < len(r.rest) && !endsNumber(r.rest[end]) {
		end++
	}
	value, ok := number(r.rest[:end])
	r.rest = r.rest[end:]
	return value, ok
}

func endsNumber(t token) bool {
	return t.class != word && t.class != sign || t.is("AND") || t.is("OR") || t.isSign(")") || t.isSign(",")
}

func isComparison(t token) bool {
	return t.isSign("<") || t.isSign(">") || t.isSign("=") || t.isSign("!")
}

func (r *checkReader) column() *database.Column {
	if len(r.rest) == 0 || r.rest[0].class != word && r.rest[0].class != quotedName {
		return nil
	}
	c := findColumn(r.table, r.rest[0].text)
	r.rest = r.rest[1:]
	return c
}

// operator reads the signs of a comparison.
func (r *checkReader) operator() string {
	operator := ""
	for len(r.rest) > 0 && isComparison(r.rest[0]) {
		operator += r.rest[0].text
		r.rest = r.rest[1:]
	}
	return operator
}

func (r *checkReader) takeWord(keyword string) bool {
	if len(r.rest) == 0 || !r.rest[0].is(keyword) {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *checkReader) takeSign(s string) bool {
	if len(r.rest) == 0 || !r.rest[0].isSign(s) {
		return false
	}
	r.rest = r.rest[1:]
	return true
}
