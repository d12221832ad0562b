package sqlscan

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	// space is blanks, or a comment, which is one blank.
	space kind = iota
	// word is a keyword, a name without quotes, or a number.
	word
	// name is a quoted name, text a string.
	name
	text
	// parameter is :name; its text is the name.
	parameter
	// symbol is one character that is none of these, or a whole ::.
	symbol
)

// token is a piece of a statement that every engine takes for one.
type token struct {
	kind kind
	text string
}

// is reports whether the token is that keyword, which is given in capitals.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// lexer reads tokens off a statement's beginning.
type lexer struct {
	rest   string
	tokens []token
}

// lex splits a statement into its tokens, all of them: joined they are the statement without its comments.
func lex(statement string) ([]token, error) {
	if !utf8.ValidString(statement) {
		return nil, errors.New("must be UTF-8")
	}
	if i := strings.IndexFunc(statement, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0x7f }); i >= 0 {
		return nil, fmt.Errorf("must hold no control characters, has %q", statement[i])
	}
	l := &lexer{rest: statement}
	for l.rest != "" {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return l.tokens, nil
}

// take makes a token of the next n bytes.
func (l *lexer) take(k kind, n int) {
	l.tokens = append(l.tokens, token{k, l.rest[:n]})
	l.rest = l.rest[n:]
}

// skip puts a blank in the place of the next n bytes.
func (l *lexer) skip(n int) {
	l.tokens = append(l.tokens, token{space, " "})
	l.rest = l.rest[n:]
}

func (l *lexer) next() error {
	switch c := l.rest[0]; {
	case isBlank(c):
		l.take(space, run(l.rest, isBlank))
	case strings.HasPrefix(l.rest, "--"):
		return l.lineComment()
	case strings.HasPrefix(l.rest, "/*"):
		return l.comment()
	case (c == 'E' || c == 'e') && strings.HasPrefix(l.rest[1:], "'"):
		return l.escaped()
	case c == '\'':
		return l.quoted(text)
	case c == '"':
		return l.quoted(name)
	case c == '`':
		return l.backquoted()
	case isWord(c) && c != '$':
		l.take(word, run(l.rest, isWord))
	case c == '$':
		return l.dollarQuoted()
	case c == ':':
		return l.colon()
	default:
		return l.symbol()
	}
	return nil
}

// lineComment: MySQL wants a blank behind --, which others do not, and to PostgreSQL a carriage return ends the comment.
func (l *lexer) lineComment() error {
	if len(l.rest) > 2 && !isBlank(l.rest[2]) {
		return errors.New("must have a blank behind --, whether it is a comment or two minus signs")
	}
	line, _, _ := strings.Cut(l.rest, "\n")
	if strings.Contains(strings.TrimSuffix(line, "\r"), "\r") {
		return errors.New("must have no carriage return within a comment")
	}
	l.skip(len(line))
	return nil
}

// comment reads a comment. PostgreSQL's comments nest. MySQL and MariaDB execute the text of /*! */ and /*M! */.
func (l *lexer) comment() error {
	if strings.HasPrefix(l.rest, "/*!") || strings.HasPrefix(l.rest, "/*M!") {
		return errors.New("must have no /*! … */; write its content without the comment marks")
	}
	length := strings.Index(l.rest[2:], "*/")
	if length < 0 {
		return errors.New("has a /* that no */ ends")
	}
	inside := l.rest[2 : 2+length]
	if strings.Contains(inside, "/*") {
		return errors.New("must have no comment within a comment")
	}
	l.skip(length + len("/**/"))
	return nil
}

// escaped is PostgreSQL's E'…'. With a quote written as ”, never as \', all engines agree where it ends.
func (l *lexer) escaped() error {
	for i := 2; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			if i++; i < len(l.rest) && l.rest[i] == '\'' {
				return errors.New(`must not write \' within E'…'; write ''`)
			}
		case '\'':
			if !strings.HasPrefix(l.rest[i+1:], "'") {
				l.take(text, i+1)
				return nil
			}
			i++
		}
	}
	return errors.New("has a string that does not end")
}

// quoted is a string in '…' or a name in "…" (to MySQL a string too), in which the quote itself is written twice.
func (l *lexer) quoted(k kind) error {
	quote := l.rest[0]
	for i := 1; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			return errors.New(`must have no backslash between quotes, which engines read differently; use a parameter, or on PostgreSQL E'…\\…'`)
		case quote:
			if i+1 == len(l.rest) || l.rest[i+1] != quote {
				l.take(k, i+1)
				return nil
			}
			i++
		}
	}
	return fmt.Errorf("has a %c that no other ends", quote)
}

// backquoted is a name as MySQL quotes it. To PostgreSQL ` is an operator, so there may be nothing in it that would mean
// anything.
func (l *lexer) backquoted() error {
	n := run(l.rest[1:], isWord)
	if n == 0 || !strings.HasPrefix(l.rest[1+n:], "`") {
		return errors.New("may have letters, digits and _ only between ` and `")
	}
	l.take(name, n+2)
	return nil
}

// dollarQuoted is PostgreSQL's $tag$…$tag$.
func (l *lexer) dollarQuoted() error {
	tag, _, found := strings.Cut(l.rest[1:], "$")
	if !found || tag != "" && (isDigit(tag[0]) || run(tag, isWord) < len(tag)) {
		return errors.New("must not use $1 or $name; name a declared parameter as :name")
	}
	mark := "$" + tag + "$"
	inside, _, found := strings.Cut(l.rest[len(mark):], mark)
	if !found {
		return fmt.Errorf("has a %s that no other ends", mark)
	}
	l.take(text, len(mark)+len(inside)+len(mark))
	return nil
}

// colon is a parameter or a cast (::).
func (l *lexer) colon() error {
	if strings.HasPrefix(l.rest, "::") {
		if strings.HasPrefix(l.rest, ":::") {
			return errors.New("must have no :::; put a parameter that is cast in brackets")
		}
		l.take(symbol, 2)
		return nil
	}
	n := run(l.rest[1:], isWord)
	found := l.rest[1 : 1+n]
	switch {
	case n == 0:
		return errors.New("must have no : but in :name and ::type; neither variables (:=) nor slices of arrays are understood")
	case isDigit(found[0]):
		return fmt.Errorf("must not use :%s; name a declared parameter, as in :name", found)
	case strings.HasPrefix(l.rest[1+n:], ":") && !strings.HasPrefix(l.rest[1+n:], "::"):
		return fmt.Errorf("must have a blank behind :%s", found)
	}
	l.tokens = append(l.tokens, token{parameter, found})
	l.rest = l.rest[1+n:]
	return nil
}

// refusedSymbols are characters that mean something else to each engine, with what to write instead.
var refusedSymbols = map[byte]string{
	'?':  "must not use ?; name a declared parameter as :name, and write PostgreSQL's operators of json as functions (jsonb_exists)",
	'#':  "must not use #; comments begin with -- , and PostgreSQL's operators of json have functions (jsonb_extract_path)",
	'\\': "must have no backslash outside E'…'",
	'{':  "must have no braces outside strings",
	'}':  "must have no braces outside strings",
}

// symbol is any other character. A variable of MySQL's (@x, @@x) would outlive the statement.
func (l *lexer) symbol() error {
	c := l.rest[0]
	if message, refused := refusedSymbols[c]; refused {
		return errors.New(message)
	}
	if c == '@' && len(l.rest) > 1 && (isWord(l.rest[1]) || strings.IndexByte("'\"`", l.rest[1]) >= 0) {
		return errors.New("must not use variables (@name); put a blank behind an operator that ends in @")
	}
	l.take(symbol, 1)
	return nil
}

// run is how many bytes the text begins with that are of a class.
func run(text string, class func(byte) bool) int {
	n := 0
	for n < len(text) && class(text[n]) {
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord reports whether the byte continues a name or number; every byte of a letter beyond ASCII does.
func isWord(c byte) bool {
	return c == '_' || c == '$' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}
