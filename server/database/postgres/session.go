package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// sessionKey is the key under which a connection keeps its session.
const sessionKey = "session"

// maxStatements bounds the statements that one connection keeps; each costs the server about ten kilobytes.
const maxStatements = 256

// maxKept is the longest text, in bytes, of a statement that is remembered; longer ones are always sent unnamed.
const maxKept = 8 << 10

// session holds what we know about one connection.
type session struct {
	// pooled reports whether there is a pooler in between, so that nothing lasts longer than a transaction.
	pooled bool
	// statements are the texts that were sent; the value is nil until a text comes again and is prepared.
	statements map[string]*pgconn.StatementDescription
	prepared   int
	// unconfirmed is set if the server gave up the wait for a standby, and committed all the same.
	unconfirmed bool
}

func sessionOf(c *pgconn.PgConn) *session { return c.CustomData()[sessionKey].(*session) }

// waitForStandby is the server's routine that waits until a standby has a commit. If it warns, it has stopped to wait.
const waitForStandby = "SyncRepWaitForLSN"

// noteWarning notes the one warning that changes what COMMIT means.
func noteWarning(c *pgconn.PgConn, notice *pgconn.Notice) {
	if s, ok := c.CustomData()[sessionKey].(*session); ok && notice.Routine == waitForStandby {
		s.unconfirmed = true
	}
}

// makeRoom forgets all statements if so many more would be too many. prepare must not do so: the first prepared
// statement of a call must last until the call is sent.
func (s *session) makeRoom(ctx context.Context, c *pgconn.PgConn, more int) error {
	if len(s.statements)+more <= maxStatements {
		return nil
	}
	if _, err := c.Exec(ctx, "DEALLOCATE ALL").ReadAll(); err != nil {
		return err
	}
	clear(s.statements)
	return nil
}

// prepare returns a prepared statement, or nil if the text has to be sent unnamed. A statement is prepared when it comes
// for the second time: for a single use the round trip is not worth it.
func (s *session) prepare(ctx context.Context, c *pgconn.PgConn, sql []byte) (*pgconn.StatementDescription, error) {
	if len(sql) > maxKept {
		return nil, nil
	}
	statement, seen := s.statements[string(sql)]
	if statement != nil {
		return statement, nil
	}
	if !seen {
		s.statements[string(sql)] = nil
		return nil, nil
	}
	s.prepared++
	text := string(sql)
	statement, err := c.Prepare(ctx, "s"+strconv.Itoa(s.prepared), text, nil)
	if err != nil {
		return nil, err
	}
	s.statements[text] = statement
	return statement, nil
}
