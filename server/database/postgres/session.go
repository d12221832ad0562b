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

// session is what we know of one connection.
type session struct {
	// pooled is whether a pooler is in between, so that nothing holds longer than a transaction.
	pooled bool
	// statements are the texts that came by, with the name under which each is prepared; "" until it comes again.
	statements map[string]string
	prepared   int
}

func sessionOf(c *pgconn.PgConn) *session { return c.CustomData()[sessionKey].(*session) }

// name returns under which name a statement is prepared, or "" where it is to be sent unnamed: what an agent asks once
// is not worth a round trip, so a statement is prepared when it comes for the second time.
func (s *session) name(ctx context.Context, c *pgconn.PgConn, sql []byte) (string, error) {
	name, seen := s.statements[string(sql)]
	if name != "" {
		return name, nil
	}
	if !seen {
		if len(s.statements) >= maxStatements {
			if _, err := c.Exec(ctx, "DEALLOCATE ALL").ReadAll(); err != nil {
				return "", err
			}
			clear(s.statements)
		}
		s.statements[string(sql)] = ""
		return "", nil
	}
	s.prepared++
	name = "s" + strconv.Itoa(s.prepared)
	text := string(sql)
	if _, err := c.Prepare(ctx, name, text, nil); err != nil {
		return "", err
	}
	s.statements[text] = name
	return name, nil
}
