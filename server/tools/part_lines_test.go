package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// toldLines are the audit's lines since the last look, each as "tool outcome".
func (l *library) toldLines() (told []string) {
	l.t.Helper()
	for text := range bytes.Lines(l.log.Bytes()) {
		var line struct{ Tool, Outcome string }
		if err := json.Unmarshal(text, &line); err != nil {
			l.t.Fatal(err)
		}
		told = append(told, line.Tool+" "+line.Outcome)
	}
	l.log.Reset()
	return told
}

// The lines about the parts of a call tell what is in the database: with a key, all is committed after the last part was run.
func TestPartsHaveTheirLinesAfterTheCommit(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		expect := func(what string, want ...string) {
			t.Helper()
			if got := l.toldLines(); !slices.Equal(got, want) {
				t.Errorf("%s: the lines are %q, want %q", what, got, want)
			}
		}
		create := func(vendor, key string) string {
			return `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},{"tool":"create_offer","arguments":{"data":{"vendor_id":` + vendor + `}}}]` + key + `}`
		}
		const key = `,"idempotency_key":"k"`
		for _, k := range []string{"", key} {
			if r := l.call(ownerText, "transact", create("9", k)); !r.IsError {
				t.Fatalf("a constraint is broken: %s", r.Text)
			}
			told := l.toldLines()
			if slices.ContainsFunc(told, func(line string) bool { return strings.HasSuffix(line, " ok") }) || !slices.Contains(told, "transact validation_error") {
				t.Errorf("key %q: the lines about what was undone are %q", k, told)
			}
		}
		first := l.call(ownerText, "transact", create("1", key))
		if first.IsError {
			t.Fatalf("%s (%v)", first.Text, first.Cause)
		}
		expect("a key's first call", "create_author ok", "create_offer ok", "transact ok")
		l.must(ownerText, "transact", create("1", key))
		expect("a repetition", "transact ok")
		l.must(ownerText, "undo", `{"call":"`+value(first, "call")+`","idempotency_key":"u"}`)
		expect("an undo", "delete_offer ok", "delete_author ok", "undo ok")
	}, withAnswers)
}

// fullFor is an output of the audit that takes no lines about a tool.
type fullFor struct {
	tool string
	bytes.Buffer
}

func (w *fullFor) Write(line []byte) (int, error) {
	if strings.Contains(string(line), `"tool":"`+w.tool+`"`) {
		return 0, errors.New("no space left")
	}
	return w.Buffer.Write(line)
}

// What a step has read is not shown without its line. What the others have changed stays, with a key too.
func TestStepsWhoseReadHasNoLine(t *testing.T) {
	for _, key := range []string{"", `,"idempotency_key":"k"`} {
		l := newLibrary(t, withAnswers)
		l.set.settings.Audit = audit.NewLog(&fullFor{tool: "get_author"})
		l.set.settings.AuditReads, l.set.settings.AuditRequired = contract.AuditSummary, true
		steps := `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},{"tool":"get_author","arguments":{"id":1}}]` + key + `}`
		r := l.call(ownerText, "transact", steps)
		if !strings.Contains(string(r.Text), "the steps were done and stay") || strings.Contains(string(r.Text), "Herbert") {
			t.Errorf("key %q: %s", key, r.Text)
		}
		if got := l.authors(); got != 3.0 {
			t.Errorf("key %q: there are %v authors, want 3", key, got)
		}
		if key == "" {
			continue
		}
		l.set.settings.Audit = audit.NewLog(l.log)
		if again := l.call(ownerText, "transact", steps); again.IsError || !strings.Contains(string(again.Text), "cannot be shown") || strings.Contains(string(again.Text), "Herbert") {
			t.Errorf("the repetition is answered %s", again.Text)
		}
	}
}
