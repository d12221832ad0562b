package sqltree

// Tables returns the names of the tables that a query reads, nested queries included, each once for every place.
func Tables(q *Query) []string {
	var names []string
	nested := func(e Expr) {
		Walk(e, func(e Expr) {
			switch e := e.(type) {
			case *In:
				if e.Query != nil {
					names = append(names, Tables(e.Query)...)
				}
			case *Scalar:
				names = append(names, Tables(e.Query)...)
			case *Exists:
				names = append(names, Tables(e.Query)...)
			}
		})
	}
	for _, s := range q.Selects {
		for _, c := range s.Columns {
			nested(c.Expr)
		}
		for _, from := range s.From {
			if from.Query != nil {
				names = append(names, Tables(from.Query)...)
			} else {
				names = append(names, from.Table)
			}
			nested(from.On)
		}
		nested(s.Where)
		nested(s.Having)
	}
	for _, o := range q.Order {
		nested(o.Expr)
	}
	return names
}
