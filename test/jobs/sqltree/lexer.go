package sqltree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	word
	quotedName
	text
	number
	symbol
)

// token is a piece of the statement. text is its content without quotes; upper is a word's text in capitals.
type token struct {
	kind        kind
	text, upper string
	at          int
	// double reports whether the quotes were double.
	double bool
}

// split cuts a statement into tokens. The last one is of kind end.
func split(sql string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
		case strings.HasPrefix(sql[i:], "--"):
			if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(sql)
			}
		case strings.HasPrefix(sql[i:], "/*"):
			n := strings.Index(sql[i:], "*/")
			if n < 0 {
				return nil, fmt.Errorf("the comment at %d does not end", i)
			}
			i += n + 2
		default:
			t, length, err := next(sql[i:])
			if err != nil {
				return nil, fmt.Errorf("%w at %d", err, i)
			}
			t.at = i
			tokens = append(tokens, t)
			i += length
		}
	}
	return append(tokens, token{kind: end, at: len(sql)}), nil
}

// next returns the token that a statement begins with, and its length.
func next(sql string) (token, int, error) {
	c := sql[0]
	switch {
	case c == '\'' || c == '"' || c == '`' || c == '[':
		return quoted(sql)
	case isDigit(c) || c == '.' && len(sql) > 1 && isDigit(sql[1]):
		n := numberLength(sql)
		return token{kind: number, text: sql[:n]}, n, nil
	case isLetter(c):
		n := 1
		for n < len(sql) && (isLetter(sql[n]) || isDigit(sql[n]) || sql[n] == '$') {
			n++
		}
		return token{kind: word, text: sql[:n], upper: strings.ToUpper(sql[:n])}, n, nil
	}
	for _, s := range []string{"<>", "!=", "<=", ">=", "==", "||"} {
		if strings.HasPrefix(sql, s) {
			return token{kind: symbol, text: s}, 2, nil
		}
	}
	if strings.IndexByte("()*,.=<>+-/%;", c) >= 0 {
		return token{kind: symbol, text: sql[:1]}, 1, nil
	}
	r, _ := utf8.DecodeRuneInString(sql)
	return token{}, 0, fmt.Errorf("%q has no meaning", r)
}

// quoted reads a text or a quoted name. A doubled quote stands for itself.
func quoted(sql string) (token, int, error) {
	closing := sql[0]
	if closing == '[' {
		closing = ']'
	}
	var b strings.Builder
	for i := 1; i < len(sql); i++ {
		if sql[i] != closing {
			b.WriteByte(sql[i])
			continue
		}
		if closing != ']' && i+1 < len(sql) && sql[i+1] == closing {
			b.WriteByte(closing)
			i++
			continue
		}
		k := quotedName
		if closing == '\'' {
			k = text
		}
		return token{kind: k, text: b.String(), double: closing == '"'}, i + 1, nil
	}
	return token{}, 0, fmt.Errorf("the quotes do not end")
}

func numberLength(sql string) int {
	n := 0
	for n < len(sql) && (isDigit(sql[n]) || sql[n] == '.') {
		n++
	}
	if n < len(sql) && (sql[n] == 'e' || sql[n] == 'E') {
		m := n + 1
		if m < len(sql) && (sql[m] == '+' || sql[m] == '-') {
			m++
		}
		if m < len(sql) && isDigit(sql[m]) {
			n = m
			for n < len(sql) && isDigit(sql[n]) {
				n++
			}
		}
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter reports whether a byte may begin a name: SQLite takes every byte beyond ASCII for a letter.
func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
