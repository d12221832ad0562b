package mysql

import (
	"context"
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// readForeignKeys reads the foreign keys between known tables.
func (i *introspection) readForeignKeys(ctx context.Context) error {
	unruled := map[*database.Table]bool{}
	err := i.eachKey(ctx, func(t *database.Table, v []string) {
		name := v[0]
		target := i.tables[tableName{i.asked(v[2]), v[3]}]
		if target == nil {
			return // A key that leads out of the schemas leads to nothing that could be shown.
		}
		ours, theirs := keyColumn(t, v[1]), keyColumn(target, v[4])
		i.numbers[ours], i.numbers[theirs] = true, true
		if n := len(t.ForeignKeys); n == 0 || t.ForeignKeys[n-1].Name != name {
			t.ForeignKeys = append(t.ForeignKeys, &database.ForeignKey{Name: name, References: target, OnDelete: action(v[5]), OnUpdate: action(v[6])})
		}
		key := t.ForeignKeys[len(t.ForeignKeys)-1]
		key.Columns, key.ReferencedColumns = append(key.Columns, ours), append(key.ReferencedColumns, theirs)
		if v[5] == "" {
			unruled[t] = true
		}
	})
	for t := range unruled {
		if err == nil {
			err = i.readRules(ctx, t)
		}
	}
	return err
}

// eachKey asks for the columns of foreign keys, in their order. For the keys of many tables the server opens each of them, and fails if a
// server behind one is away. Then it is asked for the tables whose rows are its own, one by one.
func (i *introspection) eachKey(ctx context.Context, row func(t *database.Table, v []string)) error {
	err := i.each(ctx, foreignKeysQuery, row)
	if !isBehindAway(err) {
		return err
	}
	for name, t := range i.tables {
		t.ForeignKeys = nil // the query may have told of them before it failed
		if t.Kind == database.View || t.Elsewhere {
			continue
		}
		if err := i.conn.texts(ctx, keysOfTableQuery, []string{name.schema, name.name}, func(v []string) { row(t, v) }); err != nil {
			return err
		}
	}
	return nil
}

// keyColumn returns the column of that name. The server does not list a column that its user may not read, but still
// follows a foreign key over it. Such a column is added without privileges.
func keyColumn(t *database.Table, name string) *database.Column {
	c := t.Column(name)
	if c == nil {
		c = &database.Column{Name: name, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1}
		t.Columns = append(t.Columns, c)
	}
	return c
}

// rule is a foreign key in a table's definition: its name, and the text after the columns that it refers to.
var rule = regexp.MustCompile("CONSTRAINT `((?:[^`]|``)+)` FOREIGN KEY \\([^)]*\\) REFERENCES (?:`(?:[^`]|``)+`\\.)?`(?:[^`]|``)+` \\([^)]*\\)((?: ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT|RESTRICT|NO ACTION))*)")

// readRules reads from a table's definition what its foreign keys do: the server tells a user who may only read the
// tables of the keys, but not of their rules. A key that is not found there counts as a cascade, so that the rows that
// it leads to are looked at.
func (i *introspection) readRules(ctx context.Context, t *database.Table) error {
	for _, key := range t.ForeignKeys {
		key.OnDelete, key.OnUpdate = database.Cascade, database.Cascade
	}
	return i.conn.texts(ctx, "SHOW CREATE TABLE "+sqltext.TableName(sqltext.MySQL, t), nil, func(v []string) {
		for _, found := range rule.FindAllStringSubmatch(v[1], -1) {
			for _, key := range t.ForeignKeys {
				if key.Name == strings.ReplaceAll(found[1], "``", "`") {
					key.OnDelete, key.OnUpdate = ruleOf(found[2], "DELETE"), ruleOf(found[2], "UPDATE")
				}
			}
		}
	})
}

// ruleOf returns what a definition's rules, such as " ON DELETE CASCADE", say of an event.
func ruleOf(rules, event string) database.ReferentialAction {
	_, after, _ := strings.Cut(rules, " ON "+event+" ")
	after, _, _ = strings.Cut(after, " ON ")
	return action(after)
}

func action(rule string) database.ReferentialAction {
	switch rule {
	case "CASCADE":
		return database.Cascade
	case "SET NULL":
		return database.SetNull
	case "SET DEFAULT":
		return database.SetDefault
	}
	return database.Restrict
}
