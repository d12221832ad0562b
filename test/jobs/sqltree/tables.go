package sqltree

// Tables returns the names of the tables that a query reads, nested queries included, each once for every place.
func Tables(q *Query) []string {
	var names []string
	Queries(q, func(q *Query) {
		for _, s := range q.Selects {
			for _, from := range s.From {
				if from.Query == nil {
					names = append(names, from.Table)
				}
			}
		}
	})
	return names
}

// Queries visits a query and those that are nested in it.
func Queries(q *Query, visit func(*Query)) {
	visit(q)
	nested := func(e Expr) {
		Walk(e, func(e Expr) {
			switch e := e.(type) {
			case *In:
				if e.Query != nil {
					Queries(e.Query, visit)
				}
			case *Scalar:
				Queries(e.Query, visit)
			case *Exists:
				Queries(e.Query, visit)
			}
		})
	}
	for _, s := range q.Selects {
		for _, c := range s.Columns {
			nested(c.Expr)
		}
		for _, from := range s.From {
			if from.Query != nil {
				Queries(from.Query, visit)
			}
			nested(from.On)
		}
		nested(s.Where)
		nested(s.Having)
	}
	for _, o := range q.Order {
		nested(o.Expr)
	}
}
