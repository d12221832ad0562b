package sqlite

import (
	"context"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// makeOwn makes the server's own tables that the settings name and that are missing, if the database may be written to. It
// reports whether it made any, and what could not be made; an error means that the call was cancelled.
func (d *db) makeOwn(ctx context.Context, schema *database.Schema) (made bool, problems map[*sqltext.OwnTable]string, err error) {
	problems = map[*sqltext.OwnTable]string{}
	if d.settings.ReadOnly {
		return false, problems, nil
	}
	for _, own := range sqltext.OwnTables(&d.settings) {
		if d.ownIn(own, schema) != nil {
			continue
		}
		err := d.Transact(ctx, func(open database.Tx) error {
			for _, statement := range own.Statements(dialect, "", own.Named(&d.settings).Name) {
				if _, err := open.Execute(ctx, &database.Declared{Pieces: []database.Piece{{SQL: statement}}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			made = true
			continue
		}
		failure := database.AsError(err)
		if failure.Code == database.Cancelled {
			return false, nil, err
		}
		problems[own] = "the " + own.What + " " + own.Named(&d.settings).Name + " cannot be made: " + failure.Message
	}
	return made, problems, nil
}

// findOwn sets the server's own tables, or says why they cannot be used.
func (d *db) findOwn(schema *database.Schema, problems map[*sqltext.OwnTable]string) {
	for _, own := range sqltext.OwnTables(&d.settings) {
		table, problem := d.ownIn(own, schema), problems[own]
		switch {
		case problem != "":
		case table == nil:
			problem = "the " + own.What + " " + own.Named(&d.settings).Name + " does not exist, and is not made in a database that is only read"
		default:
			problem = own.Mismatch(table)
		}
		own.Found(schema, table, problem)
	}
}

// ownIn returns a table of the server's own, compared by SQLite's rule of names, or nil.
func (d *db) ownIn(own *sqltext.OwnTable, schema *database.Schema) *database.Table {
	name := own.Named(&d.settings).Name
	at := slices.IndexFunc(schema.Tables, func(t *database.Table) bool { return sameName(t.Name, name) })
	if at < 0 {
		return nil
	}
	return schema.Tables[at]
}
