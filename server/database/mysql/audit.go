package mysql

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// readSchema reads the schema, and makes the audit table if the settings name one that is missing. Servers that do so
// at the same time wait for each other in the database.
func (d *db) readSchema(ctx context.Context, c *conn) (*database.Schema, error) {
	s, found, err := d.introspect(ctx, c)
	if err != nil || d.settings.Audit == nil {
		return s, err
	}
	name := d.auditName(s, found)
	problem := "there is no table " + name.String() + " for the audit, and none is made where the database is used for reading only"
	if found.tables[name] == nil && !d.settings.ReadOnly {
		if problem, err = makeAudit(ctx, c, name); err != nil {
			return nil, err
		}
		if s, found, err = d.introspect(ctx, c); err != nil {
			return nil, err
		}
	}
	if table := found.tables[name]; table != nil && !d.settings.ReadOnly && sqltext.LacksAuditCall(table) && sqltext.AuditMismatch(table) == "" {
		if s, found, err = d.addAuditCall(ctx, c, name); err != nil {
			return nil, err
		}
	}
	if table := found.tables[name]; table == nil {
		s.AuditProblem = problem
	} else if s.AuditProblem = cmp.Or(sqltext.AuditMismatch(table), auditRefusal(table)); s.AuditProblem == "" {
		s.Audit = table
		s.Note(sqltext.AuditCallNote(c.dialect(), table))
	}
	return s, nil
}

// addAuditCall gives an audit table of an earlier version the column call, if the user may, and reads the schema again. If
// the user may not, or if another server was faster, that is no error: the schema's notes tell what is missing then.
func (d *db) addAuditCall(ctx context.Context, c *conn, name tableName) (*database.Schema, *introspection, error) {
	var answer *mysql.MySQLError
	err := c.exec(ctx, sqltext.AddAuditCall(c.dialect(), name.schema, name.name))
	if err != nil && !errors.As(err, &answer) {
		return nil, nil, err
	}
	return d.introspect(ctx, c)
}

// auditName is the audit table's name with its schema. If the settings name no schema, it is the first of the search
// path that has the table, else the first.
func (d *db) auditName(s *database.Schema, found *introspection) tableName {
	name := d.settings.Audit.Name
	if d.settings.Audit.Schema != "" {
		return tableName{d.settings.Audit.Schema, name}
	}
	for _, schema := range s.SearchPath {
		if found.tables[tableName{schema, name}] != nil {
			return tableName{schema, name}
		}
	}
	return tableName{s.SearchPath[0], name}
}

// makeAudit makes the audit table, and returns why the server refused it.
func makeAudit(ctx context.Context, c *conn, name tableName) (problem string, err error) {
	statements := sqltext.AuditTable(c.dialect(), name.schema, name.name)
	for _, statement := range statements {
		var answer *mysql.MySQLError
		err := c.exec(ctx, statement)
		switch {
		case err == nil:
			continue
		case !errors.As(err, &answer) || answer.Number == errStatementTimeout:
			return "", err
		case answer.Number == errTableDenied, answer.Number == errDatabaseDenied:
			problem = "the user may not create tables there"
		case isReadOnly(answer):
			problem = "the database allows no changes"
		default:
			problem = "the database refused it (error " + strconv.Itoa(int(answer.Number)) + ")"
		}
		return "the audit table " + name.String() + " cannot be made: " + problem + "; make it with: " +
			strings.Join(strings.Fields(strings.Join(statements, "; ")), " "), nil
	}
	return "the audit table " + name.String() + " was made, but the user may not see it", nil
}
