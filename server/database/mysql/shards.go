package mysql

import (
	"context"
	"errors"
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

// modeOption is the session setting, and the parameter of a URI, that says what a gateway does with a transaction over several shards.
const modeOption = "transaction_mode"

// The modes: a transaction over several shards is refused; it is committed on one shard after the other; all of them commit it or none.
const (
	refusesMode   = "SINGLE"
	divisibleMode = "MULTI"
	allOrNoneMode = "TWOPC"
)

var modes = []string{refusesMode, divisibleMode, allOrNoneMode}

// readCommits finds out how a transaction over several shards is committed.
func (i *introspection) readCommits(ctx context.Context) error {
	if !i.spread {
		return nil
	}
	i.divisible = true
	return i.conn.texts(ctx, "SELECT @@"+modeOption, nil, func(v []string) {
		i.divisible = v[0] != allOrNoneMode && v[0] != refusesMode
		switch {
		case v[0] == refusesMode:
			i.notes = append(i.notes, "it refuses a transaction over several shards ("+v[0]+"): a change fails if another row, its journal line or its key lies on another shard; "+
				modeOption+"="+allOrNoneMode+", as a parameter of the URI, allows it")
		case i.divisible:
			i.notes = append(i.notes, "it commits a transaction over several shards one shard after the other ("+v[0]+"): "+
				"if one fails, the changes before it stay, and the caller is told so; "+modeOption+"="+allOrNoneMode+", as a parameter of the URI, commits all or none")
		}
	})
}

// The codes of a gateway's warnings about a commit over several shards that failed: another shard has committed, or two phases of a
// commit of all or none were not ended.
const (
	notAtomic  = "301"
	unresolved = "302"
)

// phases are the words of the second warning, by the phase in which the commit failed. Before the decision nothing is committed, ever.
// After it one shard has committed, and the others have not: they do so when the gateway recovers.
var (
	undecided = regexp.MustCompile(` failed during transaction (?:record creation|prepare phase);`)
	decided   = regexp.MustCompile(` failed during resource manager commit;`)
)

// partlyCommitted is the error of a commit that failed. The gateway warns if a shard has committed all the same, or may.
func (d *db) partlyCommitted(ctx context.Context, c *conn, failure error) error {
	limited, cancel := d.limit(ctx)
	defer cancel()
	warnings := map[string]string{}
	err := c.unprepared(limited, "SHOW WARNINGS", func(v []string) { warnings[v[1]] = v[2] })
	_, partly := warnings[notAtomic]
	words, open := warnings[unresolved]
	var answer *serverError
	lost := errors.As(failure, &answer) && (answer.number == errConnectionLost || answer.number == errUnknown)
	switch {
	case partly, decided.MatchString(words), err != nil && d.divisible.Load():
		return &database.Error{
			Code: database.Partly, Reason: reasonError, Cause: failure,
			Message: "the database has committed a part of the change and not all of it, as it lies on several servers; look what is there",
		}
	case open && undecided.MatchString(words):
		return &database.Error{
			Code: database.Failed, Reason: reasonError, Cause: failure,
			Message: "the database gave a commit over several servers up before it was decided, and nothing was changed",
		}
	case err != nil, open, lost: // if it is lost and there is no warning, its only shard did not answer
		return d.uncertain(failure)
	}
	return failure
}
