package mysql

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// validJSON is the check that MariaDB adds to a column that was declared json.
var validJSON = regexp.MustCompile("^json_valid\\(`((?:[^`]|``)+)`\\)$")

// unescaped undoes MySQL's escapes in the text of a check.
var unescaped = strings.NewReplacer(`\\`, `\`, `\'`, `'`)

func (i *introspection) readChecks(ctx context.Context) error {
	query := mysqlChecksQuery
	if i.conn.mariaDB {
		query = mariaDBChecksQuery
	}
	return i.each(ctx, query, func(t *database.Table, v []string) {
		clause := v[1]
		if !i.conn.mariaDB {
			clause = unescaped.Replace(clause)
		}
		pieces := tokens(clause)
		constraint := database.Constraint{Name: v[0]}
		for _, piece := range pieces {
			c := t.Column(piece.text)
			if piece.kind == aName && c != nil && !slices.Contains(constraint.Columns, c) {
				constraint.Columns = append(constraint.Columns, c)
			}
		}
		t.Constraints = append(t.Constraints, constraint)
		if validJSON.MatchString(v[1]) && len(constraint.Columns) == 1 && constraint.Columns[0].Kind == database.Text {
			constraint.Columns[0].Kind = database.JSON
			constraint.Columns[0].LooseCollation, constraint.Columns[0].SortedLength = false, 0
			return
		}
		t.Checks = append(t.Checks, simpleChecks(t, v[0], pieces)...)
	})
}

// simpleChecks are the bounds of single columns in a check: the check itself, or its parts joined by AND.
func simpleChecks(t *database.Table, name string, pieces []token) (all []database.Check) {
	for _, part := range split(pieces, "and") {
		r := checkReader{table: t, rest: part}
		found, ok := r.condition()
		if !ok || len(r.rest) > 0 || found.Column == nil {
			continue
		}
		found.Name = name
		if last := len(all) - 1; last < 0 || !merge(&all[last], found) {
			all = append(all, found)
		}
	}
	return all
}

// split cuts pieces at a word that stands outside of parentheses. The AND of a BETWEEN does not count. It removes
// parentheses around all of the pieces and around each part.
func split(pieces []token, word string) (parts [][]token) {
	pieces = bare(pieces)
	from, depth, between := 0, 0, false
	for i, piece := range pieces {
		if piece.kind != aWord {
			continue
		}
		switch {
		case piece.text == "(":
			depth++
		case piece.text == ")":
			depth--
		case depth > 0:
		case piece.text == "between":
			between = true
		case piece.text == "and" && between:
			between = false
		case piece.text == word:
			parts, from = append(parts, split(pieces[from:i], word)...), i+1
		case piece.text == "not" && i > 0 && pieces[i-1] == (token{aWord, "is"}): // column IS NOT NULL
		case piece.text == "or" || piece.text == "xor" || piece.text == "not":
			return [][]token{pieces} // which bind less tightly than AND, or negate
		}
	}
	if from == 0 {
		return [][]token{pieces}
	}
	return append(parts, split(pieces[from:], word)...)
}

// bare removes parentheses around all of the pieces.
func bare(pieces []token) []token {
	for len(pieces) >= 2 && pieces[0] == (token{aWord, "("}) && closes(pieces) == len(pieces)-1 {
		pieces = pieces[1 : len(pieces)-1]
	}
	return pieces
}

// closes returns the place of the parenthesis that closes the first one; -1 if there is none.
func closes(pieces []token) int {
	depth := 0
	for i, piece := range pieces {
		switch piece {
		case token{aWord, "("}:
			depth++
		case token{aWord, ")"}:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// checkReader reads one condition on one column.
type checkReader struct {
	table *database.Table
	rest  []token
}

func (r *checkReader) next() (t token) {
	if len(r.rest) > 0 {
		t, r.rest = r.rest[0], r.rest[1:]
	}
	return t
}

func (r *checkReader) word(text string) bool {
	if len(r.rest) > 0 && r.rest[0] == (token{aWord, text}) {
		r.rest = r.rest[1:]
		return true
	}
	return false
}

// subject is a column, or the number of its characters.
type subject struct {
	column *database.Column
	length bool
}

// subject reads a column's name, or char_length of one.
func (r *checkReader) subject() (s subject, ok bool) {
	if r.word("char_length") || r.word("character_length") {
		s.length = true
		if !r.word("(") {
			return s, false
		}
	}
	name := r.next()
	s.column = r.table.Column(name.text)
	ok = name.kind == aName && s.column != nil
	return s, ok && (!s.length || s.column.Kind == database.Text && r.word(")"))
}

// literal reads a constant. Numbers may be negative; MySQL writes them as -(5).
func (r *checkReader) literal() (token, bool) {
	negative := r.word("-")
	parentheses := r.word("(")
	t := r.next()
	if negative {
		t.text = "-" + t.text
	}
	return t, (t.kind == aNumber || t.kind == aString && !negative) && (!parentheses || r.word(")"))
}

var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

// condition reads column IN (…), column BETWEEN … AND …, a comparison with a literal on either side, or such comparisons for
// equality that are joined by OR. NULL meets every check, so an alternative column IS NULL says nothing.
func (r *checkReader) condition() (check database.Check, ok bool) {
	if either := split(r.rest, "or"); len(either) > 1 {
		r.rest = nil
		return r.choices(either)
	}
	before := r.rest
	s, ok := r.subject()
	if !ok {
		r.rest = before
		return r.turnedComparison()
	}
	operator := r.next()
	if operator.kind != aWord {
		return check, false
	}
	switch operator.text {
	case "in":
		return r.in(s)
	case "between":
		least, ok := r.literal()
		if !ok || !r.word("and") {
			return check, false
		}
		greatest, ok := r.literal()
		check.Column = s.column
		return check, ok && bound(&check, s, ">=", least) && bound(&check, s, "<=", greatest)
	}
	value, ok := r.literal()
	check.Column = s.column
	return check, ok && bound(&check, s, operator.text, value)
}

func (r *checkReader) turnedComparison() (check database.Check, ok bool) {
	value, ok := r.literal()
	operator := r.next()
	if !ok || operator.kind != aWord {
		return check, false
	}
	s, ok := r.subject()
	check.Column = s.column
	return check, ok && bound(&check, s, turned[operator.text], value)
}

func (r *checkReader) in(s subject) (check database.Check, ok bool) {
	check.Column = s.column
	if s.length || !r.word("(") {
		return check, false
	}
	for more := true; more; more = r.word(",") {
		literal, ok := r.literal()
		value, fits := choice(s.column, literal)
		if !ok || !fits {
			return check, false
		}
		check.Choices = append(check.Choices, value)
	}
	return check, r.word(")")
}

// unlessNull takes the alternatives column IS NULL out, and returns their column; false if they are of several.
func (r *checkReader) unlessNull(either [][]token) (others [][]token, c *database.Column, ok bool) {
	for _, part := range either {
		if len(part) != 3 || part[0].kind != aName || part[1] != (token{aWord, "is"}) || part[2] != (token{aWord, "null"}) {
			others = append(others, part)
			continue
		}
		named := r.table.Column(part[0].text)
		if named == nil || c != nil && c != named {
			return nil, nil, false
		}
		c = named
	}
	return others, c, len(others) > 0
}

// choices returns the values of comparisons for equality with one column, or the one bound of a column that may be NULL.
func (r *checkReader) choices(either [][]token) (check database.Check, ok bool) {
	either, null, ok := r.unlessNull(either)
	if !ok {
		return check, false
	}
	if len(either) == 1 {
		found := simpleChecks(r.table, "", either[0])
		if len(found) != 1 || found[0].Column != null {
			return check, false
		}
		return found[0], true
	}
	check.Column = null
	for _, part := range either {
		one := checkReader{table: r.table, rest: part}
		found, ok := one.condition()
		if !ok || len(one.rest) > 0 || len(found.Choices) == 0 || check.Column != nil && check.Column != found.Column {
			return check, false
		}
		check.Column, check.Choices = found.Column, append(check.Choices, found.Choices...)
	}
	return check, true
}

// choice returns a literal as a value of the column, if the server compares both as the same type: a text with texts, a
// number with numbers.
func choice(c *database.Column, literal token) (string, bool) {
	switch c.Kind {
	case database.Boolean, database.Integer, database.Decimal:
		if literal.kind != aNumber {
			return "", false
		}
	case database.Text, database.Enum, database.Date:
		if literal.kind != aString {
			return "", false
		}
	default:
		return "", false
	}
	return constant(c, literal)
}

// bound adds a comparison to a check.
func bound(check *database.Check, s subject, operator string, literal token) bool {
	if s.length {
		return lengthBound(check, operator, literal)
	}
	value, ok := choice(s.column, literal)
	if !ok {
		return false
	}
	if operator == "=" {
		check.Choices = []string{value}
		return true
	}
	switch s.column.Kind {
	case database.Text, database.Enum, database.Boolean: // the order of their text form is another
		return false
	}
	switch operator {
	case ">", ">=":
		check.Minimum, check.ExclusiveMinimum = value, operator == ">"
	case "<", "<=":
		check.Maximum, check.ExclusiveMaximum = value, operator == "<"
	default:
		return false
	}
	return true
}

func lengthBound(check *database.Check, operator string, literal token) bool {
	n, err := strconv.Atoi(literal.text)
	if err != nil || literal.kind != aNumber {
		return false
	}
	switch operator {
	case "=":
		check.MinLength, check.MaxLength = n, n
	case ">":
		check.MinLength = n + 1
	case ">=":
		check.MinLength = n
	case "<":
		check.MaxLength = n - 1
	case "<=":
		check.MaxLength = n
	default:
		return false
	}
	return check.MinLength >= 0 && check.MaxLength >= 0 && check.MinLength+check.MaxLength > 0
}

// merge adds the bounds of one check to another check of the same column, unless both bound the same thing.
func merge(check *database.Check, other database.Check) bool {
	if check.Column != other.Column || check.Choices != nil && other.Choices != nil || check.Minimum != "" && other.Minimum != "" ||
		check.Maximum != "" && other.Maximum != "" || check.MinLength != 0 && other.MinLength != 0 || check.MaxLength != 0 && other.MaxLength != 0 {
		return false
	}
	if other.Choices != nil {
		check.Choices = other.Choices
	}
	check.Minimum, check.Maximum = cmp.Or(check.Minimum, other.Minimum), cmp.Or(check.Maximum, other.Maximum)
	check.ExclusiveMinimum = check.ExclusiveMinimum || other.ExclusiveMinimum
	check.ExclusiveMaximum = check.ExclusiveMaximum || other.ExclusiveMaximum
	check.MinLength, check.MaxLength = cmp.Or(check.MinLength, other.MinLength), cmp.Or(check.MaxLength, other.MaxLength)
	return true
}
