package sqltext

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// An index of vectors finds some of the nearest rows of the whole table, and forgets the others, before it knows which rows a policy and
// the filters let through. So a distance is part of an expression, which no such index serves.

// distanceOperators are pgvector's.
var distanceOperators = map[database.DistanceKind]string{
	database.Cosine: "<=>", database.Euclidean: "<->", database.InnerProduct: "<#>", database.Taxicab: "<+>",
}

func (postgresql) distance(w *writer, alias int, d database.Distance) {
	v := d.Of.Vector
	w.text("((")
	w.columnOf(alias, d.Of)
	w.text(" OPERATOR(" + v.Schema + "." + distanceOperators[v.Distance] + ") ")
	w.bindText(vectorText(d.To))
	w.text("::text::" + v.Schema + "." + v.Type + ") + 0)")
}

// vectorText is a vector as pgvector writes it.
func vectorText(numbers []float32) string {
	text := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, float64(n), 'g', -1, 32)
	}
	return string(append(text, ']'))
}

// distance of MariaDB has the greatest number in the place of infinity, and of the NaN that the cosine of a vector of zeros is: arithmetic
// with these is an error there, and such rows come last in PostgreSQL too. LEAST keeps its first value if the other is NaN. The vector
// is bound as the bytes that a column has: VEC_FromText would read a text again for each row, and VEC_ToText loses digits.
func (mysql) distance(w *writer, alias int, d database.Distance) {
	function := "VEC_DISTANCE_COSINE("
	if d.Of.Vector.Distance == database.Euclidean {
		function = "VEC_DISTANCE_EUCLIDEAN("
	}
	w.text("LEAST(1.7976931348623157e308, " + function)
	w.columnOf(alias, d.Of)
	w.text(", ")
	w.cast(Arg{Kind: database.Bytes, Value: vectorBytes(d.To)}, "BINARY")
	w.text("))")
}

// vectorBytes is a vector as MariaDB stores it.
func vectorBytes(numbers []float32) []byte {
	all := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		all = binary.LittleEndian.AppendUint32(all, math.Float32bits(n))
	}
	return all
}

// distance is never asked of SQLite, which has no type of vectors.
func (sqlite) distance(w *writer, _ int, d database.Distance) { w.invalid(d.Of, "has no distance") }
