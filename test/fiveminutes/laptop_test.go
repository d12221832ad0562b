package fiveminutes

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

const page = "docs/start/laptop.md"

// laptop serves a database by one command, and asks over HTTP.
func laptop(t *testing.T) *way {
	if taken := pages.Taken(); taken != "" {
		t.Skipf("%s is taken by another program of this machine, and the page uses it", taken)
	}
	r := read(t, "laptop", page)
	r.Given = map[string]string{"MCP_ADMIN_DSN": shop(t)}
	r.install(t)
	begun := time.Now()
	r.does(t, r.block(t, "gives the database", func(b pages.Block) bool { return b.Given }))
	r.does(t, r.block(t, "serves", func(b pages.Block) bool { return b.Until != "" }))
	tokens, err := filepath.Glob(filepath.Join(r.Folder, ".mcp-admin-dev/tokens/default/*"))
	if err != nil || len(tokens) != 1 {
		t.Fatalf("the tokens are %v, %v", tokens, err)
	}
	text, err := os.ReadFile(tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	ask(t, &mcp.StreamableClientTransport{
		Endpoint: "http://127.0.0.1:8080/mcp/", HTTPClient: &http.Client{Transport: bearer(strings.TrimSpace(string(text)))},
	}, "list_customer", map[string]any{"limit": 1}, "Austria")
	r.way.answer = time.Since(begun)
	return r.way
}

// startedByItsClient has the client start the program, by the configuration that the page shows.
func startedByItsClient(t *testing.T) *way {
	r := read(t, "laptop, started by its client", page)
	address := shop(t)
	r.install(t)
	begun := time.Now()
	b := r.block(t, "is a client's configuration", func(b pages.Block) bool { return b.File == "client.json" })
	r.does(t, b)
	var client struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(b.Text()), &client); err != nil || len(client.Servers) != 1 {
		t.Fatalf("%s: %v", b.Text(), err)
	}
	for _, server := range client.Servers {
		command := r.command(t.Context(), server.Command, server.Args...)
		for name := range server.Env {
			command.Env = append(command.Env, name+"="+address) // the page has an address of nobody
		}
		ask(t, &mcp.CommandTransport{Command: command}, "list_customer", map[string]any{"limit": 1}, "Austria")
	}
	r.way.answer = time.Since(begun)
	return r.way
}

// dbhub does the same with DBHub, by the commands of its own documents, if npm is reached. The native module that it has for
// SQLite is not built, which takes minutes where no built one can be fetched; PostgreSQL does not need it.
func dbhub(t *testing.T) *way {
	r := read(t, "DBHub, started by its client", page)
	address := shop(t) + "?sslmode=disable"
	begun := time.Now()
	if output, err := r.command(t.Context(), "npm", "install", "--global", "--ignore-scripts", "--prefix", r.Folder, "@bytebase/dbhub").CombinedOutput(); err != nil {
		t.Skipf("DBHub cannot be installed from npm: %v\n%s", err, output)
	}
	r.way.install = time.Since(begun)
	r.way.commands, r.way.lines = 1, 8 // npm install, and its configuration in a client's file, formatted as ours
	begun = time.Now()
	command := r.command(t.Context(), filepath.Join(r.Folder, "bin", "dbhub"), "--transport", "stdio", "--dsn", address)
	ask(t, &mcp.CommandTransport{Command: command}, "execute_sql", map[string]any{"sql": "select * from customer limit 1"}, "Austria")
	r.way.answer = time.Since(begun)
	return r.way
}

// command is a program that the reader's own programs start.
func (r *reader) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	for _, variable := range r.Environment {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok && !strings.Contains(name, "/") {
			for _, folder := range filepath.SplitList(path) {
				if file := filepath.Join(folder, name); executable(file) {
					name = file
					break
				}
			}
		}
	}
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = r.Folder, r.Environment
	return command
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// ask connects the official Go SDK, calls a tool, and wants a text in the answer.
func ask(t *testing.T, transport mcp.Transport, tool string, arguments map[string]any, wanted string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "five-minutes", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
		t.Fatalf("there are no tools: %v", err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.Content)
	if err != nil || result.IsError || !strings.Contains(string(text), wanted) {
		t.Fatalf("%s answered %s, %v", tool, text, err)
	}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(request)
}
