// Command mcp-admin is the program for people: it tries a database out, writes manifests, connects clients, and asks a
// cluster's endpoints what they do. As kubectl-mcp_admin on the PATH it is the kubectl plugin "kubectl mcp-admin".
package main

import "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/program"

func main() { program.Main() }
