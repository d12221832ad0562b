package mysql

import (
	"context"
	"strconv"
	"strings"
)

// Position implements database.Follower: it is the set of the transactions that the server has executed (GTIDs).
func (d *db) Position(ctx context.Context) (position string, err error) {
	err = d.read(ctx, func(c *conn) error {
		query := "SELECT IF(@@global.gtid_mode = 'ON', @@global.gtid_executed, '')"
		if c.mariaDB {
			query = "SELECT @@global.gtid_binlog_pos"
		}
		position, err = d.variable(ctx, c, query)
		return err
	})
	return strings.Join(strings.Fields(position), ""), err
}

// Reached implements database.Follower.
func (d *db) Reached(ctx context.Context, position string) (reached, told bool, err error) {
	err = d.read(ctx, func(c *conn) error {
		if c.mariaDB {
			has, err := d.variable(ctx, c, "SELECT @@global.gtid_slave_pos")
			reached, told = includes(has, position), has != ""
			return err
		}
		answer, err := d.variable(ctx, c, "SELECT IF(@@global.gtid_mode = 'ON', GTID_SUBSET(?, @@global.gtid_executed), '')", position)
		reached, told = answer == "1", answer != ""
		return err
	})
	return reached, told, err
}

// Servers implements database.Follower.
func (d *db) Servers() (n int) {
	d.servers.Range(func(any, any) bool { n++; return true })
	return n
}

// variable reads the only value of a query. A server that does not know the variable tells nothing.
func (d *db) variable(ctx context.Context, c *conn, query string, args ...string) (value string, err error) {
	limited, cancel := d.limit(ctx)
	defer cancel()
	err = c.texts(limited, query, args, func(v []string) { value = v[0] })
	if isLacking(err) {
		return "", nil
	}
	if err != nil {
		return "", d.statementError(ctx, limited, err, nil)
	}
	return value, nil
}

// includes reports whether a position of MariaDB (domain-server-number, with commas) has reached another one in each of its
// domains.
func includes(has, wanted string) bool {
	reached := map[string]uint64{}
	for part := range strings.SplitSeq(has, ",") {
		domain, number := cutPosition(part)
		reached[domain] = max(reached[domain], number)
	}
	for part := range strings.SplitSeq(wanted, ",") {
		if domain, number := cutPosition(part); reached[domain] < number {
			return false
		}
	}
	return true
}

func cutPosition(part string) (domain string, number uint64) {
	pieces := strings.Split(strings.TrimSpace(part), "-")
	number, _ = strconv.ParseUint(pieces[len(pieces)-1], 10, 64)
	return pieces[0], number
}
