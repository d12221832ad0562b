package postgres

import (
	"slices"
	"strings"
)

// expression is a piece of the text that pg_get_expr writes, as far as checks and defaults need it. Each kind uses its
// own members.
type expression struct {
	kind exprKind
	// text is the text of a literal, the name of a column or function, the operator of a comparison, or the type of a cast.
	text string
	// parts are the parts of a piece: an operator's operands, a function's arguments, an array's elements.
	parts []*expression
}

type exprKind uint8

const (
	exprString exprKind = iota
	exprNumber
	// exprWord is TRUE, FALSE or NULL.
	exprWord
	exprColumn
	exprCall
	exprArray
	exprCast
	exprCompare
	// exprAny compares its first part with each element of its second: = ANY.
	exprAny
	exprIsNull
	exprIsNotNull
	exprAnd
	exprOr
)

// parseExpression reads an expression. It returns false for anything that it does not know.
func parseExpression(text string) (e *expression, ok bool) {
	tokens, ok := tokenize(text)
	if !ok {
		return nil, false
	}
	p := exprParser{tokens: tokens}
	e = p.or()
	return e, !p.failed && p.next == len(p.tokens)
}

// token is a piece of an expression's text. A quoted name differs from a word: it is never a keyword.
type token struct {
	kind tokenKind
	text string
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenString
	tokenNumber
	tokenWord
	tokenQuoted
	tokenSign
)

const (
	operatorLetters = "+-*/<>=~!@#%^&|`?"
	digits          = "0123456789"
)

func tokenize(text string) ([]token, bool) {
	var tokens []token
	for text != "" {
		length, kind := 1, tokenSign
		switch c := text[0]; {
		case c == ' ' || c == '\n' || c == '\t':
			text = text[1:]
			continue
		case c == '\'' || c == '"':
			value, rest, ok := unquoted(text)
			if !ok {
				return nil, false
			}
			kind = tokenString
			if c == '"' {
				kind = tokenQuoted
			}
			tokens, text = append(tokens, token{kind, value}), rest
			continue
		case strings.IndexByte(digits, c) >= 0:
			length, kind = leading(text, digits+".e"), tokenNumber
		case isNameStart(c):
			for length < len(text) && (isNameStart(text[length]) || strings.IndexByte(digits+"$", text[length]) >= 0) {
				length++
			}
			kind = tokenWord
			if length < len(text) && text[length] == '\'' {
				return nil, false // E'…', B'…', …
			}
		case strings.HasPrefix(text, "::"):
			length = 2
		case strings.IndexByte(operatorLetters, c) >= 0:
			length = leading(text, operatorLetters)
		case strings.IndexByte("()[],.", c) < 0:
			return nil, false
		}
		tokens, text = append(tokens, token{kind, text[:length]}), text[length:]
	}
	return tokens, true
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// leading returns how many bytes at the beginning of a text belong to a set.
func leading(text, set string) int {
	return len(text) - len(strings.TrimLeft(text, set))
}

// unquoted returns the text between the quotes at the beginning, with doubled quotes made single, and the rest.
func unquoted(text string) (value, rest string, ok bool) {
	quote := text[:1]
	var all strings.Builder
	for rest = text[1:]; ; {
		piece, behind, found := strings.Cut(rest, quote)
		if !found {
			return "", "", false
		}
		all.WriteString(piece)
		if !strings.HasPrefix(behind, quote) {
			return all.String(), behind, true
		}
		all.WriteString(quote)
		rest = behind[1:]
	}
}

type exprParser struct {
	tokens []token
	next   int
	failed bool
}

func (p *exprParser) peek() token {
	if p.next < len(p.tokens) {
		return p.tokens[p.next]
	}
	return token{}
}

// accept takes the next token if it is that sign or word.
func (p *exprParser) accept(text string) bool {
	if t := p.peek(); t.text == text && (t.kind == tokenSign || t.kind == tokenWord) {
		p.next++
		return true
	}
	return false
}

func (p *exprParser) expect(text string) {
	if !p.accept(text) {
		p.failed = true
	}
}

func (p *exprParser) or() *expression { return p.joined("OR", exprOr, p.and) }

func (p *exprParser) and() *expression { return p.joined("AND", exprAnd, p.compared) }

func (p *exprParser) joined(word string, kind exprKind, read func() *expression) *expression {
	first := read()
	if p.peek().text != word {
		return first
	}
	all := &expression{kind: kind, parts: []*expression{first}}
	for !p.failed && p.accept(word) {
		all.parts = append(all.parts, read())
	}
	return all
}

var comparisons = []string{"=", "<>", "<", "<=", ">", ">="}

func (p *exprParser) compared() *expression {
	left := p.operand()
	switch t := p.peek(); {
	case p.failed:
	case p.accept("IS"):
		kind := exprIsNull
		if p.accept("NOT") {
			kind = exprIsNotNull
		}
		p.expect("NULL")
		return &expression{kind: kind, parts: []*expression{left}}
	case t.kind == tokenSign && slices.Contains(comparisons, t.text):
		p.next++
		if t.text == "=" && p.accept("ANY") {
			return &expression{kind: exprAny, parts: []*expression{left, p.parenthesised()}}
		}
		return &expression{kind: exprCompare, text: t.text, parts: []*expression{left, p.operand()}}
	}
	return left
}

// operand reads a value and its casts.
func (p *exprParser) operand() *expression {
	e := p.primary()
	for !p.failed && p.accept("::") {
		e = &expression{kind: exprCast, text: p.typeName(), parts: []*expression{e}}
	}
	return e
}

func (p *exprParser) primary() *expression {
	t := p.peek()
	if t.kind == tokenSign && t.text == "(" {
		return p.parenthesised()
	}
	p.next++
	switch t.kind {
	case tokenString:
		return &expression{kind: exprString, text: t.text}
	case tokenNumber:
		return &expression{kind: exprNumber, text: t.text}
	case tokenQuoted:
		return &expression{kind: exprColumn, text: t.text}
	case tokenWord:
		return p.named(t.text)
	}
	p.failed = true
	return nil
}

// named reads an expression that begins with a word.
func (p *exprParser) named(word string) *expression {
	switch {
	case word == "true" || word == "false" || word == "NULL":
		return &expression{kind: exprWord, text: word}
	case word == "ARRAY" && p.accept("["):
		return &expression{kind: exprArray, parts: p.list("]")}
	case p.accept("("):
		return &expression{kind: exprCall, text: word, parts: p.list(")")}
	case word == strings.ToUpper(word) && word != "VALUE":
		p.failed = true // a keyword: names in capitals would be quoted
	}
	return &expression{kind: exprColumn, text: word}
}

func (p *exprParser) list(end string) []*expression {
	var all []*expression
	for !p.failed {
		all = append(all, p.or())
		if p.accept(end) {
			return all
		}
		p.expect(",")
	}
	return nil
}

func (p *exprParser) parenthesised() *expression {
	p.expect("(")
	if p.failed {
		return nil
	}
	e := p.or()
	p.expect(")")
	return e
}

// typeName reads a type's name as format_type writes it. It refuses one with a length or precision, since a cast to it
// may change the value.
func (p *exprParser) typeName() string {
	name := p.typeWord()
	for !p.failed {
		switch t := p.peek(); {
		case p.accept("."):
			name += "." + p.typeWord()
		case p.accept("["):
			p.expect("]")
			name += "[]"
		case t.kind == tokenWord && t.text == strings.ToLower(t.text): // double precision, timestamp without time zone
			p.next++
			name += " " + t.text
		default:
			return name
		}
	}
	return name
}

func (p *exprParser) typeWord() string {
	t := p.peek()
	p.next++
	switch t.kind {
	case tokenWord:
		return t.text
	case tokenQuoted:
		return `"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`
	}
	p.failed = true
	return ""
}
