package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// operation is what agents ask for, over and over. Both servers get the same bytes.
type operation struct {
	name string
	body string
	// perAuthor reports whether %d is an author's id; else it is a book's.
	perAuthor bool
	// writes reports whether each answer is another: two servers cannot give the same.
	writes bool
	// bare reports whether the bare server knows it; main, whether it is on the line in the end.
	bare, main bool
	// given is set if it needs no database: the bare server is given the server's answer, and sends it.
	given bool
	// header is a further line of the request's head, or "".
	header string
	// models are what is served, in place of the shop.
	models func() []contract.Model
	// connections are how many there are whatever was asked for; 0 is as many as were asked for.
	connections int
	// only is the one engine it is measured on; "" is each.
	only string
}

func tool(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

const list = `"filters":{"author_id":%d},"order_by":["id"],"limit":50`

var operations = []operation{
	{name: "get", body: tool("get_book", `{"id":%d}`), bare: true, main: true},
	{name: "list", body: tool("list_book", `{`+list+`}`), perAuthor: true, bare: true, main: true},
	{name: "create", body: tool("create_book", `{"data":{"title":"A bench in the park","author_id":%d,"price":"12.50","published":"2001-02-03","description":"A novel about \"quotes\" and more"}}`),
		perAuthor: true, writes: true, bare: true, main: true},
	{name: "update", body: tool("update_book", `{"id":%d,"data":{"price":"13.25"}}`), writes: true, bare: true, main: true},
	{name: "aggregate", body: tool("aggregate_book", `{"measures":{"n":{"count":"*"},"mean":{"avg":"price"},"latest":{"max":"created_at"}},"group_by":["published__year"],"filters":{"author_id":%d},"order_by":["-n"],"limit":50}`),
		perAuthor: true, bare: true, main: true},
	{name: "list-uncounted", body: tool("list_book", `{`+list+`,"total":"none"}`), perAuthor: true, bare: true},
	{name: "list-64", body: tool("list_book", `{`+list+`}`), perAuthor: true, bare: true, connections: 64},
	{name: "transact", body: tool("transact", `{"steps":[`+strings.Join([]string{
		`{"tool":"create_book","arguments":{"data":{"title":"One","author_id":%d,"price":"1.50"}}}`,
		`{"tool":"create_book","arguments":{"data":{"title":"Two","author_id":%d,"price":"2.50"}}}`,
		`{"tool":"update_book","arguments":{"id":{"_step":0,"path":"id"},"data":{"price":"3.50"}}}`,
		`{"tool":"update_book","arguments":{"id":{"_step":1,"path":"id"},"data":{"in_stock":false}}}`,
		`{"tool":"get_book","arguments":{"id":{"_step":1,"path":"id"}}}`,
	}, ",")+`]}`), perAuthor: true, writes: true},
	{name: "ping", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, only: "PostgreSQL", given: true},
	{name: "find_models", body: tool("find_models", `{"query":"book"}`), only: "PostgreSQL", given: true},
	{name: "describe", body: tool("describe_book", `{}`), only: "PostgreSQL", given: true},
	{name: "tools/list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, only: "PostgreSQL", given: true, models: manyModels},
	{name: "tools/list-gzip", body: `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, header: "Accept-Encoding: gzip\r\n", only: "PostgreSQL", given: true, models: manyModels},
}

// manyModels are 200 models, each of a table of its own, in the schema "many".
func manyModels() []contract.Model {
	var models []contract.Model
	for n := range 200 {
		models = append(models, model(fmt.Sprintf("book_%d", n+1)))
	}
	slices.SortFunc(models, func(a, b contract.Model) int { return strings.Compare(a.Name, b.Name) })
	return models
}

// limited reports whether the bare server answers it.
func (op operation) limited() bool { return op.bare || op.given }

// ops are the operations among some that are measured on the engine.
func (e *engine) ops(among []operation) []operation {
	return slices.DeleteFunc(slices.Clone(among), func(op operation) bool { return op.only != "" && op.only != e.name })
}
