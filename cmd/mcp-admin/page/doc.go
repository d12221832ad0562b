// Package page is the page for people: who can see what, what is wrong, and what to do. "mcp-admin ui" serves it over a cluster, with
// the requests of the person who started it, and "mcp-admin dev" over what it serves. It shows what the commands print, by their
// functions: it works nothing out itself.
//
// A screen is a file with its handler, a template of the same name in templates, and a line in the list of screens (screens.go).
package page
