package sqltree

// Walk visits an expression and those inside it, but not nested queries.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch e := e.(type) {
	case *Binary:
		Walk(e.Left, visit)
		Walk(e.Right, visit)
	case *Unary:
		Walk(e.Operand, visit)
	case *Call:
		for _, a := range e.Arguments {
			Walk(a, visit)
		}
	case *In:
		Walk(e.Operand, visit)
		for _, a := range e.List {
			Walk(a, visit)
		}
	case *Between:
		Walk(e.Operand, visit)
		Walk(e.Low, visit)
		Walk(e.High, visit)
	case *Like:
		Walk(e.Operand, visit)
		Walk(e.Pattern, visit)
	case *IsNull:
		Walk(e.Operand, visit)
	case *Cast:
		Walk(e.Operand, visit)
	case *Case:
		Walk(e.Operand, visit)
		for _, w := range e.Whens {
			Walk(w.Condition, visit)
			Walk(w.Value, visit)
		}
		Walk(e.Else, visit)
	}
}
