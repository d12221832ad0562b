package main

import (
	"database/sql"

	_ "github.com/go-sql-driver/mysql" // the driver that the server has, too
)

const (
	mariaBook  = "SELECT t0.`id`, t0.`title`, t0.`author_id`, t0.`price`, t0.`published`, t0.`in_stock`, t0.`description`, t0.`created_at`"
	mariaMatch = " FROM `book` AS t0 WHERE t0.`price` <= CAST(? AS DECIMAL(65,30)) AND t0.`author_id` = ?"
	mariaGet   = mariaBook + " FROM `book` AS t0 WHERE t0.`price` <= CAST(? AS DECIMAL(65,30)) AND t0.`id` = ? LIMIT 1"
)

// The statements that the server sends as well.
var (
	mariaReads = map[string]string{
		"get":   mariaGet,
		"list":  mariaBook + ", t0.`id`" + mariaMatch + " ORDER BY t0.`id` LIMIT 51",
		"count": "SELECT count(*) FROM (SELECT 1" + mariaMatch + " LIMIT 10001) AS counted",
		"aggregate": "SELECT t0.`k0`, t0.`m0`, t0.`m1`, t0.`m2` FROM (SELECT YEAR(t1.`published`) AS `k0`, count(*) AS `m0`, " +
			"round(CAST(sum(t1.`price`) AS DECIMAL(65,26)) / count(t1.`price`), 12) AS `m1`, max(t1.`created_at`) AS `m2` FROM `book` AS t1 " +
			"WHERE t1.`price` <= CAST(? AS DECIMAL(65,30)) AND t1.`author_id` = ? GROUP BY 1) AS t0 ORDER BY t0.`m0` DESC, t0.`k0` LIMIT 51",
	}
	mariaWrites = map[string]string{
		"author": "SELECT t0.`id` FROM `author` AS t0 WHERE t0.`id` = ? LIMIT 1",
		"lock":   mariaGet + " FOR UPDATE",
		"again":  mariaGet,
		"create": "INSERT INTO `book` (`author_id`, `description`, `price`, `published`, `title`) " +
			"VALUES (?, ?, CAST(? AS DECIMAL(65,30)), CAST(? AS DATE), ?) RETURNING `id`, `title`, `author_id`, `price`, `published`, `in_stock`, `description`, `created_at`",
		"update": "UPDATE `book` AS t0 SET t0.`price` = CAST(? AS DECIMAL(65,30)) WHERE t0.`price` <= CAST(? AS DECIMAL(65,30)) AND t0.`id` = ?",
		"journal": "INSERT INTO `mcp_admin_log` (`token`, `action`, `model`, `table_schema`, `table_name`, `object_id`, `object_repr`, `message`, `changes`, `call`, `at`) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6))",
	}
)

func openMariaDB(source string, connections int) (engine, error) {
	db, err := sql.Open("mysql", source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	p := &plain{read: db, write: db, again: true}
	return p.prepare(mariaReads, mariaWrites)
}
