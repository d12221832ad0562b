package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named are the constants that the pages on troubleshooting have an entry for: a folder, and how the constants' names begin.
var named = []struct{ folder, prefix string }{
	{"api/v1alpha1", "Reason"}, {"contract", "Reason"}, {"server/tools/call", "Code"},
}

var (
	// entry is a heading of one word, and the paragraph below it.
	entry = regexp.MustCompile(`(?m)^### (\S+)\n((?:.+\n)+)`)
	// row is a line of the tables of codes, and of reasons with which nothing is wrong: the words, and what they mean.
	row = regexp.MustCompile("(?m)^\\| (`.*`) \\| (.+) \\|$")
)

func TestTroubleshootingHasAnEntryForEveryReasonAndCode(t *testing.T) {
	known := map[string]bool{}
	for _, n := range named {
		for _, value := range constants(t, n.folder, n.prefix) {
			known[value] = true
		}
	}
	if len(known) < 70 {
		t.Fatalf("only %d reasons and codes were found", len(known))
	}
	index := read(t, "docs/troubleshooting.md")
	page := read(t, "docs/troubleshooting/endpoint.md") + read(t, "docs/troubleshooting/objects.md")
	told := map[string]bool{}
	tell := func(word, text string) {
		if told[word] {
			t.Errorf("%s is there twice", word)
		}
		told[word] = true
		if !known[word] {
			t.Errorf("%s is no reason of a condition and no code of an error", word)
		}
		if len(strings.Fields(text)) < 6 {
			t.Errorf("%s does not say what it means and what to do: %s", word, text)
		}
	}
	for _, match := range entry.FindAllStringSubmatch(page, -1) {
		tell(match[1], match[2])
		if !strings.Contains(index, "["+match[1]+"](troubleshooting/") {
			t.Errorf("docs/troubleshooting.md has no link to the entry of %s", match[1])
		}
	}
	if headings := strings.Count(page, "\n### "); headings != len(told) {
		t.Errorf("%d headings are there, and %d have a paragraph below them", headings, len(told))
	}
	_, codes, _ := strings.Cut(index, "\n## Errors of tools\n")
	codes, _, _ = strings.Cut(codes, "\n## ")
	_, fine, _ := strings.Cut(index, "\n## Nothing is wrong\n")
	if strings.Contains(fine, "\n## ") {
		t.Error(`"Nothing is wrong" is not the last part: what is wrong comes first`)
	}
	for _, match := range row.FindAllStringSubmatch(codes+fine, -1) {
		for word := range strings.SplitSeq(match[1], ", ") {
			tell(strings.Trim(word, "`"), match[2])
		}
	}
	for _, word := range slices.Sorted(maps.Keys(known)) {
		if !told[word] {
			t.Errorf("no page on troubleshooting tells of %s", word)
		}
	}
}

// constants are the values of a folder's text constants whose names begin with a prefix.
func constants(t *testing.T, folder, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
			return true
		})
	}
	return values
}
