package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// positionQuery asks for the end of what was written, on a server that takes changes. It is the position of the insertions:
// with synchronous_commit = off a transaction ends before its changes are on the disk.
const positionQuery = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn()::text END, current_setting('wal_block_size')`

// unawaited is the user's synchronous_commit if its commits do not wait until a standby has stored them, though the server has standbys
// to wait for; else an empty text. A server of another make may have neither setting.
const unawaited = `CASE WHEN current_setting('synchronous_standby_names', true) <> ''
  AND current_setting('synchronous_commit', true) IN ('off', 'local', 'remote_write') THEN current_setting('synchronous_commit', true) ELSE '' END`

// unawaitedNote is what a status says of such a user; "" if there is nothing to say.
func unawaitedNote(setting string) string {
	if setting == "" {
		return ""
	}
	return "its synchronous_commit is " + setting + " for this user, so that calls succeed before a standby of synchronous_standby_names has " +
		"stored the change, and a failover may lose it: set it to on (ALTER ROLE … SET synchronous_commit = on)"
}

// replayQuery asks for the end of what was replayed, on a standby.
const replayQuery = `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END`

// Position implements database.Follower.
func (d *db) Position(ctx context.Context) (string, error) {
	row, err := d.row(ctx, positionQuery)
	if err != nil || row[0] == "" {
		return "", err
	}
	at, err := parsePosition(row[0])
	if err != nil {
		return "", nil //nolint:nilerr // a server of another make tells nothing
	}
	block, _ := strconv.ParseUint(row[1], 10, 64)
	return strconv.FormatUint(recordEnd(at, block), 10), nil
}

// recordEnd is the end of the last record before the place at which the next one begins. They differ at the beginning of a
// page, whose header lies between them.
func recordEnd(next, block uint64) uint64 {
	const header, longHeader = 24, 40
	if block == 0 {
		return next
	}
	if in := next % block; in == header || in == longHeader {
		return next - in
	}
	return next
}

// Reached implements database.Follower.
func (d *db) Reached(ctx context.Context, position string) (reached, told bool, err error) {
	row, err := d.row(ctx, replayQuery)
	if err != nil || row[0] == "" {
		return false, false, err
	}
	has, hasErr := parsePosition(row[0])
	wanted, wantedErr := strconv.ParseUint(position, 10, 64)
	if hasErr != nil || wantedErr != nil {
		return false, false, nil //nolint:nilerr // a server of another make tells nothing
	}
	return has >= wanted, true, nil
}

// Servers implements database.Follower.
func (d *db) Servers() (n int) {
	d.servers.Range(func(any, any) bool { n++; return true })
	return n
}

// serverQuery tells servers behind one address apart.
const serverQuery = `SELECT concat_ws(' ', inet_server_addr(), inet_server_port(), pg_postmaster_start_time())`

// noteServer notes which server a connection leads to. One that does not say is taken for one more.
func (d *db) noteServer(ctx context.Context, c *pgconn.PgConn) {
	name := "unknown"
	if result := c.ExecParams(ctx, serverQuery, nil, nil, nil, nil).Read(); result.Err == nil {
		name = string(result.Rows[0][0])
	}
	d.servers.Store(name, nil)
}

// parsePosition reads a pg_lsn: two hexadecimal numbers, the halves of one.
func parsePosition(text string) (uint64, error) {
	high, low, _ := strings.Cut(text, "/")
	h, highErr := strconv.ParseUint(high, 16, 32)
	l, lowErr := strconv.ParseUint(low, 16, 32)
	if err := errors.Join(highErr, lowErr); err != nil {
		return 0, fmt.Errorf("%q is no position: %w", text, err)
	}
	return h<<32 | l, nil
}

// row reads the only row of a query, as texts; NULL is "". A server that refuses the query tells nothing.
func (d *db) row(ctx context.Context, query string) ([2]string, error) {
	var texts [2]string
	conn, err := d.acquire(ctx)
	if err != nil {
		return texts, err
	}
	defer conn.Release()
	conn.guard(1)
	result := conn.PgConn().ExecParams(ctx, query, nil, nil, nil, nil).Read()
	if answer := (*pgconn.PgError)(nil); errors.As(result.Err, &answer) && !strings.HasPrefix(answer.Code, "57") {
		return texts, nil
	}
	if result.Err != nil {
		return texts, d.statementError(ctx, result.Err)
	}
	for i, value := range result.Rows[0] {
		texts[i] = string(value)
	}
	return texts, nil
}
