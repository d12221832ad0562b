package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// ownPlaceQuery returns the first of some schemas that has a table of that name, and true; or the first schema that
// exists, and false. An empty list of schemas stands for the search path.
const ownPlaceQuery = `
SELECT n.nspname, c.oid IS NOT NULL
FROM unnest(coalesce(nullif($1::text[], '{}'), current_schemas(false)::text[])) WITH ORDINALITY AS s(name, place)
JOIN pg_catalog.pg_namespace n ON n.nspname = s.name
LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = $2
ORDER BY c.oid IS NULL, s.place LIMIT 1`

// ownPlace returns the schema of a table of the server's own, "" if there is none, and whether the table exists there.
func (d *db) ownPlace(ctx context.Context, tx pgx.Tx, named *contract.AuditTable) (schema string, there bool, err error) {
	schemas := d.settings.Schemas
	if named.Schema != "" {
		schemas = []string{named.Schema}
	}
	err = tx.QueryRow(ctx, ownPlaceQuery, append([]string{}, schemas...), named.Name).Scan(&schema, &there)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return schema, there, err
}

// makeOwn makes a table of the server's own if it is missing, and returns why the database refused it. Servers that do so
// at the same time wait for each other.
func (d *db) makeOwn(ctx context.Context, conn *conn, own *sqltext.OwnTable) (problem string, err error) {
	named := own.Named(&d.settings)
	schema, err := d.tryToMakeOwn(ctx, conn, own, named)
	if err != nil && !d.unadvised.Load() && lacksFunction(err) {
		d.unadvised.Store(true)
		schema, err = d.tryToMakeOwn(ctx, conn, own, named)
		d.unadvised.Store(err == nil || !lacksFunction(err)) // else it was not the lock that the server lacks
	}
	return d.whyNotMade(own, schema, err)
}

// lacksFunction reports whether the server does not have a function, or does not carry it out.
func lacksFunction(err error) bool {
	var answer *pgconn.PgError
	return unsupported(err) || errors.As(err, &answer) && answer.Code == "42883"
}

// tryToMakeOwn makes a table of the server's own if it is missing, and returns its schema. Without advisory locks, one of two servers
// that do so at the same time may fail, and finds the table when it looks again.
func (d *db) tryToMakeOwn(ctx context.Context, conn *conn, own *sqltext.OwnTable, named *contract.AuditTable) (schema string, err error) {
	var there bool
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		if schema, there, err = d.ownPlace(ctx, tx, named); err != nil || schema == "" {
			return err
		}
		if there {
			return nil
		}
		if !d.unadvised.Load() {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('mcp-admin-server audit table'))"); err != nil {
				return err
			}
		}
		for _, statement := range own.Statements(sqltext.PostgreSQL, schema, named.Name) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	return schema, err
}

// whyNotMade says why the database refused to make a table of the server's own; "" if it did not. An error is one about which the
// database said nothing.
func (d *db) whyNotMade(own *sqltext.OwnTable, schema string, err error) (problem string, _ error) {
	named := own.Named(&d.settings)
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
	statements := strings.Join(own.Statements(sqltext.PostgreSQL, schema, named.Name), "; ")
	return "the " + own.What + " " + schema + "." + named.Name + " cannot be made: " + problem +
		"; make it with: " + strings.Join(strings.Fields(statements), " "), nil
}

// findOwn sets a table of the server's own in the schema; problem is why it could not be made.
func (d *db) findOwn(ctx context.Context, tx pgx.Tx, s *database.Schema, i *introspection, own *sqltext.OwnTable, problem string) error {
	named := own.Named(&d.settings)
	schema, there, err := d.ownPlace(ctx, tx, named)
	if err != nil {
		return err
	}
	name := named.Name
	if there && !slices.Contains(s.SearchPath, schema) {
		if _, i, err = introspect(ctx, tx, []string{schema}); err != nil {
			return err
		}
	}
	table := i.known().resolve(schema, name, nil)
	switch {
	case table != nil:
		problem = cmp.Or(own.Mismatch(table), d.ownRefused(own, table))
	case problem != "":
	case schema == "":
		problem = "the " + own.What + " " + name + " has no place: its schema is not there, or the search path has none"
	default:
		problem = "there is no table " + schema + "." + name + ", the " + own.What + ", and none is made where the database is used for reading only"
	}
	own.Found(s, table, problem)
	return nil
}

// ownRefused says what the user may not do with a table of the server's own, and the GRANT that helps; "" if nothing is
// missing. The right to read the audit table is demanded only if the database is used for reading only: in other cases only
// the history is missing without it.
func (d *db) ownRefused(own *sqltext.OwnTable, table *database.Table) string {
	needed, right := own.Needs, own.Grants
	switch {
	case d.settings.ReadOnly:
		needed, right = database.MaySelect, "SELECT"
	case own == sqltext.Audit:
		needed, right = database.MayInsert, "INSERT"
	}
	missing := own != sqltext.Audit && !table.Privileges.Has(needed)
	for _, c := range table.Columns {
		if own == sqltext.Audit {
			missing = missing || c.Name != "id" && !c.Privileges.Has(needed) && !c.Generated
		}
	}
	if !missing {
		return ""
	}
	return "the database user may not " + right + " on the " + own.What + " " + table.String() + "; let its owner run: GRANT " + own.Grants + " ON " +
		sqltext.TableName(sqltext.PostgreSQL, table) + " TO the user of this endpoint"
}
