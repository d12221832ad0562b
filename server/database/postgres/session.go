package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// sessionKey is where a connection keeps its session.
const sessionKey = "session"

// maxStatements bounds the statements that one connection keeps; each costs the server some ten kilobytes.
const maxStatements = 256

// maxKept is the longest text, in bytes, of a statement that is remembered; longer ones are sent unnamed each time.
const maxKept = 8 << 10

// session is what we know of one connection.
type session struct {
	// pooled reports whether a pooler is in between, so that nothing holds longer than a transaction.
	pooled bool
	// statements are the texts that came by; nil until one comes again and is prepared.
	statements map[string]*pgconn.StatementDescription
	prepared   int
}

func sessionOf(c *pgconn.PgConn) *session { return c.CustomData()[sessionKey].(*session) }

// makeRoom forgets all statements if a call's three more would be too many. It must not be left to prepare: what the
// first statement of a call is prepared as has to last until the call is sent.
func (s *session) makeRoom(ctx context.Context, c *pgconn.PgConn) error {
	if len(s.statements)+3 <= maxStatements {
		return nil
	}
	if _, err := c.Exec(ctx, "DEALLOCATE ALL").ReadAll(); err != nil {
		return err
	}
	clear(s.statements)
	return nil
}

// prepare returns a statement that is prepared, or nil if it is to be sent unnamed: what an agent asks once is not
// worth a round trip, so a statement is prepared when it comes for the second time.
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
