package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// tally counts what was done with the documents' blocks. The tests of this package do not run in parallel.
type tally struct {
	ran, checked int
	// notRun counts blocks by the reason.
	notRun map[string]int
}

var done = tally{notRun: map[string]int{}}

func TestMain(m *testing.M) {
	begun := time.Now()
	code := m.Run()
	if os.Getenv("MCP_TEST_DOCS") != "" {
		fmt.Print(done.reasons())
		fmt.Printf("documents: %d blocks run, %d checked, %d not run, in %d s\n", done.ran, done.checked, done.left(), int(time.Since(begun).Seconds()))
	}
	os.Exit(code)
}

func (t *tally) left() int {
	sum := 0
	for count := range maps.Values(t.notRun) {
		sum += count
	}
	return sum
}

func (t *tally) reasons() string {
	var b strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(t.notRun)) {
		fmt.Fprintf(&b, "not run: %3d  %s\n", t.notRun[reason], reason)
	}
	return b.String()
}

// documents are the pages whose blocks are run or checked.
func documents(t *testing.T) []string {
	return slices.DeleteFunc(filesOf(t, ".md"), func(file string) bool {
		return file != "README.md" && file != "SECURITY.md" && !strings.HasPrefix(file, "docs/")
	})
}

// blocksOf are the blocks of a page.
func blocksOf(t *testing.T, path string) []pages.Block {
	t.Helper()
	blocks, err := pages.Blocks(read(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return blocks
}

// shown are the languages of blocks that are there to be read: output, code of other programs, pictures. Blocks of calls have
// none, and are run with the page's server.
var shown = []string{"", "text", "go", "ts", "python", "toml", "mermaid", "json", "yaml", "sql", "sh"}

func TestEveryBlockIsRunOrSaysWhyNot(t *testing.T) {
	for _, path := range documents(t) {
		for _, b := range blocksOf(t, path) {
			if !slices.Contains(shown, b.Language) {
				t.Errorf("%s, line %d: what %q is no test knows; docs/testing/documents.md lists what can stand there", path, b.Line, b.Language)
			}
			if b.NotRun != "" {
				done.notRun[b.NotRun]++
			}
		}
	}
}

// programs is a folder with the project's programs, for the commands of the documents.
func programs(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := pages.Build(t.Context(), root, folder, "./cmd/mcp-admin"); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestEveryCommandOfAPageDoesWhatItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs and starts servers")
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	built := programs(t)
	for _, path := range documents(t) {
		blocks := blocksOf(t, path)
		if !slices.ContainsFunc(blocks, runs) {
			continue
		}
		t.Run(path, func(t *testing.T) {
			if taken := pages.Taken(); taken != "" && slices.ContainsFunc(blocks, func(b pages.Block) bool { return b.Until != "" && runs(b) }) {
				t.Skipf("%s is taken by another program of this machine, and the page uses it", taken)
			}
			s := pages.NewSession(t.TempDir(), checkout, built)
			s.Given = map[string]string{"MCP_ADMIN_DSN": shop(t)}
			if slices.ContainsFunc(blocks, func(b pages.Block) bool { return b.Served }) {
				s.Environment = append(s.Environment, served(t, path)...)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			runPage(t, s, blocks)
		})
	}
}

// served are the variables that lead to the server of a page with examples, as its owner.
func served(t *testing.T, path string) []string {
	t.Helper()
	i := slices.IndexFunc(withExamples, func(p page) bool { return p.path == path })
	if i < 0 {
		t.Fatal("the page has no server: it has no examples")
	}
	server := open(t, withExamples[i], manifestsOf(t, withExamples[i]))
	return []string{"URL=" + server.url, "TOKEN=" + server.token(t, "owner")}
}

// runs reports whether a block's commands are run here.
func runs(b pages.Block) bool { return b.Language == "sh" && b.NotRun == "" && b.Needs == "" }

func runPage(t *testing.T, s *pages.Session, blocks []pages.Block) {
	printed := ""
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.NotRun != "":
			continue
		case b.Needs == "cluster":
			done.notRun["it needs a cluster; make five-minutes has one"]++
			continue
		case b.Needs != "":
			continue // another test has it
		case b.Language == "text" && i > 0 && runs(blocks[i-1]):
			if !pages.Fits(b.Text(), printed) {
				t.Errorf("line %d: what stands there is not what was printed:\n%s", b.Line, printed)
			}
			done.checked++
			continue
		}
		output, err := s.Run(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if printed = output; runs(*b) {
			done.ran++
			t.Logf("line %d:\n%s", b.Line, output)
		}
	}
}
