package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// vectorIndexesQuery finds MariaDB's indexes of vectors.
const vectorIndexesQuery = `
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ? AND INDEX_TYPE = 'VECTOR'`

const (
	noDistance = "MySQL's community server has no function for a distance"
	noIndex    = "the definition of the table tells the distance of the index, and the database user may not see it; grant SELECT on the whole table"
)

// readVectors finds the columns of vectors, and by which distance MariaDB's are compared: by their index's, and by cosine without one.
// MySQL only stores vectors.
func (i *introspection) readVectors(ctx context.Context) error {
	found := false
	for _, t := range i.tables {
		for _, c := range t.Columns {
			dimensions, isVector := strings.CutPrefix(c.NativeType, "vector(")
			if !isVector {
				continue
			}
			found = true
			c.Vector = &database.Vector{Dimensions: count(strings.TrimSuffix(dimensions, ")"))}
			c.SortedLength, c.Incomparable = 0, !slices.Contains(t.PrimaryKey, c)
			if !i.conn.mariaDB {
				c.Vector.Unordered = noDistance
			}
		}
	}
	if !found || !i.conn.mariaDB {
		return nil
	}
	indexed := map[*database.Column]*database.Table{}
	err := i.each(ctx, vectorIndexesQuery, func(t *database.Table, v []string) {
		if c := t.Column(v[0]); c != nil && c.Vector != nil {
			indexed[c] = t
		}
	})
	for c, t := range indexed {
		if err == nil {
			err = i.readDistance(ctx, t, c)
		}
	}
	return err
}

// readDistance reads the distance of a column's index from the table's definition: nothing else has it.
func (i *introspection) readDistance(ctx context.Context, t *database.Table, c *database.Column) error {
	err := i.conn.texts(ctx, "SHOW CREATE TABLE "+sqltext.TableName(sqltext.MariaDB, t), nil, func(v []string) {
		c.Vector.Distance = indexDistances(v[1])[c.Name]
	})
	if number(err) == errTableDenied {
		c.Vector.Unordered = noIndex
		return nil
	}
	return err
}

// indexDistances finds the indexes of vectors in a table's definition:
//
//	VECTOR KEY `near` (`place`) `M`='8' `DISTANCE`='cosine'
//
// An index that names no distance has the Euclidean one. Names may lack their quotes.
func indexDistances(definition string) map[string]database.DistanceKind {
	all := map[string]database.DistanceKind{}
	pieces := tokens(definition)
	is := func(at int, word string) bool { return at < len(pieces) && pieces[at] == token{aWord, word} }
	for at := range pieces {
		if !is(at, "vector") || !is(at+1, "key") || !is(at+3, "(") || !is(at+5, ")") {
			continue
		}
		distance := database.Euclidean
		for next := at + 6; next+2 < len(pieces) && !is(next, ",") && !is(next, ")"); next++ {
			if strings.EqualFold(pieces[next].text, "distance") && is(next+1, "=") && strings.EqualFold(pieces[next+2].text, "cosine") {
				distance = database.Cosine
			}
		}
		all[pieces[at+4].text] = distance
	}
	return all
}
