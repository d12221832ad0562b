package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// clock is a clock that only moves when it is told to, and a nanosecond with each look.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(1)
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)} }

// filesIn returns the contents of the folder's files, the oldest first.
func filesIn(t *testing.T, dir string) (contents []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(filepath.Base(a)[strings.LastIndex(filepath.Base(a), "-")+1:], filepath.Base(b)[strings.LastIndex(filepath.Base(b), "-")+1:])
	})
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(text))
	}
	return contents
}

func write(t *testing.T, f *audit.Folder, line string) {
	t.Helper()
	if _, err := f.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
}

func TestAFileEndsWhenItIsFullOrItsDayIsOver(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "claim", "shop"), newClock()
	f := audit.NewFolder(dir, "shop-mcp-7d9f-x2", c.now)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxFileBytes: 10})
	for _, line := range []string{"one", "two", "three", "a line that is longer than a file may be", "four"} {
		write(t, f, line)
	}
	c.pass(14 * time.Hour)
	write(t, f, "five")
	want := []string{"one\ntwo\n", "three\n", "a line that is longer than a file may be\n", "four\n", "five\n"}
	if got := filesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// age sets the time of a server's files.
func age(t *testing.T, dir, server string, at time.Time) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "audit-"+server+"-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOldFilesAreRemovedAndNoneThatIsInUse(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	start := c.now()
	gone, other := audit.NewFolder(dir, "gone", c.now), audit.NewFolder(dir, "other", c.now)
	write(t, gone, "of a server that is gone")
	age(t, dir, "gone", start)
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("not an audit file"), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, dir, "gone", start)
	c.pass(100 * 24 * time.Hour)
	write(t, other, "today")
	age(t, dir, "other", c.now())
	f := audit.NewFolder(dir, "shop", c.now)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxAge: 90 * 24 * time.Hour})
	write(t, f, "now")
	left := strings.Join(filesIn(t, dir), "")
	if strings.Contains(left, "gone") || !strings.Contains(left, "today") || !strings.Contains(left, "not an audit file") {
		t.Errorf("there are %q", left)
	}
	write(t, other, "and once more")
	if left := strings.Join(filesIn(t, dir), ""); !strings.Contains(left, "and once more") {
		t.Errorf("a file in use was removed: %q", left)
	}
}

func TestTheOldestOfTooManyAreRemoved(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	f := audit.NewFolder(dir, "shop", c.now)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxFileBytes: 10, MaxTotalBytes: 40})
	for i := range 20 {
		write(t, f, fmt.Sprintf("line %03d", i))
	}
	got := filesIn(t, dir)
	if len(got) > 4 || got[len(got)-1] != "line 019\n" || strings.Contains(strings.Join(got, ""), "line 003") {
		t.Errorf("got %q", got)
	}
}

// The bound holds after each line, not only when a file is full; and what is older goes first, whosever it is.
func TestTheFolderIsBoundedBetweenNewFiles(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	gone := audit.NewFolder(dir, "gone", c.now)
	write(t, gone, strings.Repeat("x", 299))
	age(t, dir, "gone", c.now())
	c.pass(2 * time.Hour)
	f := audit.NewFolder(dir, "shop", c.now)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxFileBytes: 300, MaxTotalBytes: 1000})
	for i := range 200 {
		write(t, f, fmt.Sprintf("line %04d", i))
		age(t, dir, "shop", c.now())
		got := strings.Join(filesIn(t, dir), "")
		if len(got) > 1000 {
			t.Fatalf("after line %d there are %d bytes, want 1000 at most", i, len(got))
		}
		if !strings.Contains(got, "line 0000\n") && strings.Contains(got, "xxx") {
			t.Fatalf("after line %d an older file is there, and the first line is not", i)
		}
	}
	if got := filesIn(t, dir); len(strings.Join(got, "")) < 600 {
		t.Errorf("only %d bytes are left", len(strings.Join(got, "")))
	}
}

// A server that did not write for long finds its file removed, and writes to another one.
func TestAFileThatAnotherServerRemovedGetsNoMoreLines(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	quiet, busy := audit.NewFolder(dir, "quiet", c.now), audit.NewFolder(dir, "busy", c.now)
	defer quiet.Close()
	defer busy.Close()
	write(t, quiet, strings.Repeat("q", 99))
	age(t, dir, "quiet", c.now())
	c.pass(2 * time.Hour)
	busy.Limit(audit.FolderLimits{MaxFileBytes: 100, MaxTotalBytes: 400})
	for range 4 {
		write(t, busy, strings.Repeat("b", 89))
	}
	if got := strings.Join(filesIn(t, dir), ""); strings.Contains(got, "q") {
		t.Fatalf("the quiet server's file is there: %q", got)
	}
	write(t, quiet, "and again")
	if got := strings.Join(filesIn(t, dir), ""); !strings.Contains(got, "and again\n") {
		t.Errorf("the line is lost: %q", got)
	}
}

func TestWithoutBoundsNothingIsRemoved(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	f := audit.NewFolder(dir, "shop", c.now)
	defer f.Close()
	for i := range 5 {
		write(t, f, fmt.Sprint(i))
		c.pass(1000 * 24 * time.Hour)
	}
	if got := filesIn(t, dir); len(got) != 5 {
		t.Errorf("got %q", got)
	}
}

func TestAFolderThatCannotBeWrittenToSaysSo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := audit.NewFolder(dir, "shop", nil)
	if _, err := f.Write([]byte("line\n")); err == nil {
		t.Fatal("got no error")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	write(t, f, "the next one")
	if got := filesIn(t, dir); !slices.Equal(got, []string{"the next one\n"}) {
		t.Errorf("got %q", got)
	}
}

func TestLinesOfManyCallsStayWhole(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	f := audit.NewFolder(dir, "shop", c.now)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxFileBytes: 1000})
	var all sync.WaitGroup
	line := strings.Repeat("x", 99)
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, err := f.Write([]byte(line + "\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	found := 0
	for _, text := range filesIn(t, dir) {
		if len(text) > 1000 {
			t.Errorf("a file has %d bytes, want 1000 at most", len(text))
		}
		for got := range strings.Lines(text) {
			if found++; got != line+"\n" {
				t.Errorf("got the line %q", got)
			}
		}
	}
	if found != 800 {
		t.Errorf("got %d lines, want 800", found)
	}
}
