package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// distanceOperators are pgvector's.
var distanceOperators = map[database.DistanceKind]string{
	database.Cosine: "<=>", database.Euclidean: "<->", database.InnerProduct: "<#>", database.Taxicab: "<+>",
}

// distance writes how far a vector is from another one. The 0 keeps an index of the vectors out: such an index finds some of the nearest
// rows of the whole table, and forgets the others, before it knows which rows a policy and the filters let through.
func (w *writer) distance(alias int, d database.Distance) {
	v := d.Of.Vector
	w.text("((")
	w.columnOf(alias, d.Of)
	w.text(" OPERATOR(" + v.Schema + "." + distanceOperators[v.Distance] + ") ")
	w.bindText(d.To)
	w.text("::text::" + v.Schema + "." + v.Type + ") + 0)")
}
