package mysql

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// onlyPrepare has the server prepare a query, for which it looks at all that the query names.
func (d *db) onlyPrepare(ctx context.Context, connection *conn, c *call) error {
	limited, cancel := d.limitFor(ctx, nil)
	defer cancel()
	err := connection.onlyPrepare(limited, c.SQL.Text, len(c.Args))
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		if e := untaken(answer); e != nil {
			return e
		}
	}
	if err != nil {
		return d.statementError(ctx, limited, err, nil)
	}
	return nil
}

// onlyPrepare prepares a statement with so many values, which is not run.
func (c *conn) onlyPrepare(ctx context.Context, sql []byte, values int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.watch(ctx)()
	_, done, err := c.prepare(sql, values)
	if err != nil {
		return c.failed(err)
	}
	done()
	return nil
}

// faults are what is wrong with a query, by the numbers of the server's errors.
var faults = map[uint16]database.Fault{
	errNoSuchTable: database.NoSuchTable, errNoSuchDatabase: database.NoSuchTable, errUnknownTable: database.NoSuchTable,
	errBadField: database.NoSuchColumn, errNoSuchRoutineOrSavepoint: database.NoSuchFunction,
	errSyntax: database.WrongSyntax, errNotSupported: database.OtherFault, errViewInvalid: database.OtherFault,
	errTableDenied: database.NotPermitted, errColumnDenied: database.NotPermitted, errDatabaseDenied: database.NotPermitted, errRoutineDenied: database.NotPermitted,
}

// atFault finds in the server's words the name of what is wrong, and nothing else of the query.
var atFault = regexp.MustCompile("^(?:Table|Unknown column|Unknown table|FUNCTION|Unknown database) '?([A-Za-z_][A-Za-z0-9_.]*)'?(?: |$)|^[A-Z]+ command denied to user .* for (?:table|column) [`']?(?:[A-Za-z0-9_]+[`']?\\.[`']?)?([A-Za-z_][A-Za-z0-9_]*)[`']")

// untaken is the error about a query that the server does not take as it is written; nil if its answer is another. An answer of SQLSTATE
// 42000 is about the statement, if it is not about the user's share of the server.
func untaken(answer *mysql.MySQLError) *database.Error {
	fault, known := faults[answer.Number]
	switch { // vtgate's own
	case answer.Number == errUnknown && strings.HasPrefix(answer.Message, "syntax error at "):
		fault, known = database.WrongSyntax, true
	case answer.Number == errUnknown && strings.HasPrefix(answer.Message, "table ") && strings.HasSuffix(answer.Message, " not found"):
		fault, known = database.NoSuchTable, true
	case answer.Number == errInternal && strings.Contains(answer.Message, "unrecognized prepare statement"):
		return database.Untaken(database.OtherFault, "the gateway prepares nothing that begins with WITH; write SELECT * FROM (WITH …) AS r for tables of one shard, and subqueries for others", withoutWords(answer))
	}
	switch {
	case answer.Number == errUserLimit, answer.Number == errTooManyUserConnections, !known && string(answer.SQLState[:]) != "42000":
		return nil
	case !known, fault == database.OtherFault:
		return database.Untaken(database.OtherFault, "error "+strconv.Itoa(int(answer.Number)), withoutWords(answer))
	}
	name := ""
	if found := atFault.FindStringSubmatch(answer.Message); found != nil {
		name = found[1] + found[2]
	}
	return database.Untaken(fault, name, withoutWords(answer))
}
