// Package generate guesses from a database's schema what an administrator would write: one MCPModelExposure for each table
// that is worth one, and a read-only MCPToken. The command generate writes the guesses as YAML; dev serves them as they
// are. Each guess has its reason, which stands beside it as a comment.
//
// The program mcp-admin imports it, and so does dev. Begin with Command.
package generate
