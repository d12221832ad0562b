package mysql

import (
	"context"
	"errors"
	"regexp"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

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

// The second warning names the phase in which the commit failed.
var (
	// undecided matches a phase before the decision: nothing is committed, ever. decided matches the phase after it: one shard has
	// committed, and the others do so when the gateway recovers.
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
