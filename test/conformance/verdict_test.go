package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	const revision = "2025-11-25"
	passing, failing := check{ID: "a", Status: "SUCCESS"}, check{ID: "a", Status: "FAILURE"}
	other := check{ID: "b", Status: "FAILURE"}
	whole, one := expectation{scenario: "s"}, expectation{"s", "a"}
	for name, tt := range map[string]struct {
		checks                          []check
		expected                        []expectation
		passed, failed, excused, strays int
	}{
		"what passes counts":                               {checks: []check{passing}, passed: 1},
		"what fails counts":                                {checks: []check{failing}, failed: 1},
		"a warning is a failure":                           {checks: []check{{ID: "a", Status: "WARNING"}}, failed: 1},
		"skipped and informative checks do not count":      {checks: []check{{ID: "a", Status: "SKIPPED"}, {ID: "b", Status: "INFO"}}},
		"an expected failure of a check":                   {checks: []check{failing}, expected: []expectation{one}, excused: 1},
		"an expected failure of a scenario":                {checks: []check{failing, other}, expected: []expectation{whole}, excused: 2},
		"a check excuses no other":                         {checks: []check{failing, other}, expected: []expectation{one}, excused: 1, failed: 1},
		"an expected failure that passes":                  {checks: []check{passing}, expected: []expectation{one}, failed: 1},
		"a scenario expected to fail that passes":          {checks: []check{passing}, expected: []expectation{whole}, failed: 1},
		"a scenario expected to fail may pass in part":     {checks: []check{passing, other}, expected: []expectation{whole}, excused: 1},
		"of a check that runs twice one failure is enough": {checks: []check{passing, failing}, expected: []expectation{one}, excused: 1},
		"an expectation that meets nothing":                {checks: []check{passing}, expected: []expectation{{"gone", ""}}, passed: 1, strays: 1},
		"the wire's schema applies whatever else does not": {checks: []check{failing, {ID: wireSchema, Status: "FAILURE"}}, expected: []expectation{whole}, excused: 1, failed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge([]result{{revision: revision, scenario: "s", checks: tt.checks}}, tt.expected, true)
			if v.passed[revision] != tt.passed || v.failed[revision] != tt.failed || v.excused[revision] != tt.excused || len(v.strays) != tt.strays {
				t.Errorf("passed %d, failed %d, excused %d, strays %d", v.passed[revision], v.failed[revision], v.excused[revision], len(v.strays))
			}
			if v.good() != (tt.failed == 0 && tt.strays == 0 && tt.passed > 0) {
				t.Errorf("good is %v", v.good())
			}
			var out strings.Builder
			v.print(&out, false)
			if !strings.Contains(out.String(), "\nconformance: 2025-11-25: ") {
				t.Errorf("the last line does not count: %s", out.String())
			}
		})
	}
}

func TestParseExpectations(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want int
		err  string
	}{
		"scenarios and checks":             {text: "server:\n  # why\n  - a # no a\n  - b:c # no c\n", want: 2},
		"two checks of a scenario":         {text: "server:\n  - a:b # no b\n  - a:c # no c\n", want: 2},
		"an entry without its reason":      {text: "server:\n  - a\n", err: "2 is no entry with its reason"},
		"an empty reason":                  {text: "server:\n  - a # \n", err: "2 is no entry with its reason"},
		"an entry that stands there twice": {text: "server:\n  - a # no a\n  - a # no a\n", err: "3 says again"},
		"a check of a scenario named whole": {text: "server:\n  - a # no a\n  - a:b # no b\n",
			err: "3 says again"},
		"another section": {text: "client:\n  - a # no a\n", err: "1 is no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseExpectations(tt.text)
			if tt.err == "" && (err != nil || len(got) != tt.want) {
				t.Errorf("%v, %v", got, err)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	text, err := os.ReadFile("expected-failures.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseExpectations(string(text)); err != nil {
		t.Error(err)
	}
}

func TestUntestable(t *testing.T) {
	for details, want := range map[string]bool{`{"untestable":true,"response":{}}`: true, `{"untestable":false}`: false, `{}`: false, ``: false, `[]`: false} {
		if got := (check{Details: json.RawMessage(details)}).untestable(); got != want {
			t.Errorf("%s: %v", details, got)
		}
	}
}

func TestProxyAddsTheTokenAndNothingElse(t *testing.T) {
	var seen *http.Request
	behind := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r }))
	defer behind.Close()
	front := httptest.NewUnstartedServer(nil)
	serveProxy(t.Context(), front.Listener, behind.Listener.Addr(), "text")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+front.Listener.Addr().String()+"/mcp/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example.com"
	request.Header = http.Header{"Origin": {"http://evil.example.com"}, "Accept-Encoding": {"identity"}, "User-Agent": {"suite"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if seen.Host != request.Host || seen.URL.Path != "/mcp/" || seen.Header.Get("Authorization") != "Bearer text" {
		t.Errorf("%s %s %v", seen.Host, seen.URL, seen.Header)
	}
	seen.Header.Del("Authorization")
	seen.Header.Del("Content-Length")
	if len(seen.Header) != len(request.Header) {
		t.Errorf("headers were added: %v", seen.Header)
	}
}
