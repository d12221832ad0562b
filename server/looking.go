package server

import (
	"context"
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// LookAt reads the texts of columns of a table, in some of its rows: of each row the beginnings, and nil for NULL. Whoever writes a Config
// calls it, to see what a column holds whose type does not say it.
func LookAt(ctx context.Context, update *source.Update, sqliteFile string, table *database.Table, columns []*database.Column, rows int) ([][]*string, error) {
	plan := &database.Select{From: access.Token{}.Unscoped(table), Limit: rows, Form: database.RowArrays}
	for _, c := range columns {
		plan.Output = append(plan.Output, database.Output{Name: c.Name, Columns: []*database.Column{c}, Slice: &database.Slice{Length: database.MostRead + 1}})
	}
	db := openOnce(&update.Config.Endpoint, update, sqliteFile)
	defer db.Close()
	text, page, err := db.Select(ctx, plan, []byte{'['})
	if err != nil {
		return nil, err
	}
	texts := make([][]*string, 0, page.Count)
	return texts, json.Unmarshal(append(text, ']'), &texts)
}
