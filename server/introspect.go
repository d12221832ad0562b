package server

import (
	"context"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// Introspect reads the schema of the database that an update leads to, as a server of that Config would see it. Whoever
// writes a Config calls it, to see what there is. If the Config names no schemas, all schemas in which the user may read
// something are read, the search path's first. file is that of SQLite, or what DuckDB reads.
func Introspect(ctx context.Context, update *source.Update, file string) (*database.Schema, error) {
	settings := update.Config.Endpoint.Database
	schemas := settings.Schemas
	for {
		config := *update.Config
		config.Endpoint.Database.Schemas = schemas
		db := openOnce(&config.Endpoint, update, file)
		schema, err := db.Introspect(ctx)
		lister, lists := db.(database.SchemaLister)
		if err != nil || len(schemas) > 0 || !lists {
			db.Close()
			return schema, err
		}
		all, err := lister.ReadableSchemas(ctx)
		db.Close()
		schemas = slices.Clone(schema.SearchPath)
		for _, name := range all {
			if !slices.Contains(schemas, name) {
				schemas = append(schemas, name)
			}
		}
		if err != nil || len(schemas) == len(schema.SearchPath) {
			return schema, err
		}
	}
}

// openOnce opens the database that an update leads to, for one use.
func openOnce(endpoint *contract.Endpoint, update *source.Update, file string) database.DB {
	t := targetOf(endpoint, update.Connection, target{})
	settings := database.Settings{Database: t.settings}
	t.inFile(&settings, file)
	settings.Engine = t.engine
	t.login(update).apply(&settings)
	return openEngine(t.engine, settings)
}

// inFile has the settings name a file.
func (t target) inFile(settings *database.Settings, file string) {
	if t.engine == contract.EngineDuckDB {
		settings.DuckDBPath = file
	} else {
		settings.SQLitePath = file
	}
}
