package generate

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// bookkeeping are tables that programs keep for themselves, by what keeps them.
var bookkeeping = map[string]string{
	"schema_migrations": "migrations", "ar_internal_metadata": "migrations", "flyway_schema_history": "migrations",
	"databasechangelog": "migrations", "databasechangeloglock": "migrations", "alembic_version": "migrations",
	"django_migrations": "migrations", "goose_db_version": "migrations", "knex_migrations": "migrations",
	"knex_migrations_lock": "migrations", "__efmigrationshistory": "migrations", "_prisma_migrations": "migrations",
	"__drizzle_migrations": "migrations", "sequelizemeta": "migrations", "typeorm_metadata": "migrations", "migrations": "migrations",
	"schema_version": "migrations", "gorp_migrations": "migrations", "phinxlog": "migrations", "doctrine_migration_versions": "migrations",
	"spatial_ref_sys": "PostGIS", "geometry_columns": "PostGIS", "geography_columns": "PostGIS",
	"pg_stat_statements": "pg_stat_statements", "pg_stat_statements_info": "pg_stat_statements",
}

// reasonToLeaveOut says why a table gets no model; "" if it gets one.
func (o *Options) reasonToLeaveOut(t *database.Table) string {
	switch keeper := bookkeeping[strings.ToLower(t.Name)]; {
	case !t.Privileges.Has(database.MaySelect):
		return "the database user may not read it"
	case slices.Contains(o.Include, t.Name) || slices.Contains(o.Include, t.String()):
		return "" // somebody named it
	case t.Partition:
		return "a partition, whose rows the whole table has"
	case isOwn(sqltext.Audit, t):
		return "the journal of this server"
	case isOwn(sqltext.Idempotency, t):
		return "the idempotency keys of this server"
	case isAudit(t):
		return "an audit table, by its name"
	case keeper != "":
		return "bookkeeping of " + keeper
	}
	for _, c := range t.PrimaryKey {
		if catalog.LooksSecret(t, c) {
			return "its key " + c.Name + " is named like a secret"
		}
	}
	if !slices.ContainsFunc(t.Columns, func(c *database.Column) bool {
		return !catalog.LooksSecret(t, c) && c.Privileges.Has(database.MaySelect)
	}) {
		return "all its columns are named like secrets"
	}
	return ""
}

// isOwn reports whether a server of this project can have written the table for itself, whatever its name is.
func isOwn(own *sqltext.OwnTable, t *database.Table) bool {
	writable := *t
	writable.Writable = true
	return own.Mismatch(&writable) == ""
}

// isAudit reports whether a table is named like a record of changes.
func isAudit(t *database.Table) bool {
	words := catalog.Words(t.Name)
	for _, word := range words {
		switch word {
		case "audit", "audits", "auditlog", "auditlogs", "audittrail":
			return true
		}
	}
	joined := strings.Join(words, "_")
	return joined == "django_admin_log" || joined == "logged_actions" || strings.HasSuffix(joined, "change_log") || strings.HasSuffix(joined, "changelog")
}
