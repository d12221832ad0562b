package mysql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// readSchema reads the schema, and makes the server's own tables that the settings name and that are missing. Servers that
// do so at the same time wait for each other in the database.
func (d *db) readSchema(ctx context.Context, c *conn) (*database.Schema, error) {
	s, found, err := d.introspect(ctx, c)
	owns := sqltext.OwnTables(&d.settings)
	problems := make([]string, len(owns))
	for n, own := range owns {
		if err != nil {
			return nil, err
		}
		name := d.ownName(own, s, found)
		table := found.tables[name]
		switch {
		case d.settings.ReadOnly:
			problems[n] = "there is no table " + name.String() + ", the " + own.What + ", and none is made where the database is used for reading only"
		case found.ruleless[name]:
			problems[n] = "the " + own.What + " " + name.String() + " lies on several shards, and the VSchema has no rule for it; add one (ALTER VSCHEMA ON … ADD VINDEX …), " +
				"with a sequence if its id is counted, or name a schema of one shard for it"
		case table == nil:
			if problems[n], err = makeOwn(ctx, c, own, name); err == nil {
				s, found, err = d.introspect(ctx, c)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	for n, own := range owns {
		table := found.tables[d.ownName(own, s, found)]
		if table != nil {
			problems[n] = cmp.Or(found.whyUncounted(own, table), own.Mismatch(table), ownRefusal(own, table))
		}
		own.Found(s, table, problems[n])
	}
	return s, nil
}

// whyUncounted says of a table of the server's own on several shards that nothing numbers its rows; "" if something does.
func (i *introspection) whyUncounted(own *sqltext.OwnTable, table *database.Table) string {
	if counted := i.counted[table]; counted == nil || !slices.Contains(i.uncounted, table.String()+"."+counted.Name) {
		return ""
	}
	return "the " + own.What + " " + table.String() + " lies on several shards, and no sequence fills its id; add one (ALTER VSCHEMA ON … ADD AUTO_INCREMENT id USING …), " +
		"or name a schema of one shard for it"
}

// ownName is the name of a table of the server's own with its schema. If the settings name no schema, it is the first of
// the search path that has the table, else the first.
func (d *db) ownName(own *sqltext.OwnTable, s *database.Schema, found *introspection) tableName {
	named := own.Named(&d.settings)
	name := named.Name
	if named.Schema != "" {
		return tableName{named.Schema, name}
	}
	for _, schema := range s.SearchPath {
		if found.tables[tableName{schema, name}] != nil {
			return tableName{schema, name}
		}
	}
	return tableName{s.SearchPath[0], name}
}

// makeOwn makes a table of the server's own, and returns why the database refused it.
func makeOwn(ctx context.Context, c *conn, own *sqltext.OwnTable, name tableName) (problem string, err error) {
	statements := own.Statements(c.dialect(), name.schema, name.name)
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
		return "the " + own.What + " " + name.String() + " cannot be made: " + problem + "; make it with: " +
			strings.Join(strings.Fields(strings.Join(statements, "; ")), " "), nil
	}
	return "the " + own.What + " " + name.String() + " was made, but the user may not see it", nil
}
