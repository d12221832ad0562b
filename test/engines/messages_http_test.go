package engines

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// httpRow is a request with a mistake, and the status and error of its answer.
type httpRow struct {
	// method and path are POST and the endpoint's if they are empty; headers are lines of "Name: value".
	method, path, headers, body string
	want                        string
}

// A body that is no call, or cannot be read as one, gets an error over HTTP.
func TestMessagesOverHTTP(t *testing.T) {
	s := start(t, harness.Engines[0], func(c *contract.Config) {
		c.Endpoint.Limits.MaxBodyBytes = 10_000
		for i := range c.Models {
			if c.Models[i].Name == "jotting" {
				c.Models[i].Operations = []string{"list"}
			}
		}
	})
	for _, row := range messagesOverHTTP {
		if got := s.answered(t, row); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row, got, row.want)
		}
	}
}

func (r httpRow) String() string {
	return fmt.Sprintf("%s %s %q %.200q", r.method, r.path, r.headers, r.body)
}

// answered is the status and the message of the answer to a request.
func (s *suite) answered(t *testing.T, row httpRow) string {
	t.Helper()
	method, url := row.method, s.endpoint.URL
	if method == "" {
		method = http.MethodPost
	}
	if row.path != "" {
		url = strings.TrimSuffix(url, "/mcp/") + row.path
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(row.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+secret("root"))
	request.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(row.headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Error json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		return strconv.Itoa(response.StatusCode) + " " + string(body)
	}
	var message string
	if json.Unmarshal(answer.Error, &message) != nil {
		var failure struct{ Message string }
		_ = json.Unmarshal(answer.Error, &failure) // no message is one that differs
		message = failure.Message
	}
	return strconv.Itoa(response.StatusCode) + " " + message
}

// modern are the headers of a request of 2026-07-28.
const modern = "Mcp-Protocol-Version: 2026-07-28\n"

var messagesOverHTTP = []httpRow{
	{method: "GET",
		want: `405 Method not allowed`},
	{path: "/nope",
		want: `404 Not found`},
	{method: "GET", path: "/.well-known/oauth-protected-resource",
		want: `404 Not found`},
	{method: "POST", path: "/health",
		want: `404 Not found`},
	{headers: "Origin: https://evil.example", body: `{}`,
		want: `403 Origin not allowed`},
	{headers: "Authorization: Bearer x", body: `{}`,
		want: `401 Invalid or missing authentication token`},
	{headers: "Content-Type: text/plain", body: `{}`,
		want: `415 Content-Type must be application/json`},
	{headers: "Content-Encoding: gzip", body: `{}`,
		want: `415 Content-Encoding is not supported; send the JSON as it is`},
	{body: strings.Repeat("x", 10_001),
		want: `413 The body is too large`},
	{body: "",
		want: `400 Parse error: unexpected end at byte 0`},
	{body: `{`,
		want: `400 Parse error: expected the name of a member at byte 1`},
	{body: `{}x`,
		want: `400 Parse error: unexpected text after the value at byte 2`},
	{body: `[1,]`,
		want: `400 Parse error: expected a value at byte 3`},
	{body: `[1 2]`,
		want: `400 Parse error: expected , or ] in an array at byte 3`},
	{body: `{"a":1,"a":2}`,
		want: `400 Parse error: a member stands twice in one object at byte 8`},
	{body: `{"a" 1}`,
		want: `400 Parse error: expected : after the name of a member at byte 5`},
	{body: `{"a":1 "b":2}`,
		want: `400 Parse error: expected , or } in an object at byte 7`},
	{body: `{a:1}`,
		want: `400 Parse error: expected the name of a member at byte 1`},
	{body: `{"a":01}`,
		want: `400 Parse error: expected , or } in an object at byte 6`},
	{body: `{"a":-}`,
		want: `400 Parse error: a bad number at byte 6`},
	{body: `{"a":1.}`,
		want: `400 Parse error: a bad number at byte 7`},
	{body: `{"a":1e}`,
		want: `400 Parse error: a bad number at byte 7`},
	{body: `{"a":nul}`,
		want: `400 Parse error: expected a value at byte 5`},
	{body: `{"a":"\x"}`,
		want: `400 Parse error: a bad escape in a string at byte 7`},
	{body: `{"a":"\ud800"}`,
		want: `400 Parse error: half a surrogate pair in a string at byte 6`},
	{body: `{"a":"\ud800\u0041"}`,
		want: `400 Parse error: half a surrogate pair in a string at byte 6`},
	{body: `{"a":"`,
		want: `400 Parse error: unexpected end at byte 6`},
	{body: "{\"a\":\"\n\"}",
		want: `400 Parse error: a control character in a string at byte 6`},
	{body: "{\"a\":\"\xff\"}",
		want: `400 Parse error: bad UTF-8 at byte 6`},
	{body: strings.Repeat("[", 5000),
		want: `400 Parse error: nested too deeply at byte 64`},
	{body: strings.Repeat(`{"a":`, 1900),
		want: `400 Parse error: nested too deeply at byte 320`},
	{body: `5`,
		want: `400 Invalid request: the body must be an object`},
	{body: `{}`,
		want: `400 method is required and must be a string`},
	{body: `{"method":5}`,
		want: `400 method is required and must be a string`},
	{body: `{"method":"nope"}`,
		want: `400 Unknown method: nope`},
	{body: `{"method":"tools/call"}`,
		want: `400 name is required and must be a string`},
	{body: `{"method":"tools/call","name":"x","arguments":5}`,
		want: `400 arguments must be an object`},
	{body: `{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
		want: `400 Invalid request: id must be a string or an integer`},
	{body: `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		want: `400 Invalid request: jsonrpc must be "2.0"`},
	{body: `{"jsonrpc":"2.0","id":1}`,
		want: `400 Invalid request: method is required and must be a string`},
	{body: `{"params":{},"method":"ping"}`,
		want: `400 Invalid request: id is missing`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"nope"}`,
		want: `200 Method not found: nope`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":5}`,
		want: `200 params must be an object`},
	{body: `[]`,
		want: `400 Invalid request: the batch is empty`},
	{body: "[" + numbered(51, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`) + "]",
		want: `400 Invalid request: a batch has at most 50 messages; send the rest in another`},
	{headers: "Mcp-Protocol-Version: 2025-11-25", body: `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		want: `400 Invalid request: this protocol version has no batches; send each message by itself`},
	{headers: "Mcp-Protocol-Version: 1999-01-01", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		want: `400 Unsupported protocol version`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`,
		want: `200 name is required and must be a string`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}`,
		want: `200 Unknown tool: nope`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":[]}}`,
		want: `200 arguments must be an object`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{}}`,
		want: `200 name is required and must be a string`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nope"}}`,
		want: `200 Unknown prompt: nope; prompts/list tells which there are`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"crud_guide"}}`,
		want: `200 model_name is required`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"crud_guide","arguments":5}}`,
		want: `200 arguments must be an object`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"crud_guide","arguments":{"model_name":5}}}`,
		want: `200 model_name must be a string`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"crud_guide","arguments":{"model_name":"nope"}}}`,
		want: `200 Model 'nope' not found; find_models tells which there are`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"understand_model","arguments":{"model_name":"jotting"}}}`,
		want: `200 describe is not offered for jotting, so that this prompt tells nothing of it`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`,
		want: `200 uri is required and must be a string`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`,
		want: `200 Resource x not found; there are models://{model_name}/schema, data://{model_name}/ and data://{model_name}/{id}`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://"}}`,
		want: `200 Resource data:// not found; there are models://{model_name}/schema, data://{model_name}/ and data://{model_name}/{id}`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://nope/"}}`,
		want: `200 Model 'nope' not found; find_models tells which there are`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://book/99"}}`,
		want: `200 book not found`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://book/x"}}`,
		want: `200 id: must be an integer, or a string of its digits, not "x"`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://book/1/2"}}`,
		want: `200 data://book/1/2 has more than an id after the model; an id's own / ? and # are percent-encoded`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://book/%zz"}}`,
		want: `200 the id in data://book/%zz is not percent-encoded properly: a percent sign is %25, a comma %2C`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"models://book"}}`,
		want: `200 Resource models://book not found; there are models://{model_name}/schema, data://{model_name}/ and data://{model_name}/{id}`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"models://nope/schema"}}`,
		want: `200 Model 'nope' not found; find_models tells which there are`},
	{headers: modern, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		want: `400 params._meta must hold io.modelcontextprotocol/protocolVersion, a string`},
	{headers: modern, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		want: `400 params._meta must hold io.modelcontextprotocol/clientCapabilities, an object`},
	{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		want: `400 Header mismatch: MCP-Protocol-Version is missing`},
	{headers: modern + "Mcp-Method: ping", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		want: `400 Header mismatch: Mcp-Method must be the body's method`},
	{headers: "Mcp-Protocol-Version: 2025-11-25", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		want: `400 Header mismatch: MCP-Protocol-Version must be the version in params._meta`},
	{headers: modern + "Mcp-Method: tools/call", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		want: `400 Header mismatch: Mcp-Name must be the body's params.name or params.uri`},
	{headers: modern + "Mcp-Method: initialize", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		want: `404 Method not found: initialize`},
	{body: `[5]`,
		want: `200 [{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: a message must be an object"}}]`},
	{body: `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]`,
		want: `200 [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize cannot be part of a batch"}}]`},
}
