package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

const database = "mcp_upgrade"

// makeDatabase makes a database with one table, and a user of its name, and returns the data of a Secret that leads
// there, as YAML.
func makeDatabase(ctx context.Context, server string) (string, error) {
	at, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("MCP_TEST_POSTGRES: %w", err)
	}
	inside := *at
	inside.Path = "/" + database
	for _, do := range []struct {
		uri        string
		statements []string
	}{
		{server, []string{
			"DROP DATABASE IF EXISTS " + database + " WITH (FORCE)", "DROP ROLE IF EXISTS " + database,
			"CREATE ROLE " + database + " LOGIN PASSWORD 'right-password'", "CREATE DATABASE " + database,
		}},
		{inside.String(), []string{
			"CREATE SCHEMA stock",
			"CREATE TABLE stock.item (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)",
			"INSERT INTO stock.item (name) VALUES ('lamp')",
			"GRANT USAGE ON SCHEMA stock TO " + database, "GRANT SELECT, INSERT ON stock.item TO " + database,
		}},
	} {
		if err := execute(ctx, do.uri, do.statements); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("{host: %q, port: %q, dbname: %[3]s, user: %[3]s, password: right-password}", at.Hostname(), at.Port(), database), nil
}

// addColumn changes the schema of the database that makeDatabase made.
func addColumn(ctx context.Context, server string) error {
	at, err := url.Parse(server)
	if err != nil {
		return err
	}
	at.Path = "/" + database
	return execute(ctx, at.String(), []string{"ALTER TABLE stock.item ADD COLUMN note text"})
}

func execute(ctx context.Context, uri string, statements []string) error {
	connection, err := pgx.Connect(ctx, uri)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(ctx) }()
	for _, statement := range statements {
		if _, err := connection.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
