package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

var (
	sigmaID   = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	sigmaName = regexp.MustCompile(`^mcp_admin_[a-z_]+$`)
)

// What the specification's JSON schemas ask for, and what an analyst needs.
func TestEachSigmaRuleHasItsForm(t *testing.T) {
	ids := map[string]bool{}
	for file, rules := range readSigma(t) {
		for i, r := range rules {
			if !sigmaID.MatchString(r.ID) || ids[r.ID] {
				t.Errorf("%s has the id %q, which is none or there twice", file, r.ID)
			}
			ids[r.ID] = true
			if _, err := time.Parse(time.DateOnly, r.Date); err != nil || r.Title == "" || len(r.Title) > 256 || r.Description == "" || r.Author == "" || len(r.Falsepositives) == 0 ||
				r.Status != "experimental" || !slices.Contains([]string{"informational", "low", "medium", "high", "critical"}, r.Level) {
				t.Errorf("%s, %q: a field is missing or has another form: %+v", file, r.Title, r)
			}
			switch c := r.Correlation; {
			case i == 0 && (c != nil || r.Detection["condition"] == nil || !sigmaName.MatchString(r.Name) || r.Logsource.Product != "mcp-admin" || r.Logsource.Service != "audit" || len(r.Fields) == 0):
				t.Errorf("%s does not begin with a rule that selects: %+v", file, r)
			case i == 1 && (c == nil || r.Detection != nil || c.Type != "event_count" || len(c.Rules) != 1 || c.Rules[0] != rules[0].Name || len(c.GroupBy) == 0 || c.Condition.GTE < 2):
				t.Errorf("%s does not count what it selects: %+v", file, r)
			case i > 1:
				t.Errorf("%s has %d documents", file, len(rules))
			}
		}
	}
}

// servedLines are the lines that a real server writes of lists, exports and refused calls, and those about refused callers that are kept in
// testdata.
func servedLines(t *testing.T) []line {
	t.Helper()
	database, _ := harness.Engines[0].Open(t, bookRows(60))
	token, text := harness.Viewer()
	for i := range token.Rules {
		token.Rules[i].Verbs = append(token.Rules[i].Verbs, "export")
	}
	endpoint := harness.Serve(t, database, []contract.Model{{Name: "book", Table: "book"}}, []contract.Token{token},
		func(c *contract.Config) { c.Endpoint.AuditLines.Reads = contract.AuditSummary })
	if answer, isError := endpoint.Call(text, "list_book", `{"limit":50}`); isError {
		t.Fatal(answer)
	}
	if answer, isError := endpoint.Call(text, "get_book", `{"id":999}`); !isError {
		t.Fatal(answer)
	}
	answer, isError := endpoint.Call(text, "list_book", `{"export":"csv"}`)
	if isError {
		t.Fatal(answer)
	}
	fetchExport(t, answer)
	var lines []line
	written := endpoint.Log.Lines(`"msg":"audit"`)
	for end := time.Now().Add(patience); !strings.Contains(strings.Join(written, "\n"), `"operation":"export:list"`) || !strings.Contains(written[len(written)-1], `"ok"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the export has no line: %v", written)
		}
		written = endpoint.Log.Lines(`"msg":"audit"`)
	}
	for _, text := range append(written, strings.Split(strings.TrimSpace(read(t, "testdata/refused.jsonl")), "\n")...) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// bookRows is the script of a table with so many books.
func bookRows(books int) string {
	var script strings.Builder
	script.WriteString("CREATE TABLE book (id INTEGER PRIMARY KEY, title VARCHAR(20));")
	for i := range books {
		fmt.Fprintf(&script, "INSERT INTO book VALUES (%d, 'book %d');", i+1, i+1)
	}
	return script.String()
}

// fetchExport fetches the file whose link an answer has.
func fetchExport(t *testing.T, answer string) {
	t.Helper()
	var exported struct{ Export struct{ URI string } }
	if err := json.Unmarshal([]byte(answer), &exported); err != nil {
		t.Fatalf("%v %s", err, answer)
	}
	file, err := http.Get(exported.Export.URI)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, file.Body)
	_ = file.Body.Close()
}

// repeated is a line so many times, each some time after the one before it, from a time of a day in UTC, with other members.
func repeated(l line, times int, from string, step time.Duration, other line) []line {
	at, _ := time.Parse(time.RFC3339, "2026-11-27T"+from+"Z")
	var all []line
	for range times {
		c := line{}
		for _, members := range []line{l, other} {
			for name, value := range members {
				c[name] = value
			}
		}
		c["time"] = at.Format(time.RFC3339Nano)
		all, at = append(all, c), at.Add(step)
	}
	return all
}

func TestEachSigmaRuleFindsWhatItIsForAndNothingElse(t *testing.T) {
	lines := servedLines(t)
	the := func(members line) line {
		t.Helper()
		for _, l := range lines {
			all := true
			for name, value := range members {
				all = all && fmt.Sprint(l[name]) == fmt.Sprint(value)
			}
			if all {
				return l
			}
		}
		t.Fatalf("no line has %v: %v", members, lines)
		return nil
	}
	list, missing := the(line{"operation": "list", "rows": 50}), the(line{"outcome": "not_found"})
	export := the(line{"operation": "export:list", "outcome": "ok"})
	inactive, expired, unknown := the(line{"cause": "inactive"}), the(line{"cause": "expired"}), the(line{"cause": "unknown"})
	rules := readSigma(t)
	for file, cases := range map[string]map[string]struct {
		lines []line
		fires bool
	}{
		"many_refusals.yml": {
			"twenty within five minutes":    {repeated(unknown, 20, "13:00:00", 10*time.Second, nil), true},
			"nineteen":                      {repeated(unknown, 19, "13:00:00", 10*time.Second, nil), false},
			"twenty within an hour":         {repeated(unknown, 20, "13:00:00", 3*time.Minute, nil), false},
			"twenty from two addresses":     {append(repeated(unknown, 10, "13:00:00", time.Second, nil), repeated(unknown, 10, "13:01:00", time.Second, line{"address": "10.0.0.2"})...), false},
			"twenty calls that find no row": {repeated(missing, 20, "13:00:00", time.Second, nil), false},
		},
		"use_after_revocation.yml": {
			"a token that is not active": {[]line{inactive}, true},
			"a token that expired":       {[]line{expired}, true},
			"a text that is no token":    {[]line{unknown}, false},
			"a call":                     {[]line{list, missing}, false},
		},
		"many_exports.yml": {
			"five":               {repeated(export, 5, "13:00:00", time.Minute, nil), true},
			"four":               {repeated(export, 4, "13:00:00", time.Minute, nil), false},
			"five in a day":      {repeated(export, 5, "08:00:00", time.Hour, nil), false},
			"five of two tokens": {append(repeated(export, 3, "13:00:00", time.Minute, nil), repeated(export, 2, "13:03:00", time.Minute, line{"token": "test/other"})...), false},
			"lists":              {repeated(list, 50, "13:00:00", time.Second, nil), false},
		},
		"many_rows_at_night.yml": {
			"page after page at night":       {repeated(list, 20, "23:10:00", time.Second, nil), true},
			"page after page by day":         {repeated(list, 20, "13:10:00", time.Second, nil), false},
			"until the morning":              {repeated(list, 38, "04:40:30", time.Minute, nil)[:20], true},
			"after the night":                {repeated(list, 20, "05:00:00", time.Second, nil), false},
			"small pages at night":           {repeated(list, 20, "23:10:00", time.Second, line{"rows": 49.0}), false},
			"a job that works at night":      {repeated(list, 20, "23:10:00", time.Second, line{"token": "night-jobs/report"}), false},
			"twenty pages all night through": {repeated(list, 20, "00:00:00", 10*time.Minute, nil), false},
		},
	} {
		if rules[file] == nil {
			t.Errorf("there is no %s", file)
			continue
		}
		for name, c := range cases {
			if got := fires(t, rules[file], c.lines); got != c.fires {
				t.Errorf("%s, %s: fires is %t", file, name, got)
			}
		}
		delete(rules, file)
	}
	for file := range rules {
		t.Errorf("%s is not tried", file)
	}
}
