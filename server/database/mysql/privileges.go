package mysql

import (
	"context"
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

var privilegeNames = map[string]database.Privileges{
	"select": database.MaySelect, "insert": database.MayInsert, "update": database.MayUpdate,
}

// privileges reads a column's privileges: what the user may do with it by any grant, including the grants of a role in
// force.
func privileges(list string) (all database.Privileges) {
	for name := range strings.SplitSeq(list, ",") {
		all |= privilegeNames[name]
	}
	return all
}

// readDeletable finds the tables whose rows the user may delete. A grant to the user itself tells. If there is none,
// the right may come from a role or from a pattern, so the server is asked to prepare a deletion.
func (i *introspection) readDeletable(ctx context.Context) error {
	granted := map[tableName]bool{}
	err := i.conn.texts(ctx, grantsQuery, nil, func(v []string) {
		granted[tableName{strings.ReplaceAll(strings.ReplaceAll(v[0], `\_`, "_"), `\%`, "%"), v[1]}] = true
	})
	if err != nil {
		return err
	}
	for name, table := range i.tables {
		may := granted[tableName{}] || granted[tableName{name.schema, ""}] || granted[name]
		if !may && table.Writable {
			if may, err = i.mayDelete(ctx, table); err != nil {
				return err
			}
		}
		if may {
			table.Privileges |= database.MayDelete
		}
	}
	return nil
}

// mayDelete reports whether the server accepts a deletion. It runs nothing.
func (i *introspection) mayDelete(ctx context.Context, table *database.Table) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer i.conn.watch(ctx)()
	statement, err := i.conn.raw.Prepare(sqltext.NoDeletion(i.conn.dialect(), table))
	if err == nil {
		_ = statement.Close()
		return true, nil
	}
	var refusal *mysql.MySQLError
	if errors.As(err, &refusal) {
		return false, nil
	}
	return false, i.conn.failed(err)
}

// ownRefusal says what the user may not do with a table of the server's own, and the GRANT that helps; "" if nothing is
// missing.
func ownRefusal(own *sqltext.OwnTable, table *database.Table) string {
	if table.Privileges.Has(own.Needs) {
		return ""
	}
	doing := map[bool]string{true: "read and add to", false: "add to"}[!table.Privileges.Has(database.MaySelect)]
	if own != sqltext.Audit {
		doing = "read and change"
	}
	return "the database's user may not " + doing + " the " + own.What + " " + table.String() + "; run, for that user: GRANT " + own.Grants + " ON " +
		sqltext.TableName(sqltext.MySQL, table) + " TO …"
}
