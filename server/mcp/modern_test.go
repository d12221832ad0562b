package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

// The rules of 2026-07-28 (docs/design/protocol.md, "The 2026-07-28 era") that no other version has.
func TestModernEra(t *testing.T) {
	e := newEndpoint(t, config())
	const tools = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":10000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-admin-server","version":"1.2.3"}},"tools":[…]}}`
	failure := func(code, message string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `,"message":"` + message + `"}}`
	}
	const supported = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`
	unsupported := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":` + supported + `,"requested":"` + version + `"}}}`
	}
	version := func(header, inBody string) request {
		r := modern("tools/list", "")
		r.body = strings.Replace(r.body, "2026-07-28", inBody, 1)
		return r.with(http.Header{"Mcp-Protocol-Version": {header}})
	}
	meta := func(meta string) request {
		r := modern("tools/list", "")
		r.body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + meta + `}}`
		return r
	}
	call := func(name string) request {
		return modern("tools/call", `"name":"get_author","arguments":{"id":2}`).with(http.Header{"Mcp-Name": {name}})
	}
	read := func(uri, name string) request {
		return modern("resources/read", `"uri":"`+uri+`"`).with(http.Header{"Mcp-Name": {name}})
	}
	const called = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-admin-server","version":"1.2.3"}},"content":[…]}}`
	const discovered = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":10000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-admin-server","version":"1.2.3"}},` +
		`"supportedVersions":` + supported + `,"capabilities":{"tools":{},"prompts":{},"resources":{}},"instructions":"books gives you…"}}`

	for _, c := range []struct {
		name string
		request
		status int
		want   string
	}{
		{"server/discover", modern("server/discover", ""), 200, discovered},
		{"a list says how long it may be kept", modern("tools/list", ""), 200, tools},
		{"a resource may not be kept", modern("resources/read", `"uri":"data://author/1"`), 200, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{…},"contents":[…]}}`},
		{"a call has no such hint", call("get_author"), 200, called},
		{"a prompt has no such hint", modern("prompts/get", `"name":"explore_models"`), 200, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{…},"description":"…","messages":[…]}}`},
		{"the simple form has no version", request{body: listTools, header: header("Mcp-Protocol-Version", "2026-07-28")}, 200, `{"tools":[…]}`},

		{"no _meta", meta(`null`), 400, failure("-32602", "params._meta must hold io.modelcontextprotocol/protocolVersion, a string")},
		{"no params", request{body: rpc("tools/list", "").body, header: modern("tools/list", "").header}, 400, failure("-32602", "params._meta must hold io.modelcontextprotocol/protocolVersion, a string")},
		{"params that are an array", request{body: rpc("tools/list", "[]").body, header: modern("tools/list", "").header}, 400, failure("-32602", "…")},
		{"_meta without a version", meta(`{"io.modelcontextprotocol/clientCapabilities":{}}`), 400, failure("-32602", "params._meta must hold io.modelcontextprotocol/protocolVersion, a string")},
		{"_meta whose version is no string", meta(`{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}`), 400, failure("-32602", "…")},
		{"_meta without capabilities", meta(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), 400, failure("-32602", "params._meta must hold io.modelcontextprotocol/clientCapabilities, an object")},
		{"_meta whose capabilities are no object", meta(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":true}`), 400, failure("-32602", "…")},
		{"_meta without clientInfo", meta(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`), 200, tools},
		{"_meta deeper down is not it", request{body: rpc("tools/list", `{"x":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`).body}, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[…]}}`},

		{"an unsupported version", version("2027-01-01", "2027-01-01"), 400, unsupported("2027-01-01")},
		{"an unsupported version in the body alone", modern("tools/list", "").withBody("2026-07-28", "v9").with(without("Mcp-Protocol-Version")), 400, unsupported("v9")},
		{"an unsupported version in the header alone", request{body: rpc("tools/list", "").body, header: header("Mcp-Protocol-Version", "v9")}, 400, unsupported("v9")},
		{"the version twice", request{body: rpc("tools/list", "").body, header: header("Mcp-Protocol-Version", "2025-11-25", "Mcp-Protocol-Version", "2025-11-25")}, 400, unsupported("2025-11-25, 2025-11-25")},
		{"another version in the header", version("2025-11-25", "2026-07-28"), 400, failure("-32020", "Header mismatch: MCP-Protocol-Version must be the version in params._meta")},
		{"another version in the body", version("2026-07-28", "v9"), 400, failure("-32020", "Header mismatch: MCP-Protocol-Version must be the version in params._meta")},
		{"no version in the header", modern("tools/list", "").with(without("Mcp-Protocol-Version")), 400, failure("-32020", "Header mismatch: MCP-Protocol-Version is missing")},
		{"no Mcp-Method", modern("tools/list", "").with(without("Mcp-Method")), 400, failure("-32020", "Header mismatch: Mcp-Method must be the body's method")},
		{"another Mcp-Method", modern("tools/list", "").with(header("Mcp-Method", "prompts/list")), 400, failure("-32020", "…")},
		{"Mcp-Method in other letters", modern("tools/list", "").with(header("Mcp-Method", "TOOLS/LIST")), 400, failure("-32020", "…")},
		{"Mcp-Method twice", modern("tools/list", "").with(header("Mcp-Method", "tools/list", "Mcp-Method", "tools/list")), 400, failure("-32020", "…")},
		{"Mcp-Name, plain", call("get_author"), 200, called},
		{"Mcp-Name, encoded", call("=?base64?Z2V0X2F1dGhvcg==?="), 200, called},
		{"Mcp-Name, badly encoded", call("=?base64?Z2V0X2F1dGhvcg?="), 400, failure("-32020", "Header mismatch: Mcp-Name must be the body's params.name or params.uri")},
		{"Mcp-Name whose marks are in other letters", call("=?BASE64?Z2V0X2F1dGhvcg==?="), 400, failure("-32020", "…")},
		{"another Mcp-Name", call("get_book"), 400, failure("-32020", "…")},
		{"Mcp-Name in other letters", call("GET_AUTHOR"), 400, failure("-32020", "…")},
		{"Mcp-Name of a resource", read("data://author/1", "data://author/1"), 200, `{…"contents":[…]}}`},
		{"Mcp-Name of bytes that no header may have", read("data://note/ü", "data://note/ü"), 400, failure("-32020", "…")},
		{"Mcp-Name of those bytes, encoded", read("data://note/ü", "=?base64?ZGF0YTovL25vdGUvw7w=?="), 200, `{…"error":{"code":-32602,…`},
		{"no Mcp-Name", modern("prompts/get", `"name":"explore_models"`).with(without("Mcp-Name")), 400, failure("-32020", "…")},
		{"Mcp-Name where none is wanted", modern("tools/list", "").with(header("Mcp-Name", "x")), 200, tools},

		{"initialize", modern("initialize", ""), 404, failure("-32601", "Method not found: initialize")},
		{"ping", modern("ping", ""), 404, failure("-32601", "Method not found: ping")},
		{"subscriptions/listen", modern("subscriptions/listen", ""), 404, failure("-32601", "…")},
		{"server/discover in the initialize era", rpc("server/discover", ""), 200, failure("-32601", "Method not found: server/discover")},
		{"an error of a method's own", modern("tools/call", `"name":"drop_book"`), 200, failure("-32602", "Unknown tool: drop_book")},

		{"a notification", request{body: `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, header: header("Mcp-Protocol-Version", "2026-07-28")}, 202, ``},
		{"a batch", request{body: `[` + modern("tools/list", "").body + `]`, header: modern("tools/list", "").header}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"a message of it in a batch of another", request{body: `[` + modern("tools/list", "").body + `]`}, 200, `[` + failure("-32020", "Header mismatch: MCP-Protocol-Version is missing") + `]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := e.do(c.request)
			if got := text(response); response.StatusCode != c.status || !like(got, c.want) {
				t.Errorf("%s\nis answered %d %s\n     want %d %s", c.body, response.StatusCode, got, c.status, c.want)
			}
		})
	}
}

// withBody replaces the first old in the body.
func (r request) withBody(old, replacement string) request {
	r.body = strings.Replace(r.body, old, replacement, 1)
	return r
}
