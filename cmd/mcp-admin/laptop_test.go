package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/program"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// differs are the parts of what is printed that differ from run to run, with what the document has in their place.
var differs = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`SQLite [0-9.]+`), "SQLite X"},
	{regexp.MustCompile(`mcp_[\w.-]{30,}`), "mcp_…"},
	{regexp.MustCompile(`config=\S+`), "config=…"},
	{regexp.MustCompile(`/ui/open/\S+`), "/ui/open/…"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:8080"},
	{regexp.MustCompile(`/\S+/\.mcp-admin-dev/`), "/home/me/.mcp-admin-dev/"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`), "TIME"},
	{regexp.MustCompile(`\bshop-0\b|shop-mcp-\w+-\w+`), "POD"},
}

func same(text string) string {
	for _, d := range differs {
		text = d.pattern.ReplaceAllString(text, d.shown)
	}
	return text
}

// inDocument is the block of docs/cli/laptop.md that begins so.
func inDocument(t *testing.T, fence string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/cli/laptop.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```"+fence+"\n")
	if !found {
		t.Fatalf("docs/cli/laptop.md has no block %q", fence)
	}
	block, _, _ := strings.Cut(rest, "```\n")
	return block
}

func TestTheDocumentShowsWhatGenerateAndDevPrint(t *testing.T) {
	script := inDocument(t, "sql shop.sql")
	yaml := inDocument(t, "yaml norun: it is what generate prints, as another test sees to")
	screen := strings.TrimPrefix(inDocument(t, "text norun: it serves until you end it"), "$ mcp-admin dev --sqlite shop.sqlite\n")
	t.Chdir(t.TempDir())
	db, err := sql.Open("sqlite", "shop.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	db.Close()

	var out, errors harness.Log
	command := program.New("mcp-admin")
	command.SetArgs([]string{"generate", "--sqlite", "shop.sqlite"})
	command.SetOut(&out)
	command.SetErr(&errors)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if same(out.String()) != same(yaml) {
		t.Errorf("generate prints\n%s\ninstead of\n%s", out.String(), yaml)
	}

	var served harness.Log
	ctx, stop := context.WithCancel(t.Context())
	command = program.New("mcp-admin")
	command.SetArgs([]string{"dev", "--sqlite", "shop.sqlite", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--state", filepath.Join(t.TempDir(), ".mcp-admin-dev")})
	command.SetOut(&served)
	command.SetErr(&served)
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(served.String(), "curl ") && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !pages.Fits(same(screen), same(served.String())) {
		t.Errorf("dev prints\n%s\ninstead of\n%s", served.String(), screen)
	}
}

// The commands for a cluster work with what dev serves here, by its state folder alone.
func TestCommandsWorkWithDev(t *testing.T) {
	script := inDocument(t, "sql shop.sql")
	t.Chdir(t.TempDir())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	db, err := sql.Open("sqlite", "shop.sqlite")
	if err == nil {
		_, err = db.Exec(script + "INSERT INTO orders (id, customer_id, state) VALUES (7, 1, 'open');")
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	run := func(ctx context.Context, out *harness.Log, args ...string) error {
		command := program.New("mcp-admin")
		command.SetArgs(args)
		command.SetOut(out)
		command.SetErr(out)
		return command.ExecuteContext(ctx)
	}
	expect := func(want string, fails bool, args ...string) {
		t.Helper()
		out := &harness.Log{}
		err := run(t.Context(), out, args...)
		if err != nil {
			_, _ = out.Write([]byte(err.Error()))
		}
		if (err != nil) != fails || !strings.Contains(out.String(), want) {
			t.Errorf("%v ends with %v and prints\n%s\nwant %q", args, err, out.String(), want)
		}
	}
	expect(`no "mcp-admin dev" serves anything from .mcp-admin-dev`, true, "call", "shop-reader", "--state", ".mcp-admin-dev")
	ctx, stop := context.WithCancel(t.Context())
	served, ended := &harness.Log{}, make(chan error, 1)
	go func() {
		ended <- run(ctx, served, "dev", "--sqlite", "shop.sqlite", "--write", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	}()
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(served.String(), "curl ") && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	token := "shop-writer"
	if !strings.Contains(served.String(), token) {
		token = "shop-reader"
	}
	expect("aggregate_orders", false, "call", token, "--state", ".mcp-admin-dev")
	expect(`total_groups\":1`, false, "call", "default/"+token, "aggregate_orders", "group_by=state", "total=exact", "-o", "json", "--state", ".mcp-admin-dev")
	expect("open", false, "call", token, "list_orders", "format=columns", "--state", ".mcp-admin-dev")
	expect("cannot export orders", true, "call", token, "list_orders", "--export", "orders.csv", "--state", ".mcp-admin-dev") // no verb is guessed that lets rows out
	expect("cat ", false, "connect", token, "--state", ".mcp-admin-dev")
	expect(`the nearest is "`+token+`"`, true, "connect", token+"s", "--state", ".mcp-admin-dev")
	expect("add --state .mcp-admin-dev", true, "call", token)
	expect("nothing is wrong", false, "doctor", "--state", ".mcp-admin-dev")
	expect("", false, "call", token, "update_orders", "id=7", "data.state=paid", "--state", ".mcp-admin-dev")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := os.WriteFile("printed.log", []byte(served.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("update_orders 7 (state)  ok, 1 changed", false, "tail", "--file", "printed.log")
	expect(`no "mcp-admin dev" serves anything`, true, "doctor", "--state", ".mcp-admin-dev")
}
