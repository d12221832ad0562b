package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// SelfTest tries out on the database that an update leads to whatever a server needs of one. It fills in what the options say of
// the database. A SQLite file is only read: the tables of the test are in a file of their own beside it.
func SelfTest(ctx context.Context, update *source.Update, file string, o selftest.Options) (*selftest.Report, error) {
	engine := targetOf(&update.Config.Endpoint, update.Connection, target{}).engine
	d, schema, trialFile := trialDialects[engine], o.Schema, file
	if engine == contract.EngineDuckDB && o.Tables {
		return nil, errors.New("DuckDB is only read, so that no tables can be made for the test: leave out --schema")
	}
	if engine == contract.EngineSQLite {
		if o.Tables && o.Schema != onlySchema {
			return nil, fmt.Errorf("the tables of a SQLite file are in the schema %s", onlySchema)
		}
		o.Schema, schema = "", ""
		if o.Tables {
			made, remove, err := besides(file)
			if err != nil {
				return nil, err
			}
			defer remove()
			trialFile = made
		}
	}
	o.Open = func(e contract.Endpoint, trial bool) database.DB {
		own := update.Config.Endpoint.Database
		e.Database.Engine, e.Database.ConnectionKey, e.Database.Name = own.Engine, own.ConnectionKey, own.Name
		opened := file
		if trial {
			opened = trialFile
		}
		t := targetOf(&e, update.Connection, target{})
		settings := database.Settings{Database: t.settings, Audit: t.audit, Idempotency: t.idempotency}
		t.inFile(&settings, opened)
		settings.Engine = t.engine
		t.login(update).apply(&settings)
		return openEngine(t.engine, settings)
	}
	o.SQL = selftest.SQL{
		Names:   sqltext.TrialTables,
		Make:    func(foreignKeys bool) []string { return sqltext.MakeTrial(d, schema, foreignKeys) },
		Drop:    func(i int) string { return sqltext.DropTrial(d, schema, i) },
		Write:   sqltext.WriteTrial(d, schema),
		Endless: sqltext.Endless(d),
	}
	o.Hide = append(o.Hide, hidden(update)...)
	return selftest.Run(ctx, o)
}

// onlySchema is SQLite's name for the schema of a file.
const onlySchema = "main"

// trialDialects are the engines' dialects. What the test's own statements have is the same on MySQL and MariaDB.
var trialDialects = map[string]sqltext.Dialect{
	contract.EnginePostgreSQL: sqltext.PostgreSQL, contract.EngineMySQL: sqltext.MySQL, contract.EngineSQLite: sqltext.SQLite,
	contract.EngineDuckDB: sqltext.DuckDB,
}

// besides makes an empty file beside another, and returns how to remove it with what SQLite puts beside it.
func besides(file string) (name string, remove func(), err error) {
	made, err := os.CreateTemp(filepath.Dir(file), ".mcp-admin-selftest-*.sqlite")
	if err != nil {
		return "", nil, fmt.Errorf("no file for the tables of the test can be made beside the database's: %w", err)
	}
	_ = made.Close() // nothing was written
	return made.Name(), func() {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(made.Name() + suffix) // most are not there
		}
	}, nil
}

// hidden are the names and secrets of a connection.
func hidden(update *source.Update) []string {
	c, err := update.Config.Endpoint.Database.Source().Resolve(update.Connection)
	if err != nil {
		return nil
	}
	all := []string{c.User, c.Password, c.Database}
	for _, host := range c.Hosts() {
		all = append(all, host.Name)
	}
	return all
}
