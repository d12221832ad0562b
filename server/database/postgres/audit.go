package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// auditPlaceQuery returns the first of some schemas that has a table of that name, and true; or the first schema that
// exists, and false. An empty list of schemas stands for the search path.
const auditPlaceQuery = `
SELECT n.nspname, c.oid IS NOT NULL
FROM unnest(coalesce(nullif($1::text[], '{}'), current_schemas(false)::text[])) WITH ORDINALITY AS s(name, place)
JOIN pg_catalog.pg_namespace n ON n.nspname = s.name
LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = $2
ORDER BY c.oid IS NULL, s.place LIMIT 1`

// auditPlace returns the schema of the audit table, "" if there is none, and whether the table exists there.
func (d *db) auditPlace(ctx context.Context, tx pgx.Tx) (schema string, there bool, err error) {
	schemas := d.settings.Schemas
	if d.settings.Audit.Schema != "" {
		schemas = []string{d.settings.Audit.Schema}
	}
	err = tx.QueryRow(ctx, auditPlaceQuery, append([]string{}, schemas...), d.settings.Audit.Name).Scan(&schema, &there)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return schema, there, err
}

// makeAudit makes the audit table if it is missing, and returns why the server refused it. Servers that do so at the
// same time wait for each other.
func (d *db) makeAudit(ctx context.Context, conn *conn) (problem string, err error) {
	var schema string
	var there bool
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if schema, there, err = d.auditPlace(ctx, tx); err != nil || schema == "" {
			return err
		}
		if there {
			return addAuditCall(ctx, tx, schema, d.settings.Audit.Name)
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('mcp-admin-server audit table'))"); err != nil {
			return err
		}
		for _, statement := range sqltext.AuditTable(sqltext.PostgreSQL, schema, d.settings.Audit.Name) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	var answer *pgconn.PgError
	switch {
	case err == nil || !answered(err):
		return "", err
	case errors.As(err, &answer) && answer.Code == "42501":
		problem = "the user may not create tables there"
	case answer.Code == "25006":
		problem = "the database allows no changes"
	case answer.Code == "57014":
		return "", err
	default:
		problem = "the database refused it (SQLSTATE " + answer.Code + ")"
	}
	statements := strings.Join(sqltext.AuditTable(sqltext.PostgreSQL, schema, d.settings.Audit.Name), "; ")
	return "the audit table " + schema + "." + d.settings.Audit.Name + " cannot be made: " + problem +
		"; make it with: " + strings.Join(strings.Fields(statements), " "), nil
}

// auditLacksCallQuery reports whether a table that may be the audit table has no column call.
const auditLacksCallQuery = `
SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attname = 'call' AND NOT attisdropped)
	AND EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attname = 'object_id')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p') AND pg_catalog.pg_has_role(c.relowner, 'USAGE')`

// addAuditCall gives an audit table of an earlier version the column call, if the user owns the table. It does not wait
// long for others: the next introspection tries again.
func addAuditCall(ctx context.Context, tx pgx.Tx, schema, name string) error {
	lacks := false
	err := tx.QueryRow(ctx, auditLacksCallQuery, schema, name).Scan(&lacks)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !lacks {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT set_config('lock_timeout', '1000', true)"); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqltext.AddAuditCall(sqltext.PostgreSQL, schema, name))
		return err
	})
	if answered(err) {
		return nil // the schema's notes tell what is missing
	}
	return err
}

// findAudit sets the schema's audit table; problem is why it could not be made.
func (d *db) findAudit(ctx context.Context, tx pgx.Tx, s *database.Schema, i *introspection, problem string) error {
	schema, there, err := d.auditPlace(ctx, tx)
	if err != nil {
		return err
	}
	name := d.settings.Audit.Name
	if there && !slices.Contains(s.SearchPath, schema) {
		if _, i, err = introspect(ctx, tx, []string{schema}); err != nil {
			return err
		}
	}
	table := i.known().resolve(schema, name, nil)
	switch {
	case table != nil:
		s.AuditProblem = cmp.Or(sqltext.AuditMismatch(table), d.auditRefused(table))
		if s.AuditProblem == "" {
			s.Audit = table
			s.Note(sqltext.AuditCallNote(sqltext.PostgreSQL, table))
		}
	case problem != "":
		s.AuditProblem = problem
	case schema == "":
		s.AuditProblem = "the audit table " + name + " has no place: its schema is not there, or the search path has none"
	default:
		s.AuditProblem = "there is no table " + schema + "." + name + " for the audit, and none is made where the database is used for reading only"
	}
	return nil
}

// auditRefused says what the user may not do with the audit table, and the GRANT that helps; "" if nothing is missing. The
// right to read the table is demanded only if the database is used for reading only. In other cases only the history is
// missing without it.
func (d *db) auditRefused(table *database.Table) string {
	needed, right := database.MayInsert, "INSERT"
	if d.settings.ReadOnly {
		needed, right = database.MaySelect, "SELECT"
	}
	for _, c := range table.Columns {
		if name := c.Name; name != "id" && name != "call" && !c.Privileges.Has(needed) && !c.Generated {
			return "the database user may not " + right + " on the audit table " + table.String() + "; let its owner run: GRANT SELECT, INSERT ON " +
				sqltext.TableName(sqltext.PostgreSQL, table) + " TO the user of this endpoint"
		}
	}
	return ""
}
