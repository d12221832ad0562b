package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// shown is a block of a page with a command that runs, and what it prints.
var shown = regexp.MustCompile("(?m)^```text\n\\$ mcp-admin ([^\n]*)\n((?s:.*?))^```$")

func TestTheDocumentShowsWhatIsPrinted(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shown.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Errorf("only %d blocks were found", len(blocks))
	}
	t.Chdir("../..")
	for _, b := range blocks {
		if printed := run(t, append([]string{"mcp-admin"}, strings.Fields(b[1])...)...); printed != b[2] {
			t.Errorf("mcp-admin %s prints\n%s\ninstead of\n%s", b[1], printed, b[2])
		}
	}
}

func TestEachClientIsInTheDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(run(t, "mcp-admin", "connect", "--help"), "The clients are: ")
	list, _, _ = strings.Cut(list, ".\n")
	for _, client := range strings.Split(list, ", ") {
		if !strings.Contains(string(page), "| `"+client+"` |") {
			t.Errorf("the client %q is not in the document", client)
		}
	}
}
