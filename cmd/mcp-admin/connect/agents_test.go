package connect

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/dev"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

// agent is a client's own program: it reads what connect writes, and says what it made of it.
type agent struct {
	client string
	// program is its file among the installed packages.
	program string
	// agreed are files of the home directory that say what a person has agreed to before. PROJECT stands for the project.
	agreed map[string]string
	// list are the arguments that make it list its servers, and input is its input then. It says one text of a server that
	// it has reached, and another of one that refuses its token.
	list                 []string
	input, says, refused string
}

var agents = []agent{
	{
		client: "claude-code", program: "@anthropic-ai/claude-code-linux-x64/claude", list: []string{"mcp", "list"},
		says: "✔ Connected", refused: "✘ Failed to connect",
		agreed: map[string]string{
			".claude.json":                        `{"projects": {"PROJECT": {"hasTrustDialogAccepted": true}}}`,
			"project/.claude/settings.local.json": `{"enableAllProjectMcpServers": true}`,
		},
	},
	{
		client: "codex", program: "@openai/codex/bin/codex.js", list: []string{"app-server"},
		input: `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}
{"method":"initialized"}
{"id":2,"method":"mcpServerStatus/list","params":{}}
`,
		says: `"list_customer"`, refused: `"tools":{}`,
	},
	{
		client: "gemini", program: "@google/gemini-cli/bundle/gemini.js", list: []string{"mcp", "list"}, says: "✓ shop:", refused: "✗ shop:",
		agreed: map[string]string{".gemini/trustedFolders.json": `{"PROJECT": "TRUST_FOLDER"}`},
	},
}

// packages is where the agents' packages lie, pinned by package-lock.json.
const packages = "../../../test/clients/agents"

// served is a running "mcp-admin dev".
type served struct{ url, token, printed string }

func TestAgentsUnderstandWhatTheyAreTold(t *testing.T) {
	if os.Getenv("MCP_TEST_AGENTS") == "" {
		t.Skip("MCP_TEST_AGENTS is not set: make agents sets it, and installs the agents, which are large")
	}
	begun := time.Now()
	if err := node.Install(t.Context(), packages); err != nil {
		fmt.Println("agents: SKIPPED, as they cannot be installed:", err)
		t.Skip(err)
	}
	s := serve(t)
	told := 0
	for _, a := range agents {
		t.Run(a.client, func(t *testing.T) {
			c := clientOf(t, a.client)
			from := server{name: "shop", url: s.url, variable: "SHOP_TOKEN", text: s.token}
			for name, tell := range map[string]func(t *testing.T, p *place){
				"written by connect": func(t *testing.T, p *place) {
					if _, err := put(c, p.file(t, c), from); err != nil {
						t.Fatal(err)
					}
				},
				"told by the line of dev": func(t *testing.T, p *place) { p.run(t, "bash", "-c", s.lineFor(t, c.title)) },
			} {
				for token, wanted := range map[string]string{s.token: a.says, "mcp_wrong": a.refused} {
					if token != s.token && !strings.HasPrefix(name, "written") {
						continue // the line has the token itself, or a variable
					}
					p := newPlace(t, a, "SHOP_TOKEN="+token)
					tell(t, p)
					if output := p.ask(t, wanted); !strings.Contains(output, wanted) {
						t.Errorf("%s, with the token %q: it says\n%s\nwhich lacks %q", name, token, output, wanted)
						continue
					}
					told++
				}
			}
		})
	}
	fmt.Printf("agents: %d agents understood %d times what they were told, in %.0f s\n", len(agents), told, time.Since(begun).Seconds())
}

// serve serves a SQLite file, as somebody on a laptop does.
func serve(t *testing.T) *served {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "shop.sqlite")
	harness.OnFile(t, file, "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);")
	var out harness.Log
	command := dev.Command()
	command.SetArgs([]string{"--sqlite", file, "--state", filepath.Join(folder, "state"), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"})
	command.SetOut(&out)
	command.SetErr(&out)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(out.String(), "curl "); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not serve:\n%s", out.String())
		}
	}
	s := &served{printed: out.String()}
	s.url = regexp.MustCompile(`is served at (\S+)`).FindStringSubmatch(s.printed)[1]
	text, err := os.ReadFile(filepath.Join(folder, "state", "tokens", "default", "shop-reader"))
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(text))
	return s
}

// lineFor is the line that dev prints for a client.
func (s *served) lineFor(t *testing.T, title string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^  ` + title + `\s{2,}(.*)$`).FindStringSubmatch(s.printed)
	if line == nil {
		t.Fatalf("there is no line for %s:\n%s", title, s.printed)
	}
	return line[1]
}

// place is a home directory and a project of somebody who has an agent, and nothing else.
type place struct {
	agent
	home, project, programs string
	environment             []string
}

func newPlace(t *testing.T, a agent, variables ...string) *place {
	t.Helper()
	installed, err := filepath.Abs(filepath.Join(packages, "node_modules", a.program))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{agent: a, home: t.TempDir()}
	p.project, p.programs = filepath.Join(p.home, "project"), filepath.Join(p.home, "bin")
	for name, content := range a.agreed {
		p.write(t, name, strings.ReplaceAll(content, "PROJECT", p.project))
	}
	for _, folder := range []string{p.project, p.programs} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(installed, p.command()); err != nil {
		t.Fatal(err)
	}
	// Nothing of this machine's own: no login, no settings.
	p.environment = append([]string{
		"HOME=" + p.home, "PATH=" + p.programs + ":" + os.Getenv("PATH"), "NO_COLOR=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, variables...)
	return p
}

// command is the program under the name that the lines of dev call it by.
func (p *place) command() string {
	name, _, _ := strings.Cut(p.client, "-")
	return filepath.Join(p.programs, name)
}

func (p *place) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// file is the client's own file in the place.
func (p *place) file(t *testing.T, c client) string {
	t.Helper()
	t.Setenv("HOME", p.home)
	t.Setenv("CODEX_HOME", "")
	path, err := c.file()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.project, path)
	}
	return path
}

func (p *place) run(t *testing.T, name string, args ...string) {
	t.Helper()
	command := p.prepare(t, name, args...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", filepath.Base(name), args, err, output)
	}
}

// ask has the agent tell of its servers, and returns what it says. One that reads its standard input ends with that.
func (p *place) ask(t *testing.T, wanted string) string {
	t.Helper()
	var output harness.Log
	command := p.prepare(t, p.command(), p.list...)
	command.Stdout, command.Stderr = &output, &output
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	if _, err := io.WriteString(in, p.input); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); p.input != "" && !strings.Contains(output.String(), wanted) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	_ = in.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return output.String()
}

func (p *place) prepare(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = p.project, p.environment
	return command
}
