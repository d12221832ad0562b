package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// missingSchemasQuery finds the schemas that do not exist or that the user may not use, in their order.
const missingSchemasQuery = `
SELECT coalesce(array_agg(name ORDER BY position), '{}')
FROM unnest($1::text[]) WITH ORDINALITY AS listed (name, position)
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = name AND pg_catalog.has_schema_privilege(oid, 'USAGE'))`

// missingSchemas returns the schemas of the settings that do not exist, or that the user may not use.
func missingSchemas(ctx context.Context, tx pgx.Tx, schemas []string) (missing []string, err error) {
	if len(schemas) == 0 {
		return nil, nil
	}
	return missing, tx.QueryRow(ctx, missingSchemasQuery, schemas).Scan(&missing)
}
