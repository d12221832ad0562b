package sqlite

import (
	"context"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// makeAudit makes the audit table that the settings name, if it is missing and the database may be written to, or gives
// one that is there what it lacks. It reports whether it did. If it could not, the schema says why; an error means that the call was cancelled.
func (d *db) makeAudit(ctx context.Context, schema *database.Schema) (made bool, err error) {
	if d.settings.ReadOnly {
		return false, nil
	}
	if table := d.auditIn(schema); table != nil {
		return d.addAuditCall(ctx, table)
	}
	err = d.Transact(ctx, func(open database.Tx) error {
		for _, statement := range sqltext.AuditTable(dialect, "", d.settings.Audit.Name) {
			if _, err := open.Execute(ctx, &database.Declared{Pieces: []database.Piece{{SQL: statement}}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return true, nil
	}
	failure := database.AsError(err)
	if failure.Code == database.Cancelled {
		return false, err
	}
	schema.AuditProblem = "the audit table " + d.settings.Audit.Name + " cannot be made: " + failure.Message
	return false, nil
}

// addAuditCall gives an audit table of an earlier version the column call, and reports whether it did. If that cannot be
// done, or another server was faster, the schema's notes tell what is missing.
func (d *db) addAuditCall(ctx context.Context, table *database.Table) (added bool, err error) {
	if !sqltext.LacksAuditCall(table) || sqltext.AuditMismatch(table) != "" {
		return false, nil
	}
	err = d.Transact(ctx, func(open database.Tx) error {
		statement := sqltext.AddAuditCall(dialect, "", table.Name)
		_, err := open.Execute(ctx, &database.Declared{Pieces: []database.Piece{{SQL: statement}}})
		return err
	})
	if err != nil && database.AsError(err).Code == database.Cancelled {
		return false, err
	}
	return true, nil // read again, whatever came of it
}

// findAudit sets the schema's audit table, or says why it cannot be used.
func (d *db) findAudit(schema *database.Schema) {
	if schema.AuditProblem != "" {
		return
	}
	table := d.auditIn(schema)
	if table == nil {
		schema.AuditProblem = "the audit table " + d.settings.Audit.Name + " does not exist, and is not made in a database that is only read"
		return
	}
	if schema.AuditProblem = sqltext.AuditMismatch(table); schema.AuditProblem == "" {
		schema.Audit = table
		schema.Note(sqltext.AuditCallNote(dialect, table))
	}
}

// auditIn returns the audit table, compared by SQLite's rule of names, or nil.
func (d *db) auditIn(schema *database.Schema) *database.Table {
	at := slices.IndexFunc(schema.Tables, func(t *database.Table) bool { return sameName(t.Name, d.settings.Audit.Name) })
	if at < 0 {
		return nil
	}
	return schema.Tables[at]
}
