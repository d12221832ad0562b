package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// ask runs a query for each schema, whose name the rows begin with; row gets it as it was asked for, and the values. Behind a gateway
// (vtgate) a schema has another name than clients call it, and one on each of its shards, of which the gateway asks any.
func (i *introspection) ask(ctx context.Context, query string, row func(schema string, v []string)) error {
	for _, schema := range i.schemas {
		args := slices.Repeat([]string{schema}, strings.Count(query, "?"))
		if err := i.conn.texts(ctx, query, args, func(v []string) { i.told[v[0]] = schema; row(schema, v) }); err != nil {
			return err
		}
	}
	return nil
}

// each is ask for a query whose rows begin with a schema and a table; rows of unknown tables are left out.
func (i *introspection) each(ctx context.Context, query string, row func(t *database.Table, v []string)) error {
	return i.ask(ctx, query, func(schema string, v []string) {
		if table := i.tables[tableName{schema, v[1]}]; table != nil {
			row(table, v[2:])
		}
	})
}

// readTold finds the names that the schemas have in answers.
func (i *introspection) readTold(ctx context.Context) error {
	return i.ask(ctx, toldQuery, func(string, []string) {})
}

// asked is the name by which a schema that an answer names is asked for.
func (i *introspection) asked(told string) string {
	if name, known := i.told[told]; known {
		return name
	}
	return told
}

// readOtherSchemas finds the schemas of tables that have foreign keys into the read ones, and reads them too.
func (i *introspection) readOtherSchemas(ctx context.Context) error {
	for next := 0; next < len(i.schemas); next++ {
		var others []string
		err := i.conn.texts(ctx, otherSchemasQuery, i.schemas[next:next+1], func(v []string) {
			if name := i.asked(v[0]); !slices.Contains(i.schemas, name) {
				others = append(others, name)
			}
		})
		if isBehindAway(err) {
			others, err = i.otherSchemasByTable(ctx, i.schemas[next])
		}
		switch number(err) {
		case errStatementTimeout, errQueryTimeout:
			return nil // MariaDB searches every table; the keys hold whether they are known here or not
		}
		if err != nil {
			return err
		}
		i.schemas = slices.Concat(i.schemas, others)
	}
	return nil
}

// otherSchemasByTable finds the other schemas from which foreign keys lead to a schema, while a server behind some table is away.
func (i *introspection) otherSchemasByTable(ctx context.Context, schema string) (others []string, err error) {
	var tables []tableName
	if err := i.conn.texts(ctx, keyedTablesQuery, nil, func(v []string) { tables = append(tables, tableName{v[0], v[1]}) }); err != nil {
		return nil, err
	}
	for _, t := range tables {
		from := i.asked(t.schema)
		if slices.Contains(i.schemas, from) || slices.Contains(others, from) {
			continue
		}
		err := i.conn.texts(ctx, keysOfTableQuery, []string{t.schema, t.name}, func(v []string) {
			if i.asked(v[2]) == schema && !slices.Contains(others, from) {
				others = append(others, from)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return others, nil
}

// readMissingSchemas finds the schemas of the settings that do not exist, or that the user may not see. Some servers
// compare names without regard to case.
func (i *introspection) readMissingSchemas(ctx context.Context, wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	var seen []string
	if err := i.conn.texts(ctx, "SELECT schema_name FROM information_schema.schemata", nil, func(v []string) { seen = append(seen, i.asked(v[0])) }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
		return slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, name) })
	}), nil
}
