// Package mcp answers agents over HTTP: the simple form and the JSON-RPC form of the interface specification, for every
// published MCP version: the initialize era's, and 2026-07-28. It knows HTTP and JSON, and nothing of models, rows or SQL:
// it reads a request, asks the Endpoint of the moment, and writes the answer.
//
// Nothing is kept between requests, so any replica answers any of them. Package server mounts it; nothing else imports it,
// except tests that fake an Endpoint.
package mcp
