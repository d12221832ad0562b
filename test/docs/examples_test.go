package docs

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

var update = flag.Bool("update", false, "write the answers that were given into the documents")

// page is a document with examples, and where the examples are asked: the manifests of a folder, or "" for the
// manifests that the page itself shows.
type page struct{ path, manifests, namespace string }

// withExamples are the documents with examples. Each begins with a new database, and its examples are run in their order.
var withExamples = []page{
	{"docs/start/kind.md", "config/samples", "bookshop"}, {"docs/agents.md", "config/samples", "bookshop"},
	{"docs/agents/models.md", "config/samples", "bookshop"}, {"docs/agents/reading.md", "config/samples", "bookshop"},
	{"docs/agents/conditions.md", "config/samples", "bookshop"}, {"docs/agents/computing.md", "config/samples", "bookshop"},
	{"docs/agents/writing.md", "config/samples", "bookshop"}, {"docs/agents/steps.md", "config/samples", "bookshop"},
	{"docs/actions.md", "config/samples", "bookshop"},
	{"docs/asking/groups.md", "docs/examples/store", "store"}, {"docs/asking/related.md", "docs/examples/store", "store"},
	{"docs/asking/comparing.md", "docs/examples/store", "store"}, {"docs/asking/texts.md", "docs/examples/store", "store"},
	{"docs/tutorials/analyst.md", "", "default"},
	{"docs/tutorials/support.md", "", "default"}, {"docs/tutorials/refunds.md", "", "default"},
}

var (
	// exampleCall is a line that calls a tool: its name and its arguments.
	exampleCall = regexp.MustCompile(`^([a-z]+(?:_[a-z_]+)?) (\{.*\})$`)
	// arrow may stand before an answer.
	arrow = regexp.MustCompile(`^  → (error )?`)
	// caller is a headline that says whose agent calls from there on.
	caller = regexp.MustCompile(`^=== .*\b([a-z]+)'s agent`)
)

func TestEveryExampleGivesTheAnswerBelowIt(t *testing.T) {
	calls := 0
	for _, p := range withExamples {
		t.Run(p.path, func(t *testing.T) {
			text := read(t, p.path)
			blocks := blocksOf(t, p.path)
			for _, b := range blocks {
				switch {
				case b.Info == "" && len(examples(b)) == 0:
					t.Errorf("line %d: a block without a call needs an info string, such as ```yaml or ```text", b.Line)
				case b.Info != "" && b.NotRun == "" && len(examples(b)) > 0:
					t.Errorf("line %d: a call that is not run needs a reason: ```text norun: REASON", b.Line)
				}
			}
			shop := open(t, p, withStructuredContent(t, manifestsOf(t, p)))
			for _, b := range blocks {
				if b.Info != "" {
					continue
				}
				done.ran++
				for _, e := range examples(b) {
					calls++
					got := shop.call(t, e)
					if shop.fits(e.answer, got) {
						continue
					}
					if *update {
						call := e.tool + " " + e.arguments + "\n"
						text = strings.Replace(text, call+e.text, call+e.prefix+got, 1)
						continue
					}
					t.Errorf("line %d: %s %s\n answered %s\ninstead of %s", e.line, e.tool, e.arguments, got, e.answer)
				}
			}
			if *update {
				if err := os.WriteFile(filepath.Join(root, p.path), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if calls < 40 {
		t.Errorf("only %d examples were found", calls)
	}
}

// example is a call and its answer, as a page shows them.
type example struct {
	line                    int
	caller, tool, arguments string
	// text is the answer as it stands in the page, prefix what stands before it, answer the JSON.
	text, prefix, answer string
}

func examples(b pages.Block) []example {
	var examples []example
	who, open := "owner", false
	for i, line := range b.Lines {
		call := exampleCall.FindStringSubmatch(line)
		headline := caller.FindStringSubmatch(line)
		switch {
		case headline != nil:
			who, open = headline[1], false
		case strings.HasPrefix(line, "==="):
			who, open = "owner", false
		case call != nil:
			examples, open = append(examples, example{line: b.Line + 1 + i, caller: who, tool: call[1], arguments: call[2]}), true
		case line == "":
			open = false
		case open:
			e := &examples[len(examples)-1]
			if e.text != "" {
				e.text += "\n"
			} else {
				e.prefix = arrow.FindString(line)
			}
			e.text += line
			e.answer += strings.TrimPrefix(line, e.prefix)
		}
	}
	return examples
}

// fits reports whether a page shows this answer. What differs from run to run is kept, so that later
// calls of the page can name it.
func (s *bookshop) fits(shown, given string) bool {
	var a, b any
	if json.Unmarshal([]byte(shown), &a) != nil || json.Unmarshal([]byte(given), &b) != nil {
		return false
	}
	return s.same("", a, b)
}

func (s *bookshop) same(key string, shown, given any) bool {
	switch a := shown.(type) {
	case map[string]any:
		b, ok := given.(map[string]any)
		if _, told := a["call"]; !told {
			delete(b, "call") // every change has one: the pages show it where it matters
		}
		if !ok || len(a) != len(b) {
			return false
		}
		same := true
		for name, value := range a {
			other, ok := b[name]
			same = ok && s.same(name, value, other) && same
		}
		return same
	case []any:
		b, ok := given.([]any)
		if last := len(a) - 1; ok && last >= 0 && a[last] == "…" && last <= len(b) { // what follows is left out
			a, b = a[:last], b[:last]
		}
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !s.same(key, a[i], b[i]) {
				return false
			}
		}
		return true
	case string:
		b, ok := given.(string)
		return ok && s.sameText(key, a, b)
	}
	return shown == given
}

// sameText compares texts; "…" stands for anything.
func (s *bookshop) sameText(key, shown, given string) bool {
	switch key {
	case "next_cursor", "confirmation_token", "call":
		s.differing[shown] = given
		return given != ""
	case "action_time":
		return len(shown) == len(given)
	case "token":
		shown, _, _ = strings.Cut(shown, " as ") // the demo's clerk is a ServiceAccount; without a cluster it has a text
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), "…", "(?s:.*)")
	return regexp.MustCompile("^" + pattern + "$").MatchString(given)
}
