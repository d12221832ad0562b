package mysql

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// A gateway before many servers (vtgate) spreads the rows of a table over them, its shards, by the value of some of its columns. It
// tells of that in statements of its own, which no other server knows.

// spreadsQuery asks which schemas have shards.
const spreadsQuery = "SHOW VSCHEMA KEYSPACES"

// readShards finds the tables whose rows lie on several shards. A row stays on its shard: the columns that say which one it is
// cannot be changed. A table that the gateway has no rule for cannot be asked for, and is left out.
func (i *introspection) readShards(ctx context.Context) error {
	spread := map[string]bool{}
	err := i.conn.texts(ctx, spreadsQuery, nil, func(v []string) { spread[v[0]] = v[1] == "true" })
	if isLacking(err) {
		return nil
	}
	if err != nil {
		return err
	}
	i.gateway = true
	for _, name := range i.schemas { // what becomes of the others is no change of this schema
		if spread[name] {
			i.sharded = append(i.sharded, name)
		}
	}
	names := slices.SortedFunc(maps.Keys(i.tables), func(a, b tableName) int { // so that notes and what is left out keep their order
		return cmp.Or(cmp.Compare(a.schema, b.schema), cmp.Compare(a.name, b.name))
	})
	for _, name := range names {
		t := i.tables[name]
		switch {
		case strings.HasPrefix(t.Comment, sequenceComment):
			i.leaveOut(name, "is a sequence, by which the gateway counts the rows of other tables; remove the model")
		case spread[name.schema]:
			if err := i.readSpread(ctx, name, t); err != nil {
				return err
			}
		}
	}
	i.noteRules()
	return i.readCommits(ctx)
}

// noteRules tells of rules that are missing, or that do not fit the tables.
func (i *introspection) noteRules() {
	if len(i.ruleless) > 0 {
		i.notes = append(i.notes, "it has tables or views on several shards of which its VSchema knows nothing: they are left out")
	}
	if len(i.uncounted) > 0 {
		const why = " of rows on several shards: each shard counts for itself, or callers must give the number; add a sequence (ALTER VSCHEMA ON … ADD AUTO_INCREMENT … USING …)"
		i.unserved = append(i.unserved, database.Unserved{
			Note: "no sequence fills the AUTO_INCREMENT columns " + strings.Join(i.uncounted, ", ") + why,
			Why:  "no sequence fills an AUTO_INCREMENT column" + why, Count: len(i.uncounted),
		})
	}
	if len(i.byBytes) > 0 {
		const why = ", whose collations take texts in another case as equal: such texts can be on different shards, so that such a column makes no key; " +
			"use the vindex unicode_loose_xxhash (or unicode_loose_md5), or the collation utf8mb4_0900_bin"
		i.unserved = append(i.unserved, database.Unserved{
			Note: "rows lie on their shards by the bytes of " + strings.Join(i.byBytes, ", ") + why,
			Why:  "rows lie on their shards by the bytes of text columns" + why, Count: len(i.byBytes),
		})
	}
}

// sequenceComment begins the comment of a table by which the gateway counts: it answers nothing but the next numbers.
const sequenceComment = "vitess_sequence"

// readSpread reads what the gateway knows of a table or view of a schema that has shards.
func (i *introspection) readSpread(ctx context.Context, name tableName, t *database.Table) error {
	read := i.readRule
	if t.Kind == database.View {
		read = i.tryView
	}
	err := read(ctx, t)
	if number(err) == errNoSuchTable || t.Kind == database.View && number(err) == errUnknown {
		i.leaveOut(name, whyRuleless[t.Kind])
		i.ruleless[name] = true
		return nil
	}
	return err
}

// whyRuleless says of tables and views that the gateway has no rule for what is wrong, and what helps.
var whyRuleless = map[database.TableKind]string{
	database.BaseTable: "lies on several shards, and the VSchema has no rule for it; add one (ALTER VSCHEMA ON … ADD VINDEX …)",
	database.View:      "is a view over several shards that the gateway does not know; have its tablets tell of views (--queryserver-enable-views)",
}

// leaveOut leaves a table out, and keeps why.
func (i *introspection) leaveOut(name tableName, why string) {
	delete(i.tables, name)
	i.leftOut = append(i.leftOut, database.LeftOut{Schema: name.schema, Name: name.name, Why: why})
}

// placing is how the rows of a table lie on several shards.
type placing struct {
	// by are the columns that say on which shard a row lies, and function makes the shard of their values.
	by       []*database.Column
	function string
	// listed are columns of which the gateway itself keeps a list of the table's values, each of them once.
	listed [][]*database.Column
}

// keepsUnique reports whether a key is unique on all shards. The servers keep it so on each shard alone: on all it is so if it has the
// columns that say which one it is, or if the gateway itself keeps a list of its values.
func (p *placing) keepsUnique(key []*database.Column) bool {
	return includesAll(key, p.by) && len(p.byBytes()) == 0 || slices.ContainsFunc(p.listed, func(columns []*database.Column) bool { return includesAll(key, columns) })
}

// byBytes are the columns whose texts can be equal for the servers and lie on different shards.
func (p *placing) byBytes() (found []*database.Column) {
	for _, c := range p.by {
		if bytewise[p.function] && strings.HasSuffix(c.Collation, "_ci") {
			found = append(found, c)
		}
	}
	return found
}

func includesAll(key, columns []*database.Column) bool {
	return !slices.ContainsFunc(columns, func(c *database.Column) bool { return !slices.Contains(key, c) })
}

// readRule reads how the rows of a table lie on their shards, and what follows from it.
func (i *introspection) readRule(ctx context.Context, t *database.Table) error {
	p, err := i.readPlacing(ctx, t)
	if err != nil || len(p.by) == 0 {
		return err
	}
	i.spread = true
	filled, err := i.findFilled(ctx, t, p)
	if err != nil {
		return err
	}
	for _, c := range p.by {
		c.Privileges &^= database.MayUpdate
		c.Places = true
	}
	t.Unique = slices.DeleteFunc(t.Unique, func(key []*database.Column) bool { return !p.keepsUnique(key) })
	settleKey(t, p, filled)
	i.settleCounted(t, p, filled)
	for _, c := range p.byBytes() {
		i.byBytes = append(i.byBytes, t.String()+"."+c.Name)
	}
	return nil
}

// readPlacing reads by which columns the rows of a table lie on their shards; by none if each shard has them all.
func (i *introspection) readPlacing(ctx context.Context, t *database.Table) (*placing, error) {
	p := &placing{}
	first := true
	err := i.conn.texts(ctx, "SHOW VSCHEMA VINDEXES ON "+sqltext.TableName(sqltext.MySQL, t), nil, func(v []string) {
		var columns []*database.Column
		for name := range strings.SplitSeq(v[0], ", ") {
			columns = append(columns, columnOf(t, name))
		}
		if strings.HasSuffix(v[2], "_unique") && v[4] == t.Name && !strings.Contains(v[3], "write_only") { // else the list lacks values, or is of another table's
			p.listed = append(p.listed, columns)
		}
		if first {
			p.by, p.function, first = columns, v[2], false
		}
	})
	return p, err
}

// columnOf returns the column that a rule names, in any case. One that the user may not see is in no key that counts.
func columnOf(t *database.Table, name string) *database.Column {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c
		}
	}
	return &database.Column{Name: name}
}

// settleKey decides what becomes of a primary key that each shard keeps unique for itself alone. If a sequence fills a part of it, that part
// identifies a row as long as nobody else sets it. Else nothing keeps two rows on different shards from having the same one: a row that is
// looked for by it could be another than the one that was meant, which the caller may not see.
func settleKey(t *database.Table, p *placing, filled *database.Column) {
	switch {
	case len(t.PrimaryKey) == 0, p.keepsUnique(t.PrimaryKey):
	case filled != nil && slices.Contains(t.PrimaryKey, filled):
		filled.Privileges &^= database.MayInsert | database.MayUpdate
		filled.Restorable = true
	default:
		t.KeyApart, t.PrimaryKey = t.PrimaryKey, nil
	}
}

// settleCounted decides what fills columns that count. A sequence does; AUTO_INCREMENT without one has each shard count for itself, or,
// if the number is to say which shard it is, the row on the shard of NULL, where nobody finds it by its number.
func (i *introspection) settleCounted(t *database.Table, p *placing, filled *database.Column) {
	if filled != nil {
		filled.HasDefault, filled.Default, i.numbers[filled] = true, nil, true
	}
	counted := i.counted[t]
	if counted == nil || counted == filled {
		return
	}
	if len(t.PrimaryKey) > 0 || slices.Contains(p.by, counted) {
		counted.HasDefault = false
	}
	i.uncounted = append(i.uncounted, t.String()+"."+counted.Name)
}

// findFilled finds the column that the gateway fills from a sequence. It is asked only for tables for which that matters.
func (i *introspection) findFilled(ctx context.Context, t *database.Table, p *placing) (*database.Column, error) {
	counted := i.counted[t]
	if counted == nil && p.keepsUnique(t.PrimaryKey) {
		return nil, nil
	}
	var candidates []*database.Column
	if counted != nil {
		candidates = append(candidates, counted)
	}
	for _, c := range t.PrimaryKey {
		if c.Kind == database.Integer && c != counted {
			candidates = append(candidates, c)
		}
	}
	for _, c := range candidates {
		if filled, err := i.isFilled(ctx, t, c); err != nil || filled {
			return c, err
		}
	}
	return nil, nil
}

// fillsFrom is in the plan of an INSERT into a table with a sequence: it tells the value that the statement itself has for the column
// that is filled, or null if the statement does not name it.
var fillsFrom = regexp.MustCompile(`"AutoIncrement": *"select next .* values from .*:Values::\((.+?)\)"`)

// isFilled asks the gateway how it would add a row with a value for the column. Nothing is added, and no number is taken.
func (i *introspection) isFilled(ctx context.Context, t *database.Table, c *database.Column) (bool, error) {
	name := sqltext.TableName(sqltext.MySQL, &database.Table{Name: c.Name}) // names of columns and tables are quoted alike
	found := false
	err := i.conn.unprepared(ctx, "VEXPLAIN PLAN INSERT INTO "+sqltext.TableName(sqltext.MySQL, t)+" ("+name+") VALUES (1)", func(v []string) {
		value := fillsFrom.FindStringSubmatch(v[0])
		found = value != nil && !strings.EqualFold(value[1], "null")
	})
	if isLacking(err) || number(err) == errUnknown {
		return false, nil // a gateway that does not tell may have none
	}
	return found, err
}

// bytewise are the functions that find a shard by the very bytes of a text.
var bytewise = map[string]bool{"xxhash": true, "binary": true, "binary_md5": true, "cfc": true}

// tryView asks whether the gateway knows a view.
func (i *introspection) tryView(ctx context.Context, t *database.Table) error {
	return i.conn.texts(ctx, "SELECT 1 FROM "+sqltext.TableName(sqltext.MySQL, t)+" WHERE FALSE", nil, func([]string) {})
}
