package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// The rules of the interface specification's sections 4, 5 and 7, each with a request and its exact answer, over a real
// SQLite database. A rule about a tool is tested in both forms and both eras.

const (
	moduleToken   = "module-token-of-at-least-thirty-two-characters"
	strangerToken = "stranger-token-of-at-least-thirty-two-characters"
	inactiveToken = "inactive-token-of-at-least-thirty-two-characters"
	lapsingToken  = "lapsing-token-of-at-least-thirty-two-characters"
)

// specificationConfig is the fixture's Config with more: a model that is not exposed, a model of sixty rows in a module
// of its own, and tokens that may use one module, or nothing.
func specificationConfig() *contract.Config {
	c := config()
	soon := now.Add(time.Second)
	c.Models = append(c.Models,
		contract.Model{Exposure: "note", Name: "note", Table: "note", VerboseName: "note", VerboseNamePlural: "notes", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000},
		contract.Model{Exposure: "reading", Name: "reading", Table: "reading", Module: "diary", Expose: true, VerboseName: "reading", VerboseNamePlural: "readings", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000})
	everything := []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}
	inactive := token("inactive", inactiveToken, everything...)
	inactive.Hashes = nil // this is how a Config says it
	lapsing := token("lapsing", lapsingToken, everything...)
	lapsing.Expiry = &soon
	c.Tokens = append(c.Tokens, inactive, lapsing,
		token("module", moduleToken, contract.Rule{Modules: []string{"diary"}, Models: []string{"*"}, Verbs: []string{"view"}}),
		token("stranger", strangerToken))
	return c
}

func token(name, text string, rules ...contract.Rule) contract.Token {
	return contract.Token{Namespace: "shop", Name: name, Hashes: []string{contract.HashToken(text)}, Rules: rules}
}

// A rule is one row: a request and its answer.
type rule struct {
	// number is the section of the interface specification, and the rule in it if it numbers them.
	number, name string
	request
	status int
	// want is the body; "…" in it is any text.
	want string
	// answer are headers of the answer.
	answer http.Header
}

// like reports whether got is want, with any text where want has "…".
func like(got, want string) bool {
	pieces := strings.Split(want, "…")
	if !strings.HasPrefix(got, pieces[0]) {
		return false
	}
	got = got[len(pieces[0]):]
	for i, piece := range pieces[1:] {
		if i == len(pieces)-2 {
			return strings.HasSuffix(got, piece)
		}
		_, after, found := strings.Cut(got, piece)
		if !found {
			return false
		}
		got = after
	}
	return got == ""
}

func bearer(token string) http.Header { return header("Authorization", "Bearer "+token) }

// quote is text as a JSON string.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSpace(b.String())
}

// rpc is a JSON-RPC request of the initialize era; params may be "".
func rpc(method, params string) request {
	if params != "" {
		params = `,"params":` + params
	}
	return request{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `"` + params + `}`}
}

const modernInfo = `"resultType":"complete",…"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-admin-server","version":"1.2.3"}},`

// modern is a JSON-RPC request of 2026-07-28, with the headers that belong to it; members are the members of params, or "".
func modern(method, members string) request {
	if members != "" {
		members = "," + members
	}
	r := request{
		body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}` + members + `}}`,
		header: header("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method),
	}
	var body struct {
		Params struct{ Name, URI, TaskID *string }
	}
	_ = json.Unmarshal([]byte(r.body), &body)
	for _, name := range []*string{body.Params.Name, body.Params.URI, body.Params.TaskID} {
		if name != nil {
			r.header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(*name))+"?=")
		}
	}
	return r
}

// with adds headers.
func (r request) with(h http.Header) request {
	all := http.Header{}
	for _, from := range []http.Header{r.header, h} {
		for name, values := range from {
			all[name] = values
		}
	}
	r.header = all
	return r
}

// tool returns the rows of one call in both forms and both eras. payload is the text of the content.
func tool(number, name, token, toolName, arguments, payload string, isError bool) []rule {
	result := `"content":[{"type":"text","text":` + strings.ReplaceAll(quote(payload), `\u2026`, "…") + `}]`
	if isError {
		result += `,"isError":true`
	}
	members := `"name":"` + toolName + `","arguments":` + arguments
	return []rule{
		{number: number, name: name + ", simple form", request: request{body: `{"method":"tools/call",` + members + `}`}.with(bearer(token)), status: 200, want: `{` + result + `}`},
		{number: number, name: name + ", JSON-RPC", request: rpc("tools/call", `{`+members+`}`).with(bearer(token)), status: 200, want: `{"jsonrpc":"2.0","id":1,"result":{` + result + `}}`},
		{number: number, name: name + ", 2026-07-28", request: modern("tools/call", members).with(bearer(token)), status: 200, want: `{"jsonrpc":"2.0","id":1,"result":{` + modernInfo + result + `}}`},
	}
}

// method returns the rows of one method in both eras. result are the members of the result, or of the error if code is
// not 0. modernCode is the error's code in 2026-07-28.
func method(number, name, token, methodName, members, result string, code, modernCode int) []rule {
	want := func(info string, code int) string {
		if code != 0 {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,%s}}`, code, result)
		}
		return `{"jsonrpc":"2.0","id":1,"result":{` + info + result + `}}`
	}
	params := ""
	if members != "" {
		params = `{` + members + `}`
	}
	return []rule{
		{number: number, name: name + ", JSON-RPC", request: rpc(methodName, params).with(bearer(token)), status: 200, want: want("", code)},
		{number: number, name: name + ", 2026-07-28", request: modern(methodName, members).with(bearer(token)), status: 200, want: want(modernInfo, modernCode)},
	}
}

// numbers are all the rules that the table must name.
var numbers = []string{
	"4.1", "4.2", "4.3", "4.4", "4.4 rule 1", "4.4 rule 2", "4.4 rule 3", "4.5", "4.5 rule 1", "4.5 rule 2", "4.5 rule 3", "4.5 rule 4",
	"4.5 rule 5", "4.5 rule 6", "4.7", "4.8", "5.1", "5.2", "5.3", "5.4", "5.6", "7.1", "7.2",
}

func TestSpecification(t *testing.T) {
	e := newEndpoint(t, specificationConfig())
	rules := slices.Concat(httpRules(), toolRules(), promptRules(), resourceRules(), authenticationRules())
	named := map[string]bool{}
	for _, r := range rules {
		named[r.number] = true
		t.Run(r.number+" "+r.name, func(t *testing.T) {
			response := e.do(r.request)
			body := text(response)
			if response.StatusCode != r.status || !like(body, r.want) {
				t.Errorf("%s\nis answered %d %s\n     want %d %s", r.body, response.StatusCode, body, r.status, r.want)
			}
			for name, values := range r.answer {
				if got := response.Header[name]; !slices.Equal(got, values) {
					t.Errorf("%s is %q, want %q", name, got, values)
				}
			}
			if body != "" && response.Header.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type is %q", response.Header.Get("Content-Type"))
			}
		})
	}
	for _, number := range numbers {
		if !named[number] {
			t.Errorf("no row is about %s", number)
		}
	}
}
