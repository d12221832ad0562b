package server

import (
	"context"
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// LookAt reads the texts of columns of a table, in some of its rows: of each row the beginnings, and nil for NULL. Whoever writes a Config
// calls it, to see what a column holds whose type does not say it.
func LookAt(ctx context.Context, update *source.Update, file string, table *database.Table, columns []*database.Column, rows int) ([][]*string, error) {
	plan := &database.Select{From: access.Token{}.Unscoped(table), Limit: rows, Form: database.RowArrays}
	for _, c := range columns {
		plan.Output = append(plan.Output, database.Output{Name: c.Name, Columns: []*database.Column{c}, Slice: &database.Slice{Length: database.MostRead + 1}})
	}
	db := openOnce(&update.Config.Endpoint, update, file)
	defer db.Close()
	text, page, err := db.Select(ctx, plan, []byte{'['})
	if err != nil {
		return nil, err
	}
	texts := make([][]*string, 0, page.Count)
	return texts, json.Unmarshal(append(text, ']'), &texts)
}

// longestKey is how many characters a value has at most that is looked for.
const longestKey = 100

// LookFor looks for the values that a column of a table has in some of its rows, in a column of another table. It returns how many
// different values there are, and how many of them were found; none if one of them is longer than keys are. Whoever writes a Config
// calls it, to see whether a column leads somewhere.
func LookFor(ctx context.Context, update *source.Update, file string, table *database.Table, column *database.Column, in *database.Table, key *database.Column, rows int) (values, found int, err error) {
	db := openOnce(&update.Config.Endpoint, update, file)
	defer db.Close()
	plan := valuesOf(table, column)
	plan.Limit, plan.Where = rows, database.Not{Condition: database.IsNull{Column: column}}
	different, err := readValues(ctx, db, plan)
	if err != nil {
		return 0, 0, err
	}
	among := database.In{Column: key}
	for text := range different {
		value, err := lookup.ParseValue(key, json.RawMessage(text))
		if err != nil || len(text) > longestKey {
			return 0, 0, nil // such a value is no key
		}
		among.Values = append(among.Values, value)
	}
	if len(among.Values) == 0 {
		return 0, 0, nil
	}
	plan = valuesOf(in, key)
	plan.Limit, plan.Where = 2*rows, among
	there, err := readValues(ctx, db, plan)
	for text := range different {
		if there[text] {
			found++
		}
	}
	return len(different), found, err
}

// valuesOf is the read of a column.
func valuesOf(table *database.Table, column *database.Column) *database.Select {
	output := database.Output{Name: column.Name, Columns: []*database.Column{column}}
	if column.Kind == database.Text {
		output.Slice = &database.Slice{Length: longestKey + 1}
	}
	return &database.Select{From: access.Token{}.Unscoped(table), Form: database.RowArrays, Output: []database.Output{output}}
}

// readValues reads the different values of a column, as JSON.
func readValues(ctx context.Context, db database.DB, plan *database.Select) (map[string]bool, error) {
	text, _, err := db.Select(ctx, plan, []byte{'['})
	if err != nil {
		return nil, err
	}
	var rows [][1]json.RawMessage
	if err := json.Unmarshal(append(text, ']'), &rows); err != nil {
		return nil, err
	}
	different := map[string]bool{}
	for _, row := range rows {
		different[string(row[0])] = true
	}
	return different, nil
}
