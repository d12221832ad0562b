// Package sqltree reads SQLite's SELECT statements into a tree. It reads what questions are made of: joins, conditions,
// groups, set operations and nested queries. Only test/jobs imports it.
package sqltree
