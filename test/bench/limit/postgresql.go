package main

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgreSQL uses pgx's connections below pgx itself: statements are prepared, values come as texts, and what can go
// together is one round trip.
type postgreSQL struct{ pool *pgxpool.Pool }

const (
	postgresBook   = `SELECT t0."id", t0."title", t0."author_id", t0."price", t0."published", t0."in_stock", t0."description", t0."created_at"`
	postgresMatch  = ` FROM "public"."book" AS t0 WHERE t0."price" <= $1 AND t0."author_id" = $2::bigint`
	postgresGet    = postgresBook + ` FROM "public"."book" AS t0 WHERE t0."price" <= $1 AND t0."id" = $2::bigint LIMIT 1`
	postgresReturn = ` RETURNING "id", "title", "author_id", "price", "published", "in_stock", "description", "created_at"`
)

// postgresStatements are what the server sends as well, under short names.
var postgresStatements = map[string]string{
	"get":   postgresGet,
	"lock":  postgresGet + " FOR UPDATE",
	"list":  postgresBook + `, t0."id"` + postgresMatch + ` ORDER BY t0."id" LIMIT 51`,
	"count": `SELECT count(*) FROM (SELECT 1` + postgresMatch + ` LIMIT 10001) AS counted`,
	"aggregate": `SELECT t0."k0", t0."m0", t0."m1", t0."m2" FROM (SELECT CASE WHEN isfinite(t1."published") THEN extract(year FROM t1."published"::timestamp)::bigint END AS "k0", ` +
		`count(*) AS "m0", round((sum(t1."price") + 0.000000000000000000000000000000000000000000000000000000000000) / nullif(count(t1."price"), 0), 12) AS "m1", max(t1."created_at") AS "m2" ` +
		`FROM "public"."book" AS t1 WHERE t1."price" <= $1 AND t1."author_id" = $2::bigint GROUP BY 1) AS t0 ORDER BY t0."m0" DESC, t0."k0" LIMIT 51`,
	"begin":   "BEGIN",
	"timeout": `SELECT set_config('lock_timeout', $1, true)`,
	"author":  `SELECT t0."id" FROM "public"."author" AS t0 WHERE t0."id" = $1::bigint LIMIT 1`,
	"commit":  "COMMIT",
	"create":  `INSERT INTO "public"."book" ("author_id", "description", "price", "published", "title") VALUES ($1, $2, $3, $4, $5)` + postgresReturn,
	"update":  `UPDATE "public"."book" AS t0 SET "price" = $1 WHERE t0."price" <= $2 AND t0."id" = $3::bigint` + postgresReturn,
	"journal": `INSERT INTO mcp_admin_log ("token", "action", "model", "table_schema", "table_name", "object_id", "object_repr", "message", "changes", "call", "at") ` +
		`VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp())`,
}

func openPostgreSQL(source string, connections int) (engine, error) {
	config, err := pgxpool.ParseConfig(source)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		statements := map[string]*pgconn.StatementDescription{}
		for name, text := range postgresStatements {
			if statements[name], err = c.PgConn().Prepare(ctx, name, text, nil); err != nil {
				return err
			}
		}
		c.PgConn().CustomData()["statements"] = statements
		return nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &postgreSQL{pool}, pool.Ping(context.Background())
}

// statement is one statement of a round trip: its name, its values, and what reads a row of it.
type statement struct {
	name   string
	values [][]byte
	row    func([][]byte)
}

func ignore([][]byte) {}

// send sends statements in one round trip.
func send(ctx context.Context, c *pgconn.PgConn, statements ...statement) error {
	prepared := c.CustomData()["statements"].(map[string]*pgconn.StatementDescription)
	if len(statements) == 1 {
		s := statements[0]
		reader := c.ExecStatement(ctx, prepared[s.name], s.values, nil, nil)
		for reader.NextRow() {
			s.row(reader.Values())
		}
		_, err := reader.Close()
		return err
	}
	var batch pgconn.Batch
	for _, s := range statements {
		batch.ExecStatement(prepared[s.name], s.values, nil, nil)
	}
	results := c.ExecBatch(ctx, &batch)
	for n := 0; results.NextResult(); n++ {
		for reader := results.ResultReader(); reader.NextRow(); {
			statements[n].row(reader.Values())
		}
	}
	return results.Close()
}

// on runs do on a connection.
func (p *postgreSQL) on(ctx context.Context, do func(*pgconn.PgConn) error) error {
	c, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release() // it closes a connection whose transaction failed
	return do(c.Conn().PgConn())
}

// budget is the highest price of a book that an agent sees.
const budget = "200"

// lockTimeout is how long a statement waits for another's lock, in milliseconds.
var lockTimeout = [][]byte{[]byte("5000")}

// about are the values of a statement about an agent's rows of a book or an author.
func about(id int64) [][]byte { return [][]byte{[]byte(budget), strconv.AppendInt(nil, id, 10)} }

func (p *postgreSQL) get(ctx context.Context, m *memory, id int64) error {
	return p.on(ctx, func(c *pgconn.PgConn) error {
		return send(ctx, c, statement{"get", about(id), func(row [][]byte) { m.text = appendRow(m.text, bookFields, row) }})
	})
}

func (p *postgreSQL) list(ctx context.Context, m *memory, author int64, counted bool) error {
	var total []byte
	values := about(author)
	statements := []statement{{"list", values, func(row [][]byte) { m.page.add(bookFields, row) }}}
	if counted {
		statements = append(statements, statement{"count", values, func(row [][]byte) { total = append(total, row[0]...) }})
	}
	return p.on(ctx, func(c *pgconn.PgConn) error {
		err := send(ctx, c, statements...)
		m.text = appendPage(m.text, &m.page, total)
		return err
	})
}

func (p *postgreSQL) aggregate(ctx context.Context, m *memory, author int64) error {
	return p.on(ctx, func(c *pgconn.PgConn) error {
		err := send(ctx, c, statement{"aggregate", about(author), func(row [][]byte) { m.page.add(groupFields, row) }})
		m.text = appendPage(m.text, &m.page, nil)
		return err
	})
}

func (p *postgreSQL) create(ctx context.Context, m *memory, data *book) error {
	values := [][]byte{strconv.AppendInt(nil, data.AuthorID, 10), []byte(data.Description), []byte(data.Price), []byte(data.Published), []byte(data.Title)}
	call := newCall()
	var id []byte
	return p.on(ctx, func(c *pgconn.PgConn) error {
		err := send(ctx, c, statement{"begin", nil, ignore}, statement{"timeout", lockTimeout, ignore},
			statement{"author", values[:1], ignore},
			statement{"create", values, func(row [][]byte) {
				id = append(id, row[0]...)
				m.changes = appendChanges(m.changes, nil, row)
				m.text = appendCreated(m.text, row, call)
			}})
		if err != nil {
			return err
		}
		return send(ctx, c, journal(m, "create", id, data.Title, "created", call), statement{"commit", nil, ignore})
	})
}

func (p *postgreSQL) update(ctx context.Context, m *memory, id int64, data *book) error {
	values := [][]byte{[]byte(data.Price), []byte(budget), strconv.AppendInt(nil, id, 10)}
	call := newCall()
	var before [][]byte
	return p.on(ctx, func(c *pgconn.PgConn) error {
		err := send(ctx, c, statement{"begin", nil, ignore}, statement{"timeout", lockTimeout, ignore},
			statement{"lock", about(id), func(row [][]byte) { before = keep(row) }},
			statement{"update", values, func(row [][]byte) {
				m.changes = appendChanges(m.changes, before, row)
				m.text = appendUpdated(m.text, row, call)
			}})
		if err != nil {
			return err
		}
		return send(ctx, c, journal(m, "update", values[2], string(before[1]), "changed price", call), statement{"commit", nil, ignore})
	})
}

// journal is the row of the journal about a change.
func journal(m *memory, action string, id []byte, title, message, call string) statement {
	return statement{"journal", [][]byte{
		[]byte("bench/limit"), []byte(action), []byte("book"), []byte("public"), []byte("book"), id, []byte(title), []byte(message), m.changes, []byte(call),
	}, ignore}
}

// keep copies a row, which the next one overwrites.
func keep(row [][]byte) [][]byte {
	size := 0
	for _, value := range row {
		size += len(value)
	}
	all, kept := make([]byte, 0, size), make([][]byte, len(row))
	for i, value := range row {
		if value == nil {
			continue
		}
		from := len(all)
		all = append(all, value...)
		kept[i] = all[from:]
	}
	return kept
}
