package sqltree

import (
	"fmt"
	"slices"
	"strconv"
)

// Parse reads one SELECT statement.
func Parse(sql string) (q *Query, err error) {
	tokens, err := split(sql)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			failure, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			q, err = nil, failure
		}
	}()
	q = p.query()
	p.takeSymbol(";")
	if t := p.peek(); t.kind != end {
		p.fail("the end")
	}
	return q, nil
}

// A parser panics with a syntaxError, since every rule may meet one.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

type parser struct {
	tokens []token
	at     int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) fail(wanted string) {
	t := p.peek()
	panic(syntaxError(fmt.Sprintf("%q at %d, want %s", t.text, t.at, wanted)))
}

// takeWord takes these keywords if all of them follow.
func (p *parser) takeWord(words ...string) bool {
	for i, w := range words {
		if p.at+i >= len(p.tokens) || p.tokens[p.at+i].upper != w {
			return false
		}
	}
	p.at += len(words)
	return true
}

func (p *parser) takeSymbol(s string) bool {
	if t := p.peek(); t.kind == symbol && t.text == s {
		p.at++
		return true
	}
	return false
}

func (p *parser) needWord(w string) {
	if !p.takeWord(w) {
		p.fail(w)
	}
}

func (p *parser) needSymbol(s string) {
	if !p.takeSymbol(s) {
		p.fail(s)
	}
}

// reserved are the words that no table or column has as its name unless it is quoted.
var reserved = []string{
	"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT", "ON", "USING",
	"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL", "AS", "AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE",
	"EXISTS", "DISTINCT", "ALL", "CASE", "WHEN", "THEN", "ELSE", "END", "ASC", "DESC", "NULLS", "NULL", "COLLATE",
}

// takeName takes a name that may be quoted.
func (p *parser) takeName() (token, bool) {
	t := p.peek()
	if t.kind == quotedName || t.kind == word && !slices.Contains(reserved, t.upper) {
		p.at++
		return t, true
	}
	return token{}, false
}

func (p *parser) needName() string {
	t, ok := p.takeName()
	if !ok {
		p.fail("a name")
	}
	return t.text
}

func (p *parser) query() *Query {
	q := &Query{Limit: -1}
	q.Selects = append(q.Selects, p.selection())
	for {
		operation, ok := p.operation()
		if !ok {
			break
		}
		q.Operations = append(q.Operations, operation)
		q.Selects = append(q.Selects, p.selection())
	}
	if p.takeWord("ORDER", "BY") {
		q.Order = p.order()
	}
	if p.takeWord("LIMIT") {
		q.Limit = p.integer()
		switch {
		case p.takeWord("OFFSET"):
			q.Offset = p.integer()
		case p.takeSymbol(","):
			q.Offset, q.Limit = q.Limit, p.integer()
		}
	}
	return q
}

func (p *parser) operation() (Operation, bool) {
	switch {
	case p.takeWord("UNION", "ALL"):
		return UnionAll, true
	case p.takeWord("UNION"):
		return Union, true
	case p.takeWord("INTERSECT"):
		return Intersect, true
	case p.takeWord("EXCEPT"):
		return Except, true
	}
	return "", false
}

func (p *parser) integer() int {
	n, err := strconv.Atoi(p.peek().text)
	if err != nil {
		p.fail("an integer")
	}
	p.at++
	return n
}

func (p *parser) order() []Order {
	var terms []Order
	for {
		term := Order{Expr: p.expression()}
		if p.takeWord("DESC") {
			term.Descending = true
		} else {
			p.takeWord("ASC")
		}
		if p.takeWord("NULLS", "FIRST") {
			term.Nulls = "FIRST"
		} else if p.takeWord("NULLS", "LAST") {
			term.Nulls = "LAST"
		}
		terms = append(terms, term)
		if !p.takeSymbol(",") {
			return terms
		}
	}
}

func (p *parser) selection() *Select {
	p.needWord("SELECT")
	s := &Select{Distinct: p.takeWord("DISTINCT")}
	if !s.Distinct {
		p.takeWord("ALL")
	}
	for {
		s.Columns = append(s.Columns, p.column())
		if !p.takeSymbol(",") {
			break
		}
	}
	if p.takeWord("FROM") {
		s.From = p.sources()
	}
	if p.takeWord("WHERE") {
		s.Where = p.expression()
	}
	if p.takeWord("GROUP", "BY") {
		s.Group = p.expressions()
	}
	if p.takeWord("HAVING") {
		s.Having = p.expression()
	}
	return s
}

func (p *parser) column() Column {
	if p.takeSymbol("*") {
		return Column{Star: true}
	}
	start := p.at
	if t, ok := p.takeName(); ok && p.takeSymbol(".") && p.takeSymbol("*") {
		return Column{Star: true, Table: t.text}
	}
	p.at = start
	c := Column{Expr: p.expression()}
	if p.takeWord("AS") {
		c.Alias = p.needName()
	} else if t, ok := p.takeName(); ok {
		c.Alias = t.text
	}
	return c
}

func (p *parser) sources() []Source {
	all := []Source{p.source()}
	for {
		if p.takeSymbol(",") {
			all = append(all, p.source())
			continue
		}
		natural := p.takeWord("NATURAL")
		outer := ""
		for _, w := range []string{"LEFT", "RIGHT", "FULL"} {
			if p.takeWord(w) {
				outer = w
				p.takeWord("OUTER")
			}
		}
		if outer == "" && !p.takeWord("INNER") {
			p.takeWord("CROSS")
		}
		if !p.takeWord("JOIN") {
			return all
		}
		s := p.source()
		s.Natural, s.Outer = natural, outer
		switch {
		case p.takeWord("ON"):
			s.On = p.expression()
		case p.takeWord("USING"):
			p.needSymbol("(")
			for s.Using = append(s.Using, p.needName()); p.takeSymbol(","); {
				s.Using = append(s.Using, p.needName())
			}
			p.needSymbol(")")
		}
		all = append(all, s)
	}
}

func (p *parser) source() Source {
	var s Source
	if p.takeSymbol("(") {
		s.Query = p.query()
		p.needSymbol(")")
	} else {
		s.Table = p.needName()
	}
	if p.takeWord("AS") {
		s.Alias = p.needName()
	} else if t, ok := p.takeName(); ok {
		s.Alias = t.text
	}
	return s
}
