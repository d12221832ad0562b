// Package fiveminutes times what somebody has to do from nothing to the first answer in a real MCP client. All commands
// and files are taken from the quick starts in the documents.
package fiveminutes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// way is one way from nothing to an answer, and what it took.
type way struct {
	// commands and lines count what a person types or pastes: commands, and lines of files and of values of their own.
	commands, lines int
	// install is until the program is there, answer from then to the first answer; both are 0 if the way was only counted.
	install, answer time.Duration
}

func (w *way) String() string {
	if w.answer == 0 {
		return fmt.Sprintf("%d commands and %d lines by hand, not run", w.commands, w.lines)
	}
	return fmt.Sprintf("%d commands and %d lines by hand, %.1f s to install, %.1f s to the answer", w.commands, w.lines,
		w.install.Seconds(), w.answer.Seconds())
}

// ways are timed: first the documents' ways, then the ways of other projects' documents.
var ways = []struct {
	name string
	run  func(*testing.T) *way
}{
	{"laptop", laptop}, {"laptop, started by its client", startedByItsClient}, {"local cluster", localCluster},
	{"cluster with the operator", cluster}, {"real cluster", realCluster}, {"DBHub, started by its client", dbhub},
	{"MCP Toolbox, started by its client", toolbox},
}

func TestFiveMinutes(t *testing.T) {
	if os.Getenv("MCP_TEST_FIVE_MINUTES") == "" {
		t.Skip("MCP_TEST_FIVE_MINUTES is not set: make five-minutes sets it")
	}
	begun := time.Now()
	var told []string
	for _, w := range ways {
		result := "left out"
		t.Run(w.name, func(t *testing.T) {
			if took := w.run(t); took != nil {
				result = took.String()
			}
		})
		fmt.Printf("five minutes: %s: %s\n", w.name, result)
		told = append(told, w.name+": "+result)
	}
	fmt.Printf("five minutes: %s; in %.0f s\n", strings.Join(told, "; "), time.Since(begun).Seconds())
}

// script makes the database that all ways are about.
const script = `
create table customer (id integer primary key, name varchar(80) not null, email varchar(80) not null, country varchar(40) not null);
create table orders (id integer primary key, customer_id integer not null references customer (id), placed_on date not null,
  status varchar(20) not null, total numeric(10, 2) not null);
insert into customer values (1, 'Ada Adler', 'ada@example.com', 'Austria'), (2, 'Ben Berg', 'ben@example.com', 'Belgium');
insert into orders values (1, 1, '2026-09-03', 'paid', 40.00), (2, 2, '2026-10-12', 'open', 99.00);
`

// shop is the address of a new PostgreSQL database.
func shop(t *testing.T) string {
	t.Helper()
	address := databasetest.URI(databasetest.PostgreSQL(t))
	harness.On(t, address, script)
	return address
}

// reader is somebody who follows a page.
type reader struct {
	*pages.Session
	blocks []pages.Block
	way    *way
}

// read opens a page.
func read(t *testing.T, page string) *reader {
	t.Helper()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(checkout, page))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := pages.Blocks(string(content))
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	r := &reader{pages.NewSession(t.TempDir(), checkout, t.TempDir()), blocks, &way{}}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// does runs a block, counts what it takes by hand, and returns its output and its time.
func (r *reader) does(t *testing.T, b *pages.Block) (output string, took time.Duration) {
	t.Helper()
	r.counts(b)
	begun := time.Now()
	output, err := r.Run(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return output, time.Since(begun)
}

// counts adds what a block takes by hand.
func (r *reader) counts(b *pages.Block) {
	switch {
	case b.File != "" || b.Given:
		r.way.lines += b.Code()
	default:
		r.way.commands += b.Commands()
	}
}

// block is the page's first block that is as wanted.
func (r *reader) block(t *testing.T, what string, wanted func(b pages.Block) bool) *pages.Block {
	t.Helper()
	i := slices.IndexFunc(r.blocks, wanted)
	if i < 0 {
		t.Fatalf("the page has no block that %s", what)
	}
	return &r.blocks[i]
}

// install does what the page says to have the program.
func (r *reader) install(t *testing.T) {
	t.Helper()
	_, r.way.install = r.does(t, r.block(t, "installs the program", func(b pages.Block) bool { return b.InCheckout && b.Until == "" }))
}
