package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestSimpleForm(t *testing.T) {
	e := newEndpoint(t, config())
	for _, c := range []struct {
		name, body string
		status     int
		want       string // the whole answer, or its beginning before …
	}{
		{"tools/list", `{"method":"tools/list"}`, 200, `{"tools":[{"name":"find_models",…`},
		{"members that nobody knows", `{"method":"tools/list","x":{"id":1}}`, 200, `{"tools":[…`},
		{"tools/call", `{"method":"tools/call","name":"get_author","arguments":{"id":2}}`, 200, `{"content":[{"type":"text","text":"{\"…`},
		{"tools/call without arguments", `{"method":"tools/call","name":"find_models"}`, 200, `{"content":[{"type":"text","text":"{\"count\":2,…`},
		{"another method", `{"method":"initialize"}`, 400, `{"error":"Unknown method: initialize"}`},
		{"a method with escapes", `{"method":"a\u0022\ud83d\ude00"}`, 400, `{"error":"Unknown method: a\"😀"}`},
		{"no method", `{}`, 400, `{"error":"method is required and must be a string"}`},
		{"member names match exactly", `{"Method":"tools/list"}`, 400, `{"error":"method is required and must be a string"}`},
		{"a method that is no string", `{"method":1}`, 400, `{"error":"method is required and must be a string"}`},
		{"no name", `{"method":"tools/call","arguments":{}}`, 400, `{"error":"name is required and must be a string"}`},
		{"a name that is no string", `{"method":"tools/call","name":["x"]}`, 400, `{"error":"name is required and must be a string"}`},
		{"arguments that are an array", `{"method":"tools/call","name":"find_models","arguments":[]}`, 400, `{"error":"arguments must be an object"}`},
		{"arguments that are null", `{"method":"tools/call","name":"find_models","arguments":null}`, 200, `{"content":[…`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := e.post(c.body)
			if status != c.status || !matches(body, c.want) {
				t.Errorf("%d %s, want %d %s", status, body, c.status, c.want)
			}
		})
	}
}

func matches(got, want string) bool {
	if beginning, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(got, beginning)
	}
	return got == want
}

// The rows are from docs/design/http.md, "Forms".
func TestJSONRPC(t *testing.T) {
	e := newEndpoint(t, config())
	for _, c := range []struct {
		name, version, body string
		status              int
		want                string
	}{
		{"ping", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"an id is echoed as sent", "", `{"jsonrpc":"2.0","id":"a\u0062\/\"","method":"ping"}`, 200, `{"jsonrpc":"2.0","id":"a\u0062\/\"","result":{}}`},
		{"a large id", "", `{"jsonrpc":"2.0","id":-123456789012345678901234567890,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":-123456789012345678901234567890,"result":{}}`},
		{"without jsonrpc", "", `{"id":1,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"params null", "", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"tools/list", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"find_models",…`},
		{"tools/call", "2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_author","arguments":{"id":2}}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"…`},
		{"tools/call without arguments", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_models"}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{…`},
		{"initialize with a known version", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"mcp-admin-server","version":"1.2.3"},"capabilities":{"tools":{},"prompts":{},"resources":{}},"instructions":"books gives you…`},
		{"initialize with another version", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",…`},
		{"initialize without a version", "", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",…`},

		{"a notification", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ``},
		{"a notification of any method", "", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"no_such"}}`, 202, ``},
		{"a notification without jsonrpc", "", `{"method":"notifications/cancelled","params":{}}`, 202, ``},
		{"params alone", "", `{"method":"tools/list","params":{}}`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},

		{"an unknown method", "", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: sampling/createMessage"}}`},
		{"no method", "", `{"jsonrpc":"2.0","id":1}`, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,…`},
		{"a method that is no string", "", `{"jsonrpc":"2.0","id":1,"method":null}`, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,…`},
		{"a response", "", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,…`},
		{"another jsonrpc", "", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,…`},
		{"an id that is null", "", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"an id that is a fraction", "", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"an id that is an object", "", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"params that are an array", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,…`},
		{"tools/call without a name", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,…`},
		{"tools/call whose name stands beside params", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","name":"find_models"}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,…`},
		{"tools/call with arguments null", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_models","arguments":null}}`, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[…`},
		{"an unknown operation", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_book"}}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: drop_book"}}`},
		{"a tool name without _", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: drop"}}`},
		{"an operation without a model", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_"}}`, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: list_"}}`},

		{"an unsupported version", "1999-01-01", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 400,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1999-01-01"}}}`},
		{"a notification of an unsupported version", "1999-01-01", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,…`},
		{"the simple form has no version", "1999-01-01", `{"method":"tools/list"}`, 200, `{"tools":[…`},

		{"a batch", "", `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"1","method":"nope"}]`, 200,
			`[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"Method not found: nope"}}]`},
		{"a batch of 2025-03-26", "2025-03-26", `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, 200, `[{"jsonrpc":"2.0","id":2,"result":{}}]`},
		{"a batch of 2025-06-18", "2025-06-18", `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"a batch of an unsupported version", "1999-01-01", `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,…`},
		{"a batch of notifications", "", `[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]`, 202, ``},
		{"an empty batch", "", `[]`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`},
		{"a batch with what is no request", "", `[1,{"jsonrpc":"2.0","id":2,"method":"ping"},{"method":"tools/list"}]`, 200,
			`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: a message must be an object"}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: id is missing"}}]`},
		{"initialize after a request in a batch", "", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]`, 200,
			`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"initialize cannot be part of a batch"}}]`},
		{"50 in a batch", "", batchOf(50), 200, `[{"jsonrpc":"2.0","id":0,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}},…`},
		{"51 in a batch", "", batchOf(51), 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: a batch has at most 50 messages; send the rest in another"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			if c.version != "" {
				h.Set("MCP-Protocol-Version", c.version)
			}
			response := e.do(request{header: h, body: c.body})
			body := text(response)
			if response.StatusCode != c.status || !matches(body, c.want) {
				t.Errorf("%d %s, want %d %s", response.StatusCode, body, c.status, c.want)
			}
			if body != "" && !json.Valid([]byte(body)) {
				t.Errorf("the answer is no JSON: %s", body)
			}
		})
	}
}

func batchOf(n int) string {
	messages := make([]string, n)
	for i := range messages {
		messages[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
	}
	return "[" + strings.Join(messages, ",") + "]"
}

// Both forms answer a tool call with the same content.
func TestToolCalls(t *testing.T) {
	e := newEndpoint(t, config())
	for _, c := range []struct {
		name, tool, arguments string
		isError               bool
		check                 func(payload map[string]any) bool
	}{
		{"a list", "list_book", `{"order_by":["-book_id"],"limit":1}`, false, func(p map[string]any) bool {
			row := p["results"].([]any)[0].(map[string]any)
			return p["count"] == 1.0 && p["total_count"] == 3.0 && row["title"] == `The "Cyberiad" \ 😀`
		}},
		{"one row", "get_book", `{"id":2}`, false, func(p map[string]any) bool { return p["title"] == "Solaris" && p["author_id"] == 2.0 }},
		{"a row that is not there", "get_book", `{"id":99}`, true, func(p map[string]any) bool { return p["code"] == "not_found" && p["error"] == "book not found" }},
		{"a model that is not there", "list_shoe", `{}`, true, func(p map[string]any) bool { return p["code"] == "not_found" }},
		{"a right that is not there", "create_book", `{"data":{}}`, true, func(p map[string]any) bool { return p["code"] == "permission_denied" }},
		{"an argument that does not fit", "list_book", `{"limit":"many"}`, true, func(p map[string]any) bool { return p["code"] == "invalid_argument" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			simple := fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, c.tool, c.arguments)
			rpc := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.tool, c.arguments)
			for _, body := range []string{simple, rpc} {
				status, answer := e.post(body)
				if status != 200 || strings.Contains(answer, `"isError":true`) != c.isError {
					t.Errorf("%d %s", status, answer)
				}
				if payload := result(t, answer); !c.check(payload) {
					t.Errorf("%v", payload)
				}
			}
		})
	}
}

func TestUnknownOperationIsAToolErrorInTheSimpleForm(t *testing.T) {
	e := newEndpoint(t, config())
	status, answer := e.post(`{"method":"tools/call","name":"drop_book","arguments":{}}`)
	if status != 200 || !strings.Contains(answer, `"isError":true`) || result(t, answer)["code"] != "not_found" {
		t.Errorf("%d %s", status, answer)
	}
}

func TestToolsAreThoseOfTheToken(t *testing.T) {
	e := newEndpoint(t, config())
	response := e.do(request{body: listTools, header: header("Authorization", "Bearer "+limitedToken)})
	var list struct{ Tools []struct{ Name string } }
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "find_models list_author get_author describe_author actions_author autocomplete_author aggregate_author" {
		t.Errorf("the limited token has %s", got)
	}
}
