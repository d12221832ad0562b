package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver of the file's maker
)

// engine is a database engine that both servers are measured on.
type engine struct {
	name string
	// variable is the environment variable with the URI of a user who may do everything; "" if there is no server.
	variable string
	// driver is the engine's name to the bare server.
	driver string
	// seed is the script that makes the data, and create makes a database, fills it by the script, and returns its address.
	seed   string
	create func(ctx context.Context, server, name, script string) (address string, err error)
	// filled reports whether the database is there, with the data of that script.
	filled func(ctx context.Context, server, name, mark string) (address string, ok bool)
	drop   func(ctx context.Context, server, name string) error
}

var engines = []engine{
	{"PostgreSQL", "MCP_TEST_POSTGRES", "postgresql", "seed/postgresql.sql", createPostgreSQL, filledPostgreSQL, dropPostgreSQL},
	{"MariaDB", "MCP_TEST_MARIADB", "mariadb", "seed/mariadb.sql", createMariaDB, filledMariaDB, dropMariaDB},
	{"SQLite", "", "sqlite", "seed/sqlite.sql", createSQLite, filledSQLite, dropSQLite},
}

//go:embed seed
var seeds embed.FS

// script is the SQL that makes so many books, an author for each hundred.
func script(file string, books int) (string, error) {
	text, err := seeds.ReadFile(file)
	replaced := strings.NewReplacer(":authors", strconv.Itoa(authorsOf(books)), ":books", strconv.Itoa(books)).Replace(string(text))
	return replaced, err
}

func authorsOf(books int) int { return max(books/100, 1) }

// prepare returns the address of a database with the data. With keep a database of an earlier run is used again.
func (e *engine) prepare(ctx context.Context, file string, books int, keep bool) (address string, remove func(), err error) {
	text, err := script(file, books)
	if err != nil {
		return "", nil, err
	}
	server := os.Getenv(e.variable)
	if e.variable != "" && server == "" {
		return "", nil, fmt.Errorf("%s is not set: the URI of a user with all rights on %s; make bench starts one", e.variable, e.name)
	}
	sum := sha256.Sum256([]byte(text))
	mark := "seed_" + hex.EncodeToString(sum[:8])
	name := "mcp_bench_" + strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + "_" + strconv.Itoa(books)
	remove = func() {
		if keep {
			return
		}
		if err := e.drop(context.WithoutCancel(ctx), server, name); err != nil {
			fmt.Fprintf(os.Stderr, "bench: the database %s is left over: %v\n", name, err)
		}
	}
	if keep {
		if address, ok := e.filled(ctx, server, name, mark); ok {
			return address, remove, nil
		}
	}
	if err := e.drop(ctx, server, name); err != nil {
		return "", nil, err
	}
	text += "CREATE TABLE " + mark + " (done integer);\n"
	if address, err = e.create(ctx, server, name, text); err != nil {
		return "", nil, errors.Join(fmt.Errorf("%s: the data cannot be made: %w", e.name, err), e.drop(context.WithoutCancel(ctx), server, name))
	}
	return address, remove, nil
}

// within returns the URI of a database on a server.
func within(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("the server's URI is none") // the error would show the password
	}
	u.Path = "/" + name
	return u.String(), nil
}

func createPostgreSQL(ctx context.Context, server, name, script string) (string, error) {
	if err := runPostgreSQL(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	address, err := within(server, name)
	if err != nil {
		return "", err
	}
	return address, errors.Join(runPostgreSQL(ctx, address, script), runPostgreSQL(ctx, address, "VACUUM (FREEZE, ANALYZE)"))
}

func runPostgreSQL(ctx context.Context, uri, script string) error {
	conn, err := pgx.Connect(ctx, uri)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.PgConn().Exec(ctx, script).ReadAll()
	return err
}

func filledPostgreSQL(ctx context.Context, server, name, mark string) (string, bool) {
	address, err := within(server, name)
	return address, err == nil && runPostgreSQL(ctx, address, "SELECT 1 FROM "+mark) == nil
}

func dropPostgreSQL(ctx context.Context, server, name string) error {
	return runPostgreSQL(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func createMariaDB(ctx context.Context, server, name, script string) (string, error) {
	if err := runMariaDB(ctx, server, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return "", err
	}
	address, err := within(server, name)
	if err != nil {
		return "", err
	}
	return address, runMariaDB(ctx, address, script)
}

func runMariaDB(ctx context.Context, uri, script string) error {
	source, err := sourceName(uri)
	if err != nil {
		return err
	}
	return run(ctx, "mysql", source, script)
}

// sourceName is a mysql URI in the driver's own form.
func sourceName(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", errors.New("the server's URI is none") // the error would show the password
	}
	config := mysql.NewConfig()
	config.User, config.DBName, config.Net, config.Addr = u.User.Username(), strings.TrimPrefix(u.Path, "/"), "tcp", u.Host
	config.Passwd, _ = u.User.Password()
	config.MultiStatements = true
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	return config.FormatDSN(), config.Apply(mysql.Charset("utf8mb4", ""))
}

func run(ctx context.Context, driver, source, script string) error {
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, script)
	return err
}

func filledMariaDB(ctx context.Context, server, name, mark string) (string, bool) {
	address, err := within(server, name)
	return address, err == nil && runMariaDB(ctx, address, "SELECT 1 FROM "+mark) == nil
}

func dropMariaDB(ctx context.Context, server, name string) error {
	return runMariaDB(ctx, server, "DROP DATABASE IF EXISTS "+name)
}

// sqliteFile is where the file of a name lies.
func sqliteFile(name string) string { return filepath.Join(folder(), name+".sqlite") }

func createSQLite(ctx context.Context, _, name, script string) (string, error) {
	return sqliteFile(name), run(ctx, "sqlite", "file:"+sqliteFile(name), script)
}

func filledSQLite(ctx context.Context, _, name, mark string) (string, bool) {
	file := sqliteFile(name)
	return file, run(ctx, "sqlite", "file:"+file+"?mode=rw", "SELECT 1 FROM "+mark) == nil
}

func dropSQLite(_ context.Context, _, name string) error {
	var all []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(sqliteFile(name) + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
