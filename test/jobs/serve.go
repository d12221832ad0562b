package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/program"
)

// engine is a database engine that the questions run on.
type engine struct {
	title string
	// nullsLast reports whether it puts NULLs last in an ascending order.
	nullsLast bool
	// foldsFields reports whether the order of two text fields does not regard case there.
	foldsFields bool
	// open makes a database with the source's tables and rows, and says which foreign keys it has; nil is all.
	open func(ctx context.Context, h *program.Host, file string, s *source) (harness.Database, map[*sourceKey]bool, error)
}

var engines = []engine{
	{"SQLite", false, false, openSQLite},
	{"PostgreSQL", true, false, openPostgreSQL},
	{"MariaDB", false, true, openMariaDB},
}

func openSQLite(_ context.Context, h *program.Host, file string, _ *source) (harness.Database, map[*sourceKey]bool, error) {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return harness.Database{}, nil, err
	}
	copied := filepath.Join(h.TempDir(), "data.sqlite")
	return harness.Database{SQLiteFile: copied}, nil, os.WriteFile(copied, bytes, 0o600)
}

func openPostgreSQL(ctx context.Context, h *program.Host, _ string, s *source) (harness.Database, map[*sourceKey]bool, error) {
	server := os.Getenv("MCP_TEST_POSTGRES")
	if server == "" {
		h.Skip("MCP_TEST_POSTGRES is not set")
	}
	c := databasetest.PostgreSQLOn(h, server, "", "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
	database, plain := harness.On(h, databasetest.URI(c), "")
	made, err := load(ctx, s, postgres, plain)
	return database, made, err
}

func openMariaDB(ctx context.Context, h *program.Host, _ string, s *source) (harness.Database, map[*sourceKey]bool, error) {
	database, plain := harness.On(h, databasetest.URI(databasetest.MariaDB(h)), "")
	made, err := load(ctx, s, mariadb, plain)
	return database, made, err
}

// served is a served database, and what the planner knows of it.
type served struct {
	*harness.Endpoint
	token  string
	schema *planner.Schema
	// whole is how many bytes it takes to read a table, by its name.
	whole map[string]int
	// database and models are what is served.
	database harness.Database
	models   []contract.Model
}

// serve serves every table of a source with all of its columns.
func serve(h *program.Host, e engine, s *source, database harness.Database, made map[*sourceKey]bool) (*served, error) {
	schema, models := describe(s, e, made)
	return serveModels(h, database, schema, models)
}

// serveDeclared serves the same tables again, with what their questions want declared; nil if that is nothing.
func (d *served) serveDeclared(ctx context.Context, h *program.Host, s *source, jobs []*job) (*served, error) {
	declared, err := declare(ctx, s, d.schema, jobs)
	if err != nil || declared == nil {
		return nil, err
	}
	declared.apply(d.schema, d.models)
	return serveModels(h, d.database, d.schema, d.models)
}

func serveModels(h *program.Host, database harness.Database, schema *planner.Schema, models []contract.Model) (*served, error) {
	token, text := harness.Viewer()
	endpoint := harness.Serve(h, database, models, []contract.Token{token}, func(c *contract.Config) {
		c.Endpoint.Catalogue.StructuredContent = false // unchanged unless somebody asks for it
	})
	d := &served{endpoint, text, schema, map[string]int{}, database, models}
	return d, d.check()
}

// describe names the tables and columns for the API, and tells the planner of them.
func describe(s *source, e engine, made map[*sourceKey]bool) (*planner.Schema, []contract.Model) {
	schema := &planner.Schema{NullsLast: e.nullsLast, FoldsFields: e.foldsFields}
	tables, columns := map[*sourceTable]*planner.Table{}, map[*sourceColumn]*planner.Column{}
	var models []contract.Model
	taken := namer{}
	for _, t := range s.tables {
		table := &planner.Table{Name: t.name, Model: taken.name(t.name, 40)}
		model := contract.Model{Name: table.Model, Table: t.name, Expose: true}
		fields := namer{}
		for _, c := range t.columns {
			column := &planner.Column{Name: c.name, Field: fields.name(c.name, 60), Affinity: affinity(c.declared), Nulls: c.types["null"] > 0, Distinct: c.distinct, Plain: c.plain, Dates: c.dates, Folded: c.folded, Texts: c.types["text"] > 0,
				Mixed: c.types["text"] > 0 && c.types["integer"]+c.types["real"] > 0}
			if c.numbers != nil {
				column.Numbers, column.SomeNone = true, c.numbers.others
			}
			columns[c], table.Columns = column, append(table.Columns, column)
			model.Include = append(model.Include, c.name)
		}
		for _, key := range t.unique {
			table.Unique = append(table.Unique, planned(columns, key))
		}
		tables[t], schema.Tables, models = table, append(schema.Tables, table), append(models, model)
	}
	for i, t := range s.tables {
		table := tables[t]
		used := namer{}
		for _, c := range t.columns {
			used[c.name] = true
			used[columns[c].Field] = true
		}
		relations := map[*sourceColumn]string{}
		for _, key := range t.keys {
			if made != nil && !made[key] {
				continue
			}
			c := key.columns[0]
			relation := tables[key.references].Model
			switch {
			case len(key.columns) > 1 && used[relation] || len(key.columns) == 1 && relations[c] != "":
				continue
			case len(key.columns) > 1:
				used[relation] = true
			default:
				relation = relationName(used, columns[c].Field, c.name)
				relations[c] = relation
			}
			table.ForeignKeys = append(table.ForeignKeys, &planner.ForeignKey{
				Table: table, Columns: planned(columns, key.columns), References: tables[key.references], Referenced: planned(columns, key.referenced),
				Relation: relation, Reverse: table.Model + "_by_" + relation, Holds: key.holds,
			})
		}
		for _, c := range t.columns {
			// A foreign key's field is named by its relation: it has no other name.
			override := contract.FieldOverride{Name: c.name, Relation: relations[c]}
			if override.Relation != "" {
				columns[c].Field = override.Relation + "_id"
			} else if columns[c].Field != c.name {
				override.Rename = columns[c].Field
			}
			if override.Rename != "" || override.Relation != "" {
				models[i].Overrides = append(models[i].Overrides, override)
			}
		}
	}
	return schema, models
}

func planned(columns map[*sourceColumn]*planner.Column, some []*sourceColumn) []*planner.Column {
	all := make([]*planner.Column, len(some))
	for i, c := range some {
		all[i] = columns[c]
	}
	return all
}

// relationName names a foreign key's relation: as its column without _id. Neither that nor <relation>_id may be another
// column's name.
func relationName(used namer, field, column string) string {
	stem := strings.TrimSuffix(field, "_id")
	for {
		free := (!used[stem] || stem == field) && (!used[stem+"_id"] || stem+"_id" == field || stem+"_id" == column)
		if free {
			used[stem], used[stem+"_id"] = true, true
			return stem
		}
		stem += "_row"
	}
}

// affinity is SQLite's rule of how a declared type compares.
func affinity(declared string) planner.Affinity {
	has := func(part string) bool { return strings.Contains(declared, part) }
	switch {
	case has("INT"):
		return planner.NumericAffinity
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return planner.TextAffinity
	case has("BLOB"), declared == "":
		return planner.NoAffinity
	}
	return planner.NumericAffinity
}

// check asks the server to describe each model, and tells the planner which kinds its fields have. Relations that the
// server does not have are dropped, and tables that it does not serve.
func (d *served) check() error {
	relations := map[string]bool{}
	tables := d.schema.Tables
	d.schema.Tables = nil
	for _, t := range tables {
		text, isError := d.Call(d.token, "describe_"+t.Model, "{}")
		if isError {
			fmt.Fprintf(os.Stderr, "the table %s is not served: %s\n", t.Name, text)
			continue
		}
		d.schema.Tables = append(d.schema.Tables, t)
		var described struct {
			Fields        []struct{ Name, Type, Reads string }
			Relationships []struct{ Name, Type string }
		}
		if err := json.Unmarshal([]byte(text), &described); err != nil {
			return err
		}
		types, reads := map[string]string{}, map[string]bool{}
		for _, f := range described.Fields {
			types[f.Name], reads[f.Name] = f.Type, f.Reads != ""
		}
		for _, r := range described.Relationships {
			relations[t.Model+"."+r.Name] = true
		}
		for _, c := range t.Columns {
			switch kind, ok := types[c.Field]; {
			case !ok:
				return program.Failure("describe_" + t.Model + " has no field " + c.Field)
			case kind == "date" || kind == "datetime":
				continue
			case kind == "text":
				c.Served = planner.ServedText
				if c.Read = reads[c.Field]; c.Read {
					c.Served = planner.ServedNumber
				}
			case kind == "integer" || kind == "decimal" || kind == "float":
				c.Served = planner.ServedNumber
			}
			c.Dates = false
		}
	}
	for _, t := range d.schema.Tables {
		kept := t.ForeignKeys[:0]
		for _, key := range t.ForeignKeys {
			if relations[t.Model+"."+key.Relation] && relations[key.References.Model+"."+key.Reverse] {
				kept = append(kept, key)
			}
		}
		t.ForeignKeys = kept
	}
	return nil
}
