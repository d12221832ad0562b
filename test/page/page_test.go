package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/browser"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/node"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// patience ends a test that waits for what never happens.
const patience = 10 * time.Minute

// work is what drive.mjs does with one page.
type work struct {
	Name     string     `json:"name"`
	Link     string     `json:"link"`
	Chromium string     `json:"chromium"`
	Screens  []visit    `json:"screens"`
	Keyboard *string    `json:"keyboard,omitempty"`
	Plain    *visit     `json:"plain,omitempty"`
	Matrices []compared `json:"matrices,omitempty"`
	Act      *act       `json:"act,omitempty"`
	Follow   *follow    `json:"follow,omitempty"`
	// Questions are answered from the first screen. The steps are all that a person needs: a question fails if they do not lead to its answer.
	Questions []question `json:"questions,omitempty"`
	Attack    *attack    `json:"attack,omitempty"`
	Shots     []shot     `json:"shots,omitempty"`
}

// visit is a screen: its path below the root, its status (200 if absent), and texts that it has and lacks. With First it is that of the
// first call in the table of another screen whose row has the text Row, and Path is what stands behind its path.
type visit struct {
	First  string   `json:"first,omitempty"`
	Row    string   `json:"row,omitempty"`
	Path   string   `json:"path"`
	Status int      `json:"status,omitempty"`
	Wants  []string `json:"wants,omitempty"`
	Lacks  []string `json:"lacks,omitempty"`
}

// compared is a matrix: its screen, its JSON, and the file with what the command printed. A command that reads files knows less of
// columns than dev, which asks the database.
type compared struct {
	Path          string `json:"path"`
	JSON          string `json:"json"`
	Printed       string `json:"printed"`
	ColumnsDiffer bool   `json:"columnsDiffer"`
}

type act struct {
	Path string `json:"path"`
	Says string `json:"says"`
	Done string `json:"done"`
}

// follow is a screen of calls that shows a new one without a reload: that which another screen makes.
type follow struct {
	Path  string `json:"path"`
	Calls string `json:"calls"`
	Wants string `json:"wants"`
}

// question is what somebody wants to know or to do. Each step is one click or one key: "click NAME" clicks a link or a button by the text
// that it shows, "open TEXT" the heading of the table's row that has a text, "press KEY" presses a key, and "type TEXT" fills the field that
// has the focus.
type question struct {
	Asks  string   `json:"asks"`
	Steps []string `json:"steps"`
	Wants []string `json:"wants"`
}

type attack struct {
	Site  string `json:"site"`
	Path  string `json:"path"`
	Token string `json:"token"`
}

type shot struct {
	Path   string `json:"path"`
	File   string `json:"file"`
	Mode   string `json:"mode"`
	Height int    `json:"height"`
}

// told is what came of it.
type told struct {
	Passed     int      `json:"passed"`
	Failures   []string `json:"failures"`
	Screens    int      `json:"screens"`
	Violations []string `json:"violations"`
	Cells      int      `json:"cells"`
	First      *struct {
		Bytes int `json:"bytes"`
		MS    int `json:"ms"`
	} `json:"first"`
}

// stage has the programs that the tests run.
type stage struct {
	t                       *testing.T
	chromium, node, program string
	sum                     told
}

// newStage makes them, if the environment asks for it.
func newStage(t *testing.T) *stage {
	t.Helper()
	if os.Getenv("MCP_TEST_PAGE") == "" {
		t.Skip("it takes minutes: make page runs it")
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	s := &stage{t: t, chromium: browser.FindChromium(), program: filepath.Join(t.TempDir(), "mcp-admin")}
	if s.chromium == "" {
		s.check(browser.InstallChromium(ctx))
		s.chromium = browser.FindChromium()
	}
	t.Chdir(project.Root())
	var err error
	s.node, err = node.Find(ctx)
	s.check(err)
	s.check(node.Install(ctx, "test/page"))
	out, err := exec.CommandContext(ctx, "go", "build", "-o", s.program, "./cmd/mcp-admin").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

func (s *stage) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

var link = regexp.MustCompile(`http://\S+/open/\S+`)

// serve runs a command of the program that serves the page until the test ends, and returns the link.
func (s *stage) serve(args ...string) string {
	s.t.Helper()
	return s.run(new(harness.Log), args...)
}

// run does the same, and has what the command prints written to out.
func (s *stage) run(out *harness.Log, args ...string) string {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, s.program, args...)
	c.Stdout, c.Stderr = out, out
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	s.check(c.Start())
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // what it printed tells more
		close(ended)
	}()
	s.t.Cleanup(func() {
		stop()
		<-ended
	})
	for {
		if found := link.FindString(out.String()); found != "" {
			return found
		}
		select {
		case <-ended:
			s.t.Fatalf("%v ends:\n%s", args, out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// print runs a command of the program, and returns the file with what it printed.
func (s *stage) print(args ...string) string {
	s.t.Helper()
	var out, problems bytes.Buffer
	c := exec.CommandContext(s.t.Context(), s.program, args...)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, problems.String())
	}
	file := filepath.Join(s.t.TempDir(), "printed")
	s.check(os.WriteFile(file, out.Bytes(), 0o600))
	return file
}

// drive has Chromium do the work, and adds up what came of it.
func (s *stage) drive(w work) {
	s.t.Helper()
	w.Chromium = s.chromium
	file := filepath.Join(s.t.TempDir(), "work.json")
	content, err := json.Marshal(w)
	s.check(err)
	s.check(os.WriteFile(file, content, 0o600))
	ctx, stop := context.WithTimeout(s.t.Context(), 4*patience)
	defer stop()
	var out, problems bytes.Buffer
	c := exec.CommandContext(ctx, s.node, filepath.Join("test", "page", "drive.mjs"), file)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		s.t.Fatalf("%s: %v\n%s", w.Name, errors.Join(err, ctx.Err()), problems.String())
	}
	fmt.Print(problems.String())
	var came told
	s.check(json.Unmarshal(out.Bytes(), &came))
	for _, failure := range append(came.Failures, came.Violations...) {
		s.t.Error(failure)
	}
	s.sum.Passed += came.Passed
	s.sum.Failures = append(s.sum.Failures, came.Failures...)
	s.sum.Violations = append(s.sum.Violations, came.Violations...)
	s.sum.Screens += came.Screens
	s.sum.Cells += came.Cells
	if came.First != nil {
		fmt.Printf("%s: the first screen has %d bytes, and is there after %d ms\n", w.Name, came.First.Bytes, came.First.MS)
	}
}

// The page, over dev and clusters. The last line says what came of all of it.
func TestThePageInChromium(t *testing.T) {
	s := newStage(t)
	s.overDev()
	small := s.startCluster()
	s.overThree(small)
	s.withoutRights(small)
	s.overCalls(small)
	s.overThousand(small)
	fmt.Printf("page: %d checks passed, %d failed, %d screens, axe %d violations, %d matrix cells equal\n",
		s.sum.Passed, len(s.sum.Failures), s.sum.Screens, len(s.sum.Violations), s.sum.Cells)
}

// overDev is the page over a real database.
func (s *stage) overDev() {
	s.t.Helper()
	const of = "e/bookshop/bookshop"
	start := of
	s.drive(work{
		Name: "dev",
		Link: s.serve("dev", "-f", "config/samples", "--state", s.t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"),
		Screens: []visit{
			{Path: "", Wants: []string{"bookshop/bookshop", "Ready"}},
			{Path: "problems", Wants: []string{"Nothing is wrong"}},
			{Path: of, Wants: []string{"Ready", "The same in a terminal"}, Lacks: []string{"broken"}},
			{Path: of + "/who", Wants: []string{"bookshop/clerk", "clerks-see-what-is-published"}},
			{Path: of + "/who/bookshop/clerk/review", Wants: []string{`rows in which state is "published"`, "group clerks"}},
			{Path: of + "/who-reads?of=review.phone", Wants: []string{"review.phone is masked", "bookshop/owner"}},
			{Path: of + "/models", Wants: []string{"How they belong together", "the database"}},
			{Path: of + "/models?zoom=200", Wants: []string{"review"}},
			{Path: of + "/models/review", Wants: []string{"publish", "masked"}},
			{Path: of + "/nothing", Status: http.StatusNotFound, Wants: []string{"There is no such page"}},
		},
		Keyboard: &start,
		Plain:    &visit{Path: of + "/who", Wants: []string{"clerks-see-what-is-published"}},
		Matrices: []compared{{of + "/who", of + "/matrix.json", s.print("matrix", "-f", "config/samples", "-o", "json"), true}},
	})
}

// site is a site of somebody else.
func (s *stage) site() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><title>Another site</title>")
	}))
	s.t.Cleanup(server.Close)
	return server.URL
}
