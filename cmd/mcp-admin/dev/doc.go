// Package dev runs a server without a cluster: the same manifests, read from files, compiled in this process by the
// same function that the controllers use, and handed to the server as a source.
//
// The program mcp-admin imports it, as it does every command's package. Begin with Command.
package dev
