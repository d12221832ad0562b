package databasetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Introspect returns a database's schema.
func Introspect(t testing.TB, db database.DB) *database.Schema {
	t.Helper()
	schema, err := db.Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// Table returns the table of a name, with its schema if it has one.
func Table(t testing.TB, schema *database.Schema, name string) *database.Table {
	t.Helper()
	for _, table := range schema.Tables {
		if table.String() == name {
			return table
		}
	}
	t.Fatalf("there is no table %s", name)
	return nil
}

// Keys returns a table's keys as text: "key id; unique name; customer_id>customer.id".
func Keys(table *database.Table) string {
	var all []string
	if len(table.PrimaryKey) > 0 {
		all = append(all, "key "+Names(table.PrimaryKey))
	}
	for _, unique := range table.Unique {
		all = append(all, "unique "+Names(unique))
	}
	for _, key := range table.ForeignKeys {
		all = append(all, Names(key.Columns)+">"+key.References.String()+"."+Names(key.ReferencedColumns))
	}
	return strings.Join(all, "; ")
}

// Names returns the columns' names, joined by commas.
func Names(columns []*database.Column) string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = column.Name
	}
	return strings.Join(all, ",")
}

// Failure returns an error as the *database.Error that it must be.
func Failure(t testing.TB, err error) *database.Error {
	t.Helper()
	var e *database.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *database.Error", err)
	}
	if e.Message == "" || e.Reason == "" && e.Code != database.Invalid {
		t.Errorf("%#v has no message or no reason", e)
	}
	return e
}
