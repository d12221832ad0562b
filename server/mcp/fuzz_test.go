package mcp_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// slow is how long a request may take before it counts as hanging. All its work is in memory.
const slow = time.Minute

// FuzzRequest sends any body, with any of the headers that decide how it is read, through the whole handler to the
// database. No input may cause a panic, a hang, a 500 or an answer that is not JSON.
func FuzzRequest(f *testing.F) {
	for _, rules := range [][]rule{httpRules(), toolRules(), promptRules(), resourceRules()} {
		for _, r := range rules {
			f.Add(r.body, r.header.Get("Mcp-Protocol-Version"), r.header.Get("Mcp-Method"), r.header.Get("Mcp-Name"))
		}
	}
	for _, body := range []string{
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},1,[],{}]`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"method":"tools/call","name":"list_book","arguments":{"filters":{"author__name__icontains":"l","price__range":[1,"9.5"],"title__in":[]},"search":"%_\\","order_by":["-id"],"limit":1e3}}`,
		`{"id":1,"method":"tools/call","params":{"name":"get_note","arguments":{"id":"a\u0000b"}}}`,
	} {
		f.Add(body, "", "", "")
	}
	e := newEndpoint(f, specificationConfig())
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		headers := http.Header{}
		for key, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				headers[key] = []string{value}
			}
		}
		start := time.Now()
		response := e.do(request{body: body, header: headers})
		answer := text(response)
		if took := time.Since(start); took > slow {
			t.Errorf("it took %s", took)
		}
		switch response.StatusCode {
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
			if !json.Valid([]byte(answer)) {
				t.Errorf("the answer is no JSON: %q", answer)
			}
		case http.StatusAccepted:
			if answer != "" {
				t.Errorf("a notification is answered %q", answer)
			}
		default:
			t.Errorf("status %d: %s", response.StatusCode, answer)
		}
		if log := e.log.String(); strings.Contains(log, "panicked") {
			t.Errorf("got %s, want nothing of panicked", log)
		}
		e.log.Reset()
	})
}

// FuzzResourceURI reads any URI. The answer is content or an error, is the same in both eras, and names the URI.
func FuzzResourceURI(f *testing.F) {
	for _, r := range resourceRules() {
		var body struct{ Params struct{ URI string } }
		if json.Unmarshal([]byte(r.body), &body) == nil {
			f.Add(body.Params.URI)
		}
	}
	for _, uri := range []string{"data://book/%", "data://book/%2", "data://book//", "data://book/1,2", "data://note/%00", "models:///schema", "models://book/schema/", "DATA://book/", "data://book/\u2028", "data://note/+", "data://book/9223372036854775808"} {
		f.Add(uri)
	}
	e := newEndpoint(f, specificationConfig())
	f.Fuzz(func(t *testing.T, uri string) {
		if !utf8.ValidString(uri) {
			t.Skip("no JSON can say it")
		}
		var outcomes [2]string
		for i, r := range []request{rpc("resources/read", `{"uri":`+quote(uri)+`}`), modern("resources/read", `"uri":`+quote(uri))} {
			start := time.Now()
			response := e.do(r)
			var answer struct {
				Result struct {
					Contents []struct{ URI, MimeType, Text string }
				}
				Error struct {
					Code    int
					Message string
					Data    struct{ URI *string }
				}
			}
			err := json.Unmarshal([]byte(text(response)), &answer)
			switch {
			case response.StatusCode == http.StatusRequestEntityTooLarge:
				t.Skip("larger than a body may be")
			case err != nil || response.StatusCode != http.StatusOK || time.Since(start) > slow:
				t.Fatalf("status %d, %v", response.StatusCode, err)
			case answer.Error.Code == 0:
				if len(answer.Result.Contents) != 1 || answer.Result.Contents[0].URI != uri || !json.Valid([]byte(answer.Result.Contents[0].Text)) {
					t.Errorf("%q is answered with %+v", uri, answer.Result)
				}
				outcomes[i] = nextCursor.ReplaceAllString(answer.Result.Contents[0].Text, "")
			case answer.Error.Code != [2]int{-32002, -32602}[i] || answer.Error.Data.URI == nil || *answer.Error.Data.URI != uri || answer.Error.Message == "":
				t.Errorf("%q is answered with %+v", uri, answer.Error)
			default:
				outcomes[i] = answer.Error.Message
			}
		}
		if outcomes[0] != outcomes[1] {
			t.Errorf("%q is %q in one era and %q in the other", uri, outcomes[0], outcomes[1])
		}
		e.log.Reset()
	})
}

// nextCursor is sealed anew for every answer.
var nextCursor = regexp.MustCompile(`,"next_cursor":"[^"]*"`)
