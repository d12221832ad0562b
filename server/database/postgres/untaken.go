package postgres

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// faults are what is wrong with a query, by the codes of the server's errors.
var faults = map[string]database.Fault{
	"42P01": database.NoSuchTable, "3F000": database.NoSuchTable, "42703": database.NoSuchColumn, "42883": database.NoSuchFunction,
	"42601": database.WrongSyntax, "42501": database.NotPermitted,
}

// atFault finds in the server's words the name of what is wrong, and nothing else of the query.
var atFault = regexp.MustCompile(`^(?:relation|schema|column|function) "?([A-Za-z_][A-Za-z0-9_.]*)"?(?:\(| does)|^permission denied for [a-z ]+ "?([A-Za-z_][A-Za-z0-9_]*)"?$`)

// untaken is the error about a query that the server does not take as it is written; nil if the error is another.
func untaken(err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || !strings.HasPrefix(answer.Code, "42") && faults[answer.Code] == "" && answer.Code != "0A000" {
		return nil
	}
	fault, known := faults[answer.Code]
	if !known {
		return database.Untaken(database.OtherFault, "SQLSTATE "+answer.Code, forTheLog(answer))
	}
	name := ""
	if found := atFault.FindStringSubmatch(answer.Message); found != nil {
		name = found[1] + found[2]
	}
	return database.Untaken(fault, name, forTheLog(answer))
}
