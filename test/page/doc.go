// Package page drives a real Chromium through the page for people (cmd/mcp-admin/page): over what "mcp-admin dev" serves, over a
// cluster with three endpoints and hostile names, and over one with a thousand endpoints and ten thousand tokens; by a person with rights
// and by one without. It runs axe's rules over each screen, attacks the page from another site, and compares the matrix cell by cell
// with what the command prints. make page sees to npm's packages and Chromium, if it can. Nothing imports it.
package page
