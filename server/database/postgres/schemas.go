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

// readableSchemasQuery finds the schemas in which the user may read something, without the system's own.
const readableSchemasQuery = `
SELECT coalesce(array_agg(n.nspname::text ORDER BY n.nspname), '{}')
FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
              AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))`

// ReadableSchemas implements database.SchemaLister.
func (d *db) ReadableSchemas(ctx context.Context) (schemas []string, err error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	conn.guard(1)
	if err := conn.QueryRow(ctx, readableSchemasQuery).Scan(&schemas); err != nil {
		return nil, d.statementError(ctx, err)
	}
	return schemas, nil
}
