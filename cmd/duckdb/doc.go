// Package duckdb is a module of its own: its programs are the server and mcp-admin with DuckDB linked in, which needs C. Its tests run the
// reading suites of the project on DuckDB. Nothing else imports it.
package duckdb
