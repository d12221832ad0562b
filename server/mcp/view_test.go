package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// listed are the names of the tools, or the URIs of the resources, that a body at a path is answered with.
func (e *endpoint) listed(t *testing.T, path, token, body string) string {
	t.Helper()
	response := e.do(request{path: path, body: body, header: bearer(token)})
	var answer struct {
		list
		Result list
	}
	if err := json.Unmarshal([]byte(text(response)), &answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", path, response.StatusCode, err)
	}
	var names []string
	for _, l := range []list{answer.list, answer.Result} {
		for _, tool := range l.Tools {
			names = append(names, tool.Name)
		}
		for _, resource := range l.Resources {
			names = append(names, resource.URI)
		}
	}
	return strings.Join(names, " ")
}

type list struct {
	Tools     []struct{ Name string }
	Resources []struct{ URI string }
}

// What a URL asks narrows what the lists show, and nothing else. A model that the token may not see narrows like one that
// there is not.
func TestTheURLSaysWhatTheListsShow(t *testing.T) {
	e := newEndpoint(t, config())
	const rpcTools, rpcResources = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`
	const author = "list_author get_author describe_author actions_author autocomplete_author aggregate_author"
	const related = "list_author get_author describe_author actions_author related_author autocomplete_author aggregate_author"
	const generic = "find_models describe list get aggregate actions autocomplete"
	for _, c := range []struct{ path, token, body, want string }{
		{"/mcp/", limitedToken, rpcTools, "find_models " + author},
		{"/mcp/?tools=per-model", limitedToken, rpcTools, "find_models " + author},
		{"/mcp/?tools=generic", limitedToken, rpcTools, generic},
		{"/mcp?tools=generic", limitedToken, listTools, generic},
		{"/mcp/?tools=generic&other=1", limitedToken, listTools, generic},
		{"/mcp/?models=author", readerToken, listTools, "find_models " + related},
		{"/mcp/?models=author,tale", readerToken, rpcTools, "find_models " + related},
		{"/mcp/?models=tale&models=author", readerToken, rpcTools, "find_models " + related},
		{"/mcp/?models=tale", limitedToken, rpcTools, "find_models"},
		{"/mcp/?models=book", limitedToken, rpcTools, "find_models"},
		{"/mcp/?models=book&tools=generic", limitedToken, rpcTools, "find_models"},
		{"/mcp/?models=tale&tools=generic", limitedToken, rpcTools, "find_models"},
		{"/mcp/?models=author", readerToken, rpcResources, "models://author/schema data://author/"},
		{"/mcp/?models=book", limitedToken, rpcResources, ""},
	} {
		if got := e.listed(t, c.path, c.token, c.body); got != c.want {
			t.Errorf("%s %s:\n%s, want\n%s", c.path, c.body, got, c.want)
		}
	}
	for path, want := range map[string]string{
		"/mcp/?tools=both":                    `{"error":"tools in the URL must be per-model or generic, not both"}`,
		"/mcp/?tools=":                        `{"error":"tools in the URL must be per-model or generic, not "}`,
		"/mcp/?tools=generic&tools=per-model": `{"error":"tools in the URL must be per-model or generic, not generic, per-model"}`,
		"/mcp/?models=":                       `{"error":"models in the URL names no model: name some, as in models=book,author, or leave it out"}`,
		"/mcp/?models=%zz":                    `{"error":"The URL's query cannot be read: percent-encode what is not a letter or a digit"}`,
	} {
		response := e.do(request{path: path, body: rpcTools})
		if got := text(response); response.StatusCode != http.StatusBadRequest || got != want {
			t.Errorf("%s: %d %s, want %s", path, response.StatusCode, got, want)
		}
		if response := e.do(request{path: path, body: rpcTools, header: without("Authorization")}); response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", path, response.StatusCode)
		}
	}
	// A narrowed list keeps nobody from calling.
	response := e.do(request{path: "/mcp/?models=author&tools=generic", body: `{"method":"tools/call","name":"list_book","arguments":{}}`})
	if got := text(response); !strings.Contains(got, `total_count`) {
		t.Errorf("a call of what is not shown: %s", got)
	}
}

// The endpoint's style applies to JSON-RPC's list; the simple form's list is model by model unless the URL says otherwise.
func TestTheEndpointsStyle(t *testing.T) {
	e := newEndpoint(t, config())
	const rpcTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	isGeneric := func(path, body string) bool {
		return strings.HasPrefix(e.listed(t, path, readerToken, body), "find_models describe list ")
	}
	for _, c := range []struct {
		style             string
		maxTools          int
		generic           bool
		narrowedIsGeneric bool
	}{
		{"", 0, false, false}, {contract.StylePerModel, 1, false, false}, {contract.StyleGeneric, 1000, true, true},
		{contract.StyleAuto, 100, false, false}, {contract.StyleAuto, 8, true, false},
	} {
		changed := config()
		changed.Endpoint.Catalogue = contract.Catalogue{Style: c.style, MaxTools: c.maxTools}
		e.change(changed)
		if got := isGeneric("/mcp/", rpcTools); got != c.generic {
			t.Errorf("%+v: generic is %t", c, got)
		}
		if got := isGeneric("/mcp/?models=author", rpcTools); got != c.narrowedIsGeneric {
			t.Errorf("%+v, one model: generic is %t", c, got)
		}
		if isGeneric("/mcp/", listTools) || !isGeneric("/mcp/?tools=generic", listTools) {
			t.Errorf("%+v: the simple form's list", c)
		}
	}
	changed := config()
	changed.Endpoint.Catalogue.Style = contract.StyleGeneric
	for i := range changed.Models {
		changed.Models[i].Pinned = changed.Models[i].Name == "author"
	}
	e.change(changed)
	if got := e.listed(t, "/mcp/", readerToken, rpcTools); !strings.HasSuffix(got, " autocomplete list_author get_author describe_author actions_author related_author autocomplete_author aggregate_author") {
		t.Errorf("with a pin: %s", got)
	}
}

// initialize says which tools the list of the token and URL has.
func TestInstructionsSayWhichToolsThereAre(t *testing.T) {
	e := newEndpoint(t, config())
	for path, want := range map[string]string{"/mcp/": "list_<model> filters", "/mcp/?tools=generic": "argument model"} {
		response := e.do(request{path: path, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`})
		if got := text(response); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
