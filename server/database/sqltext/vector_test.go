package sqltext_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// TestDistances holds that a vector is bound, and that a distance is not the whole expression, which an index could serve.
func TestDistances(t *testing.T) {
	for _, test := range []struct {
		dialect  sqltext.Dialect
		distance database.DistanceKind
		want     string
	}{
		{sqltext.PostgreSQL, database.Cosine, `(("place" OPERATOR(ext.<=>) $1::text::ext.vector) + 0) | [0.5,-1e+09,0.1]`},
		{sqltext.MariaDB, database.Cosine, "LEAST(1.7976931348623157e308, VEC_DISTANCE_COSINE(`place`, CAST(? AS BINARY))) | [0 0 0 63 40 107 110 206 205 204 204 61]"},
		{sqltext.MariaDB, database.Euclidean, "LEAST(1.7976931348623157e308, VEC_DISTANCE_EUCLIDEAN(`place`, CAST(? AS BINARY))) | [0 0 0 63 40 107 110 206 205 204 204 61]"},
	} {
		place := &database.Column{Name: "place", Vector: &database.Vector{Schema: "ext", Type: "vector", Dimensions: 3, Distance: test.distance}}
		order := database.Order{Column: database.Distance{Of: place, To: []float32{0.5, -1e9, 0.1}}.Column()}
		plan := &database.Select{From: database.NewSource(book, nil), Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}}, Order: []database.Order{order}, Limit: 3}
		var s sqltext.Statement
		if err := s.Build(test.dialect, plan); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(shown(s.Select, s.Args), "ORDER BY ")
		got = strings.ReplaceAll(strings.ReplaceAll(got, "t0.", ""), " LIMIT 3", "")
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
