package sqltree

import (
	"strconv"
	"strings"
)

func (p *parser) expressions() []Expr {
	all := []Expr{p.expression()}
	for p.takeSymbol(",") {
		all = append(all, p.expression())
	}
	return all
}

func (p *parser) expression() Expr {
	left := p.conjunction()
	for p.takeWord("OR") {
		left = &Binary{"OR", left, p.conjunction()}
	}
	return left
}

func (p *parser) conjunction() Expr {
	left := p.negation()
	for p.takeWord("AND") {
		left = &Binary{"AND", left, p.negation()}
	}
	return left
}

func (p *parser) negation() Expr {
	if p.takeWord("NOT") {
		return &Unary{"NOT", p.negation()}
	}
	return p.comparison()
}

// comparisons are the operators that compare, and how the tree writes them.
var comparisons = map[string]string{"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

func (p *parser) comparison() Expr {
	left := p.sum()
	for {
		if t := p.peek(); t.kind == symbol && comparisons[t.text] != "" {
			p.at++
			left = &Binary{comparisons[t.text], left, p.sum()}
			continue
		}
		if p.takeWord("IS") {
			left = p.is(left)
			continue
		}
		start := p.at
		not := p.takeWord("NOT")
		switch {
		case p.takeWord("IN"):
			left = p.in(left, not)
		case p.takeWord("LIKE"):
			left = &Like{left, p.sum(), not}
		case p.takeWord("BETWEEN"):
			low := p.sum()
			p.needWord("AND")
			left = &Between{left, low, p.sum(), not}
		default:
			p.at = start
			return left
		}
	}
}

func (p *parser) is(left Expr) Expr {
	not := p.takeWord("NOT")
	if p.takeWord("NULL") {
		return &IsNull{left, not}
	}
	if not {
		return &Binary{"IS NOT", left, p.sum()}
	}
	return &Binary{"IS", left, p.sum()}
}

func (p *parser) in(left Expr, not bool) Expr {
	in := &In{Operand: left, Not: not}
	p.needSymbol("(")
	if p.peek().upper == "SELECT" {
		in.Query = p.query()
	} else if t := p.peek(); t.text != ")" || t.kind != symbol {
		in.List = p.expressions()
	}
	p.needSymbol(")")
	return in
}

func (p *parser) sum() Expr {
	left := p.product()
	for {
		switch {
		case p.takeSymbol("+"):
			left = &Binary{"+", left, p.product()}
		case p.takeSymbol("-"):
			left = &Binary{"-", left, p.product()}
		default:
			return left
		}
	}
}

func (p *parser) product() Expr {
	left := p.joined()
	for {
		switch {
		case p.takeSymbol("*"):
			left = &Binary{"*", left, p.joined()}
		case p.takeSymbol("/"):
			left = &Binary{"/", left, p.joined()}
		case p.takeSymbol("%"):
			left = &Binary{"%", left, p.joined()}
		default:
			return left
		}
	}
}

func (p *parser) joined() Expr {
	left := p.primary()
	for p.takeSymbol("||") {
		left = &Binary{"||", left, p.primary()}
	}
	return left
}

func (p *parser) primary() Expr {
	t := p.peek()
	switch {
	case p.takeSymbol("-"):
		return negative(p.primary())
	case p.takeSymbol("+"):
		return p.primary()
	case p.takeSymbol("("):
		return p.inside()
	case t.kind == text:
		p.at++
		return &Literal{t.text}
	case t.kind == number:
		p.at++
		return p.number(t)
	case p.takeWord("NULL"):
		return &Literal{nil}
	case p.takeWord("EXISTS"):
		p.needSymbol("(")
		q := p.query()
		p.needSymbol(")")
		return &Exists{q}
	case p.takeWord("CASE"):
		return p.caseOf()
	case t.kind == word && p.tokens[p.at+1].kind == symbol && p.tokens[p.at+1].text == "(":
		return p.call()
	}
	return p.name()
}

// inside reads what stands in parentheses: a query or an expression.
func (p *parser) inside() Expr {
	var e Expr
	if p.peek().upper == "SELECT" {
		e = &Scalar{p.query()}
	} else {
		e = p.expression()
	}
	p.needSymbol(")")
	return e
}

func negative(e Expr) Expr {
	if l, ok := e.(*Literal); ok {
		switch v := l.Value.(type) {
		case int64:
			return &Literal{-v}
		case float64:
			return &Literal{-v}
		}
	}
	return &Unary{"-", e}
}

func (p *parser) number(t token) Expr {
	if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
		return &Literal{n}
	}
	f, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		p.fail("a number")
	}
	return &Literal{f}
}

func (p *parser) name() Expr {
	t, ok := p.takeName()
	if !ok {
		p.fail("an expression")
	}
	if p.takeSymbol(".") {
		return &Name{Table: t.text, Column: p.needName()}
	}
	return &Name{Column: t.text, Quoted: t.double}
}

func (p *parser) call() Expr {
	c := &Call{Name: strings.ToLower(p.peek().text)}
	p.at += 2
	if c.Name == "cast" {
		cast := &Cast{Operand: p.expression()}
		p.needWord("AS")
		cast.Type = p.needName()
		p.needSymbol(")")
		return cast
	}
	switch {
	case p.takeSymbol("*"):
		c.Star = true
	case p.takeSymbol(")"):
		return c
	default:
		c.Distinct = p.takeWord("DISTINCT")
		c.Arguments = p.expressions()
	}
	p.needSymbol(")")
	return c
}

func (p *parser) caseOf() Expr {
	c := &Case{}
	if p.peek().upper != "WHEN" {
		c.Operand = p.expression()
	}
	for p.takeWord("WHEN") {
		var w When
		w.Condition = p.expression()
		p.needWord("THEN")
		w.Value = p.expression()
		c.Whens = append(c.Whens, w)
	}
	if p.takeWord("ELSE") {
		c.Else = p.expression()
	}
	p.needWord("END")
	return c
}
