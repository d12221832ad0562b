package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// vectorsQuery finds the columns of pgvector's types whose vectors all have the same number of dimensions, with the operator class of an
// index of theirs.
const vectorsQuery = `
SELECT a.attrelid, a.attnum::int4, quote_ident(n.nspname), quote_ident(t.typname), a.atttypmod,
       coalesce((SELECT o.opcname::text FROM pg_catalog.pg_index i
         JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
         JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname IN ('hnsw', 'ivfflat')
         JOIN pg_catalog.pg_opclass o ON o.oid = (i.indclass::oid[])[0]
         WHERE i.indrelid = a.attrelid AND i.indkey[0] = a.attnum AND i.indisvalid ORDER BY x.relname LIMIT 1), '')
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid AND t.typname IN ('vector', 'halfvec')
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_type'::regclass AND d.objid = t.oid AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e'
JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'vector'
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped`

// distances are by the operator classes of indexes; cosine is for a column without one.
var distances = map[string]database.DistanceKind{
	"vector_l2_ops": database.Euclidean, "vector_ip_ops": database.InnerProduct, "vector_l1_ops": database.Taxicab,
	"halfvec_l2_ops": database.Euclidean, "halfvec_ip_ops": database.InnerProduct, "halfvec_l1_ops": database.Taxicab,
}

const noDimensions = "the type of the column must say how many numbers each vector has: vector(3)"

func (i *introspection) readVectors(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var number, dimensions int32
	var v database.Vector
	var class string
	return each(ctx, tx, vectorsQuery, tables, []any{&oid, &number, &v.Schema, &v.Type, &dimensions, &class}, func() {
		if column := i.columns[oid][number]; column != nil {
			own := v
			own.Dimensions, own.Distance = max(int(dimensions), 0), distances[class]
			if own.Dimensions == 0 {
				own.Unordered = noDimensions
			}
			column.Vector, column.Incomparable = &own, true
		}
	})
}
