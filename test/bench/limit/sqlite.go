package main

import (
	"database/sql"

	_ "modernc.org/sqlite" // the driver that the server has, too
)

const (
	sqliteBook   = `SELECT +t0."id", +t0."title", +t0."author_id", +t0."price", +t0."published", +t0."in_stock", +t0."description", +t0."created_at"`
	sqliteMatch  = ` FROM "book" AS t0 WHERE t0."price" <= ? AND t0."author_id" = ?`
	sqliteGet    = sqliteBook + ` FROM "book" AS t0 WHERE t0."price" <= ? AND t0."id" = ? LIMIT 1`
	sqliteReturn = ` RETURNING +"id", +"title", +"author_id", +"price", +"published", +"in_stock", +"description", +"created_at"`
)

// The statements that the server sends as well.
var (
	sqliteReads = map[string]string{
		"get":   sqliteGet,
		"list":  `WITH sqlite_page AS MATERIALIZED (` + sqliteBook + `, +t0."id"` + sqliteMatch + ` ORDER BY t0."id" LIMIT 51) SELECT * FROM sqlite_page`,
		"count": `SELECT count(*) FROM (SELECT 1` + sqliteMatch + ` LIMIT 10001) AS counted`,
		// The server computes the mean by a function of its own, exactly.
		"aggregate": `WITH sqlite_page AS MATERIALIZED (SELECT +t0."k0", +t0."m0", +t0."m1", +t0."m2" FROM (SELECT CAST(strftime('%Y', t1."published", 'auto') AS INTEGER) AS "k0", ` +
			`count(*) AS "m0", printf('%.12f', avg(t1."price")) AS "m1", max(t1."created_at") AS "m2" FROM "book" AS t1 WHERE t1."price" <= ? AND t1."author_id" = ? GROUP BY 1) AS t0 ` +
			`ORDER BY t0."m0" DESC, t0."k0" LIMIT 51) SELECT * FROM sqlite_page`,
	}
	sqliteWrites = map[string]string{
		"author":  `SELECT +t0."id" FROM "author" AS t0 WHERE t0."id" = ? LIMIT 1`,
		"lock":    sqliteGet,
		"create":  `INSERT INTO "book" ("author_id", "description", "price", "published", "title") VALUES (?, ?, ?, ?, ?)` + sqliteReturn,
		"update":  `UPDATE "book" AS t0 SET "price" = ? WHERE t0."price" <= ? AND t0."id" = ?` + sqliteReturn,
		"journal": `INSERT INTO "mcp_admin_log" ("token", "action", "model", "table_schema", "table_name", "object_id", "object_repr", "message", "changes", "call", "at") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%d %H:%M:%f', 'now'))`,
	}
)

func openSQLite(file string, connections int) (engine, error) {
	read, err := sql.Open("sqlite", "file:"+file+"?mode=rw&_busy_timeout=5000&_query_only=1")
	if err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", "file:"+file+"?mode=rw&_busy_timeout=5000&_foreign_keys=1&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(connections)
	read.SetMaxIdleConns(connections)
	write.SetMaxOpenConns(1)
	p := &plain{read: read, write: write}
	return p.prepare(sqliteReads, sqliteWrites)
}
