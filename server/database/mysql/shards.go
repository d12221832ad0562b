package mysql

import (
	"context"
	"errors"
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
	for name, t := range i.tables {
		if !spread[name.schema] {
			continue
		}
		read := i.readRule
		if t.Kind == database.View {
			read = i.tryView
		}
		err := read(ctx, t)
		switch {
		case number(err) == errNoSuchTable, t.Kind == database.View && number(err) == errUnknown:
			delete(i.tables, name)
			i.ruleless[name] = true
		case err != nil:
			return err
		}
	}
	if len(i.ruleless) > 0 {
		i.notes = append(i.notes, "it has tables or views on several shards of which its VSchema knows nothing: they are left out")
	}
	return i.readCommits(ctx)
}

// readRule reads by which columns the rows of a table lie on their shards. The servers keep a key unique on each shard alone: on
// all it is so if it has these columns, or if the gateway itself keeps a list of its values.
func (i *introspection) readRule(ctx context.Context, t *database.Table) error {
	var by []*database.Column
	var listed [][]*database.Column
	first := true
	err := i.conn.texts(ctx, "SHOW VSCHEMA VINDEXES ON "+sqltext.TableName(sqltext.MySQL, t), nil, func(v []string) {
		var columns []*database.Column
		for name := range strings.SplitSeq(v[0], ", ") {
			if c := t.Column(name); c != nil {
				columns = append(columns, c)
			}
		}
		if strings.HasSuffix(v[2], "_unique") {
			listed = append(listed, columns)
		}
		if first {
			by, first = columns, false
		}
	})
	if err != nil || len(by) == 0 {
		return err
	}
	i.spread = true
	for _, c := range by {
		c.Privileges &^= database.MayUpdate
	}
	t.Unique = slices.DeleteFunc(t.Unique, func(key []*database.Column) bool {
		return !includesAll(key, by) && !slices.ContainsFunc(listed, func(columns []*database.Column) bool { return includesAll(key, columns) })
	})
	return nil
}

// tryView asks whether the gateway knows a view.
func (i *introspection) tryView(ctx context.Context, t *database.Table) error {
	return i.conn.texts(ctx, "SELECT 1 FROM "+sqltext.TableName(sqltext.MySQL, t)+" WHERE FALSE", nil, func([]string) {})
}

func includesAll(key, columns []*database.Column) bool {
	return !slices.ContainsFunc(columns, func(c *database.Column) bool { return !slices.Contains(key, c) })
}

// readCommits finds out whether a transaction over several shards is committed as a whole.
func (i *introspection) readCommits(ctx context.Context) error {
	if !i.spread {
		return nil
	}
	return i.conn.texts(ctx, "SELECT @@transaction_mode", nil, func(v []string) {
		if v[0] != atomicMode {
			i.notes = append(i.notes, "it commits a transaction over several shards one shard after the other ("+v[0]+"): "+
				"if one fails, the changes before it stay, and the caller is told so; transaction_mode "+atomicMode+" commits all or none")
		}
	})
}

// atomicMode is the mode of transactions in which all shards commit or none.
const atomicMode = "TWOPC"

// The codes of a gateway's warnings that a shard has committed though another did not, or that it will.
const (
	notAtomic  = "301"
	unresolved = "302"
)

// partlyCommitted is the error of a commit that failed. The gateway warns if a shard has committed all the same, or will.
func (d *db) partlyCommitted(ctx context.Context, c *conn, failure error) error {
	limited, cancel := d.limit(ctx)
	defer cancel()
	warned := false
	err := c.unprepared(limited, "SHOW WARNINGS", func(v []string) { warned = warned || v[1] == notAtomic || v[1] == unresolved })
	var answer *serverError
	switch {
	case err == nil && !warned && errors.As(failure, &answer) && (answer.number == errConnectionLost || answer.number == errUnknown):
		return d.uncertain(failure) // its only shard did not answer
	case err == nil && !warned:
		return failure
	}
	return &database.Error{
		Code: database.Partly, Reason: reasonError, Cause: failure,
		Message: "the database has committed a part of the change and not all of it, as it lies on several servers; look what is there",
	}
}
