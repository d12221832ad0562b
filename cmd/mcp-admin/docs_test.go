package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/program"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
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

// shownWith is such a block that needs what only these tests have.
func shownWith(t *testing.T, reason string) [][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?m)^```text norun: "+reason+"\n\\$ mcp-admin ([^\n]*)\n((?s:.*?))^```$").FindAllStringSubmatch(string(page), -1)
}

func TestTheDocumentShowsWhatLintFinds(t *testing.T) {
	blocks := shownWith(t, "the tests of cmd/mcp-admin have that file")
	if len(blocks) != 1 {
		t.Fatalf("%d blocks were found", len(blocks))
	}
	t.Chdir("testdata/wrong")
	var out harness.Log
	command := program.New("mcp-admin")
	command.SetArgs(strings.Fields(blocks[0][1]))
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.ExecuteContext(t.Context())
	if err == nil || out.String()+"mcp-admin: "+err.Error()+"\n" != blocks[0][2] {
		t.Errorf("mcp-admin %s prints\n%s%v\ninstead of\n%s", blocks[0][1], out.String(), err, blocks[0][2])
	}
}

// testDocument runs the commands for clusters that the document shows. Their output may have more lines than it shows.
func (w *world) testDocument(t *testing.T) {
	for _, total := range []string{"31", "30"} { // for tail; the rows are as before
		w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total="+total, "-n", "shop")
	}
	wrong := &v1alpha1.MCPModelExposure{ObjectMeta: objectMeta("wrong")}
	wrong.Spec.EndpointRef.Name, wrong.Spec.Table.Name = "shop", "order"
	w.create(wrong)
	w.eventually("the exposure of the document's example is found wrong", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err != nil && strings.Contains(out, "TableNotFound")
	})
	blocks := shownWith(t, "the tests of cmd/mcp-admin run it in a cluster")
	if len(blocks) < 4 {
		t.Errorf("only %d blocks were found", len(blocks))
	}
	for _, b := range blocks {
		out, err := w.command(strings.Fields(b[1])...)
		if err != nil {
			out += "mcp-admin: " + err.Error() + "\n"
		}
		printed := strings.Split(same(out), "\n")
		for line := range strings.Lines(b[2]) {
			i := slices.Index(printed, strings.TrimSuffix(same(line), "\n"))
			if i < 0 {
				t.Errorf("mcp-admin %s prints\n%s\nwhich lacks the line\n%s", b[1], out, line)
				break
			}
			printed = printed[i+1:]
		}
	}
	w.check(w.k8s.Delete(context.Background(), wrong))
	w.eventually("nothing is wrong again", func() bool {
		_, err := w.command("doctor", "-n", "shop")
		return err == nil
	})
}

func TestEachClientIsInTheDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(run(t, "mcp-admin", "connect", "--help"), "The clients are: ")
	list, _, _ = strings.Cut(list, ".\n")
	for _, client := range strings.Split(list, ", ") {
		if !strings.Contains(string(page), "`"+client+"`") {
			t.Errorf("the client %q is not in the document", client)
		}
	}
}

// run runs the program, whose name comes first, and returns what it printed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	command := program.New(args[0])
	command.SetArgs(args[1:])
	command.SetOut(&out)
	command.SetErr(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}
