package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// good is a conversation in which all went well.
func good(c client) (lines []line) {
	for _, s := range stepsOf(c) {
		lines = append(lines, line{Step: s.name, Value: json.RawMessage(`{"answer":` + s.proof + `}`)})
	}
	return lines
}

func TestJudge(t *testing.T) {
	c := client{name: "a", version: initializeEra}
	whole := good(c)
	change := func(i int, l line) []line {
		lines := slices.Clone(whole)
		lines[i] = l
		return lines
	}
	for name, tt := range map[string]struct {
		lines  []line
		err    error
		failed int
		says   string
	}{
		"all went well":               {lines: whole},
		"an error ends it":            {lines: append(slices.Clone(whole[:8]), line{Step: "prompts/get", Error: "boom"}), failed: 2, says: "prompts/get: boom"},
		"an answer of something else": {lines: change(2, line{Step: "tools/call", Value: []byte(`{}`)}), failed: 1, says: "there is no Solaris"},
		"another version":             {lines: change(0, line{Step: "connect", Value: []byte(`"2024-11-05"`)}), failed: 1, says: "there is no 2025-11-25"},
		"steps in another order":      {lines: change(1, whole[2]), failed: 1, says: "told of tools/call instead"},
		"the program failed":          {err: errors.New("exit status 1"), failed: len(whole) + 1, says: "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := row{client: c}
			r.judge(tt.lines, tt.err)
			if len(r.failures) != tt.failed || tt.err == nil && r.passed != len(whole)-tt.failed {
				t.Errorf("%d passed, failures %q", r.passed, r.failures)
			}
			if !strings.Contains(strings.Join(r.failures, "\n"), tt.says) {
				t.Errorf("nobody says %q: %q", tt.says, r.failures)
			}
		})
	}
}

func TestJudgeRefusal(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []line
		err   error
		good  bool
	}{
		"the server's own words":   {lines: []line{{Step: "connect", Error: `HTTP: {"error":"Invalid or missing authentication token"}`}}, good: true},
		"the status":               {lines: []line{{Step: "connect", Error: "HTTP 401"}}, good: true},
		"its name":                 {lines: []line{{Step: "connect", Error: "Unauthorized"}}, good: true},
		"an error without a cause": {lines: []line{{Step: "connect", Error: "transport closed"}}},
		"it got in":                {lines: []line{{Step: "connect", Value: []byte(`"2025-11-25"`)}}},
		"it only noticed later":    {lines: []line{{Step: "connect"}, {Step: "tools/list", Error: "401"}}},
		"it hung":                  {err: errors.New("no answer within 5m0s")},
	} {
		t.Run(name, func(t *testing.T) {
			r := row{}
			r.judgeRefusal(tt.lines, tt.err)
			if (r.passed == 1) != tt.good || (len(r.failures) == 0) != tt.good {
				t.Errorf("%d passed, failures %q", r.passed, r.failures)
			}
		})
	}
}

func TestReportCounts(t *testing.T) {
	var out strings.Builder
	if printReport(&out, []row{{passed: 3}, {passed: 4, failures: []string{"boom"}}}) {
		t.Error("a failure is no success")
	}
	if !strings.HasSuffix(out.String(), "\n7 passed, 1 failed\nclients: 2 clients and versions: 7 passed, 1 failed\n") || !strings.Contains(out.String(), "boom") {
		t.Errorf("it printed %q", out.String())
	}
	if printReport(&out, nil) {
		t.Error("nothing at all is no success")
	}
}
