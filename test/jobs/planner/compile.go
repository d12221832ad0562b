package planner

import (
	"math"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// operand is one side of a comparison: a column, a measure or a group's member.
type operand struct {
	path     string
	affinity Affinity
	served   Served
	nulls    bool
	// dates reports whether all values are dates.
	dates bool
	// oneLength reports whether the texts, as texts, have the same order as the numbers that they are read as.
	oneLength bool
	// place is the column, if it is one.
	place *place
}

// compiler writes expressions as conditions.
type compiler struct {
	*builder
	s *selection
	// shape is where the rows are; nil in HAVING.
	shape *shape
	// operand finds what an expression names; false if it names nothing.
	operand func(sqltree.Expr) (operand, bool, error)
}

// condition writes an expression, or its contrary, as a condition. SQL's unknown is false in the end, so the contrary is
// pushed down to the comparisons, which are unknown only because of NULLs.
func (c *compiler) condition(e sqltree.Expr, negate bool) (condition, error) {
	switch e := e.(type) {
	case *sqltree.Binary:
		switch e.Operator {
		case "AND", "OR":
			return c.both(e, negate)
		}
		return c.comparison(e, negate)
	case *sqltree.Unary:
		if e.Operator == "NOT" {
			return c.condition(e.Operand, !negate)
		}
	case *sqltree.Between:
		low := &sqltree.Binary{Operator: ">=", Left: e.Operand, Right: e.Low}
		high := &sqltree.Binary{Operator: "<=", Left: e.Operand, Right: e.High}
		return c.condition(&sqltree.Binary{Operator: "AND", Left: low, Right: high}, negate != e.Not)
	case *sqltree.IsNull:
		o, err := c.need(e.Operand)
		if err != nil {
			return nil, err
		}
		return leaf{o.path, "isnull", e.Not == negate}, nil
	case *sqltree.Like:
		return c.like(e, negate != e.Not)
	case *sqltree.In:
		if e.Query != nil {
			return c.inQuery(e, negate != e.Not)
		}
		return c.inList(e, negate != e.Not)
	case *relatedRows:
		operator := e.operator
		if negate {
			operator = contrary[operator]
		}
		return leaf{c.shape.paths[e.of.source] + e.relation + "__count", lookups[operator], e.number}, nil
	case *sqltree.Exists:
		return c.exists(e, negate)
	}
	return nil, unable("an expression as a condition")
}

func (c *compiler) both(e *sqltree.Binary, negate bool) (condition, error) {
	left, err := c.condition(e.Left, negate)
	if err != nil {
		return nil, err
	}
	right, err := c.condition(e.Right, negate)
	if err != nil {
		return nil, err
	}
	if (e.Operator == "AND") != negate {
		return all{left, right}, nil
	}
	alternatives := some{}
	for _, side := range []condition{left, right} {
		if more, ok := side.(some); ok {
			alternatives = append(alternatives, more...)
		} else {
			alternatives = append(alternatives, side)
		}
	}
	return alternatives, nil
}

// need returns what an expression names.
func (c *compiler) need(e sqltree.Expr) (operand, error) {
	o, ok, err := c.operand(e)
	if err == nil && !ok {
		switch e := e.(type) {
		case *sqltree.Name:
			err = unable("the column %s", e.Column)
		case *sqltree.Binary:
			err = unable("arithmetic")
		case *sqltree.Call:
			err = unable("the function %s", strings.ToUpper(e.Name))
		default:
			err = unable("an expression in a condition")
		}
	}
	return o, err
}

// flipped are the operators with their sides exchanged, contrary the operators with the contrary meaning.
var (
	flipped  = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	contrary = map[string]string{"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
	lookups  = map[string]string{"=": "", "<>": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
)

func (c *compiler) comparison(e *sqltree.Binary, negate bool) (condition, error) {
	operator, left, right := e.Operator, e.Left, e.Right
	if l, ok := right.(*sqltree.Literal); operator == "IS" && (ok && l.Value != nil || isValue(c, right)) && !negate {
		operator = "=" // for what is not NULL
	}
	if flipped[operator] == "" {
		return nil, unable("arithmetic")
	}
	if negate {
		operator = contrary[operator]
	}
	if isValue(c, left) {
		operator, left, right = flipped[operator], right, left
	}
	if part, err := c.datePart(operator, left, right); part != nil || err != nil {
		return part, err
	}
	o, err := c.need(left)
	if err != nil {
		return nil, err
	}
	switch right := right.(type) {
	case *sqltree.Literal:
		return c.compare(o, operator, right.Value)
	case *sqltree.Scalar:
		return c.compareQuery(o, operator, right.Query)
	case *sqltree.Name:
		other, ok, err := c.operand(right)
		if err != nil {
			return nil, err
		}
		if !ok && isValue(c, right) {
			return c.compare(o, operator, right.Column)
		}
		if ok {
			return c.compareFields(o, operator, other)
		}
	}
	_, err = c.need(right)
	if err == nil {
		err = unable("a comparison of two aggregates")
	}
	return nil, err
}

// isValue reports whether an expression is a constant or a query.
func isValue(c *compiler, e sqltree.Expr) bool {
	switch e := e.(type) {
	case *sqltree.Literal, *sqltree.Scalar:
		return true
	case *sqltree.Name:
		_, ok, err := c.operand(e)
		return err == nil && !ok && e.Quoted && !c.outside(e)
	}
	return false
}

// compare compares with a constant.
func (c *compiler) compare(o operand, operator string, value any) (condition, error) {
	sent, kind := convert(o, value)
	switch {
	case kind == mixed || kind == differs && operator != "=" && operator != "<>":
		return nil, unable("a comparison of numbers with texts")
	case value == nil || kind == differs && operator == "=":
		return c.never()
	case kind == differs:
		return leaf{o.path, "isnull", false}, nil
	case operator != "=" && operator != "<>" && o.affinity == TextAffinity && o.served == ServedNumber && !o.oneLength:
		return nil, unable("an order of numbers kept as text")
	}
	return withoutNulls(o, operator, leaf{o.path, lookups[operator], sent}), nil
}

// withoutNulls adds to an inequality that NULL does not meet it.
func withoutNulls(o operand, operator string, l condition) condition {
	if operator == "<>" && o.nulls {
		return all{l, leaf{o.path, "isnull", false}}
	}
	return l
}

// never is a condition that no row meets.
func (c *compiler) never() (condition, error) {
	if c.shape == nil {
		return nil, unable("a condition that never holds")
	}
	return leaf{c.shape.tables[c.shape.root].table.Columns[0].Field, "in", []any{}}, nil
}

type conversion int

// How a constant compares with a column: alike, as a value that the column never has, or in a way that the API has not.
const (
	alike conversion = iota
	differs
	mixed
)

// convert converts a constant as SQLite does before it compares it with a column.
func convert(o operand, value any) (any, conversion) {
	switch v := value.(type) {
	case nil:
		return nil, alike
	case string:
		switch {
		case o.affinity == TextAffinity || o.served != ServedNumber:
			return v, alike
		case o.affinity == NoAffinity:
			return nil, mixed
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n, alike
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, alike
		}
		return nil, differs
	case int64:
		return convertNumber(o, v, strconv.FormatInt(v, 10))
	case float64:
		return convertNumber(o, v, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return nil, mixed
}

func convertNumber(o operand, v any, text string) (any, conversion) {
	switch {
	case o.affinity == TextAffinity:
		return text, alike
	case o.served == ServedNumber:
		return v, alike
	}
	return nil, mixed
}

// compareFields compares with another column of the row.
func (c *compiler) compareFields(o operand, operator string, other operand) (condition, error) {
	if c.shape == nil {
		return nil, unable("a comparison of two aggregates")
	}
	if o.affinity != other.affinity || o.served != other.served {
		return nil, unable("a comparison of numbers with texts")
	}
	if plain := o.place.column.Plain && other.place.column.Plain; c.folds(o, operator) && !plain {
		return nil, unable("an order of two texts by their bytes")
	}
	conditions := all{leaf{o.path, lookups[operator], Object{"_field": other.path}}}
	if operator == "<>" || operator == "=" { // NULL equals nothing
		for _, side := range []operand{o, other} {
			if side.nulls {
				conditions = append(conditions, leaf{side.path, "isnull", false})
			}
		}
	}
	return conditions, nil
}

func (c *compiler) like(e *sqltree.Like, negate bool) (condition, error) {
	o, err := c.need(e.Operand)
	if err != nil {
		return nil, err
	}
	pattern, ok := c.text(e.Pattern)
	if begins, isDate := dateLike(o, pattern); ok && isDate {
		if negate {
			return withoutNulls(o, "<>", not{begins}), nil
		}
		return begins, nil
	}
	if !ok || o.served != ServedText {
		return nil, unable("LIKE on other than texts")
	}
	inner := strings.Trim(pattern, "%")
	lookup := "iexact"
	switch first, last := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%"); {
	case strings.ContainsAny(inner, "%_"):
		return nil, unable("a pattern with wildcards inside")
	case strings.IndexFunc(inner, func(r rune) bool { return r > 127 }) >= 0:
		return nil, unable("a pattern whose case is folded in ASCII only")
	case inner == "" && pattern != "" && negate:
		return c.never()
	case inner == "" && pattern != "":
		return leaf{o.path, "isnull", false}, nil
	case first && last:
		lookup = "icontains"
	case first:
		lookup = "iendswith"
	case last:
		lookup = "istartswith"
	}
	found := leaf{o.path, lookup, inner}
	if !negate {
		return found, nil
	}
	if o.nulls {
		return all{not{found}, leaf{o.path, "isnull", false}}, nil
	}
	return not{found}, nil
}

// text returns the constant text that an expression is.
func (c *compiler) text(e sqltree.Expr) (string, bool) {
	switch e := e.(type) {
	case *sqltree.Literal:
		s, ok := e.Value.(string)
		return s, ok
	case *sqltree.Name:
		return e.Column, isValue(c, e)
	}
	return "", false
}

func (c *compiler) inList(e *sqltree.In, negate bool) (condition, error) {
	o, err := c.need(e.Operand)
	if err != nil {
		return nil, err
	}
	values := []any{}
	for _, one := range e.List {
		var constant any
		if text, ok := c.text(one); ok {
			constant = text
		} else if l, ok := one.(*sqltree.Literal); ok && l.Value != nil {
			constant = l.Value
		} else {
			return nil, unable("IN with other than constants")
		}
		sent, kind := convert(o, constant)
		switch kind {
		case mixed:
			return nil, unable("a comparison of numbers with texts")
		case alike:
			values = append(values, sent)
		}
	}
	return inValues(o, values, negate), nil
}

// inValues says that the value is one of a list, or none of it. NULL is neither.
func inValues(o operand, values any, negate bool) condition {
	found := leaf{o.path, "in", values}
	switch {
	case !negate:
		return found
	case !o.nulls:
		return not{found}
	}
	if r, ok := values.(Reference); ok {
		return all{not{found}, leaf{o.path, "isnull", UnlessEmpty{r}}}
	}
	return all{not{found}, leaf{o.path, "isnull", false}}
}
