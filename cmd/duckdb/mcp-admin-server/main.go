// Command mcp-admin-server answers agents, with DuckDB: it also serves DuckDB databases, and Parquet and CSV files.
package main

import (
	_ "github.com/duckdb/duckdb-go/v2" // registers the driver

	"github.com/mcp-admin/mcp-admin-operator/cmd/server/program"
)

func main() { program.Main() }
