// Command mcp-admin-server answers agents: it serves the MCP endpoint over one database, as its Config says.
package main

import "github.com/mcp-admin/mcp-admin-operator/cmd/server/program"

func main() { program.Main() }
