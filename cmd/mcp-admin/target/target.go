// Package target is the database that a command's flags name: a DSN, a SQLite file, or files that DuckDB reads. Commands that need a database of
// the user's own, beside any cluster, import it.
package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// DSNVariable is the environment variable that stands for --dsn, so that a password need not stand in a command line.
const DSNVariable = "MCP_ADMIN_DSN"

// Flags are the flags that name a database.
type Flags struct{ DSN, SQLite, DuckDB string }

// Add defines the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.DSN, "dsn", "", "database to use, as `URL`: postgres://user:password@host:port/database or mysql://…; "+
		"better in the environment variable "+DSNVariable+" if it has a password")
	flags.StringVar(&f.SQLite, "sqlite", "", "SQLite `FILE` to use")
	flags.StringVar(&f.DuckDB, "duckdb", "", "DuckDB, Parquet or CSV `FILE`, or folder of Parquet and CSV files, to read; only mcp-admin-duckdb can")
}

// Database is a database that flags name.
type Database struct {
	// SQLite is the path of a SQLite file, DuckDB the path of files that DuckDB reads; "" for any other database.
	SQLite, DuckDB string
	// Secret is the connection as a Secret holds it; nil for a file.
	Secret map[string][]byte
	// Engine is one of contract's engines. Name is the database's name.
	Engine, Name string
}

// ErrNone says that no database is named.
var ErrNone = errors.New("no database is named; give --dsn URL, or the environment variable " + DSNVariable + ", or --sqlite FILE, or --duckdb FILE")

// Database is the database that the flags name, or else the environment; ErrNone if neither does.
func (f *Flags) Database(getenv func(string) string) (*Database, error) {
	given := 0
	for _, name := range []string{f.DSN, f.SQLite, f.DuckDB} {
		if name != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("--dsn, --sqlite and --duckdb name different databases; give one of them")
	case f.DuckDB != "":
		return duckDB(f.DuckDB)
	case f.SQLite != "":
		return file(f.SQLite)
	case f.DSN != "":
		return fromDSN("--dsn", f.DSN)
	case getenv(DSNVariable) != "":
		return fromDSN(DSNVariable, getenv(DSNVariable))
	}
	return nil, ErrNone
}

func file(path string) (*Database, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--sqlite: %s is not an existing file", path)
	}
	name := filepath.Base(path)
	return &Database{SQLite: path, Engine: contract.EngineSQLite, Name: strings.TrimSuffix(name, filepath.Ext(name))}, nil
}

// duckDB returns the database at a path that DuckDB reads. The server finds out which files are there.
func duckDB(path string) (*Database, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(whole)
	}
	if err != nil {
		return nil, fmt.Errorf("--duckdb: %s is not an existing file or folder", path)
	}
	name := filepath.Base(whole)
	return &Database{DuckDB: whole, Engine: contract.EngineDuckDB, Name: strings.TrimSuffix(name, filepath.Ext(name))}, nil
}

// InFiles reports whether the database is files, which are given to nobody as a Secret.
func (d *Database) InFiles() bool { return d.SQLite != "" || d.DuckDB != "" }

func (d *Database) file() string { return cmp.Or(d.SQLite, d.DuckDB) }

// uriKey is the key under which Secret holds the DSN.
const uriKey = "uri"

// fromDSN reads a DSN. from says where it stands. No error has a part of it: it holds a password.
func fromDSN(from, dsn string) (*Database, error) {
	if path, ok := strings.CutPrefix(dsn, "sqlite://"); ok {
		if unescaped, err := url.PathUnescape(path); err == nil {
			return file(unescaped)
		}
	}
	secret := map[string][]byte{uriKey: []byte(dsn)}
	c, err := contract.ResolveConnection(secret, "")
	if err != nil {
		text := strings.TrimPrefix(err.Error(), contract.ErrSecretIncomplete.Error()+": ")
		text = strings.TrimPrefix(text, fmt.Sprintf("key %q ", uriKey))
		return nil, fmt.Errorf("%s %s", from, strings.TrimSuffix(text, ", or set spec.database.name"))
	}
	return &Database{Secret: secret, Engine: c.Engine, Name: c.Database}, nil
}

// SecretWith is Secret with the DSN under another key; "" is the usual one.
func (d *Database) SecretWith(key string) map[string][]byte {
	return map[string][]byte{cmp.Or(key, uriKey): d.Secret[uriKey]}
}

// patience is how long reading a schema may take.
const patience = time.Minute

// Schema reads the database's schema: the tables of the schemas, or of all in which the user may read something.
func (d *Database) Schema(ctx context.Context, schemas []string) (*database.Schema, error) {
	return Schema(ctx, d.update(schemas), d.file())
}

// update leads to the database, to read it.
func (d *Database) update(schemas []string) *source.Update {
	return &source.Update{
		Config: &contract.Config{Endpoint: contract.Endpoint{Database: contract.Database{
			Engine: d.Engine, Schemas: schemas, ReadOnly: true, MaxConnections: 1, StatementTimeout: contract.Duration(patience),
		}}},
		Connection: d.Secret,
	}
}

// LookAt reads the texts of some columns of a table, in so many rows; nil is NULL.
func (d *Database) LookAt(ctx context.Context, table *database.Table, columns []*database.Column, rows int) ([][]*string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	texts, err := server.LookAt(ctx, d.update(nil), d.file(), table, columns, rows)
	if err != nil {
		return nil, errors.New(database.AsError(err).Message)
	}
	return texts, nil
}

// LookFor looks for the values that a column of a table has in some rows, in another table's column. It returns how many different values
// there are, and how many were found.
func (d *Database) LookFor(ctx context.Context, table *database.Table, column *database.Column, in *database.Table, key *database.Column, rows int) (values, found int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	values, found, err = server.LookFor(ctx, d.update(nil), d.file(), table, column, in, key, rows)
	if err != nil {
		return 0, 0, errors.New(database.AsError(err).Message)
	}
	return values, found, nil
}

// SelfTest tries out on the database whatever a server needs of one.
func (d *Database) SelfTest(ctx context.Context, o selftest.Options) (*selftest.Report, error) {
	return server.SelfTest(ctx, d.update(nil), d.file(), o)
}

// Schema reads the schema of the database that an update leads to.
func Schema(ctx context.Context, update *source.Update, file string) (*database.Schema, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	schema, err := server.Introspect(ctx, update, file)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be read: %s", database.AsError(err).Message)
	}
	return schema, nil
}
