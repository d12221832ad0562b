package fiveminutes

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// example is the address of a database in the configurations; somebody else's stands in its place when they are tried.
const example = "postgres://me:secret@localhost:5432/shop"

// startedByItsClient has the client start the program, by the configuration that the page shows.
func startedByItsClient(t *testing.T) *way {
	r := read(t, page)
	r.install(t)
	begun := time.Now()
	b := r.block(t, "is a client's configuration", func(b pages.Block) bool { return b.File == "client.json" })
	r.does(t, b)
	r.startAndAsk(t, b.Text(), "list_customer", map[string]any{"limit": 1})
	r.way.answer = time.Since(begun)
	return r.way
}

// other is a server of another project: its package, and its configuration in a client as its own documents have it, in
// testdata.
type other struct{ npm, configuration string }

func dbhub(t *testing.T) *way   { return other{"@bytebase/dbhub", "dbhub.json"}.ask(t) }
func toolbox(t *testing.T) *way { return other{"@toolbox-sdk/server", "toolbox.json"}.ask(t) }

// ask asks a server of another project the same question, if npm is reached. Native modules are not built, which takes
// minutes where no built one can be fetched: they are for other databases.
func (o other) ask(t *testing.T) *way {
	r := read(t, page)
	begun := time.Now()
	if output, err := r.command(t.Context(), "npm", "install", "--global", "--ignore-scripts", "--prefix", r.Folder, o.npm).CombinedOutput(); err != nil {
		t.Skipf("%s cannot be installed from npm: %v\n%s", o.npm, err, output)
	}
	r.way.install = time.Since(begun)
	configuration, err := os.ReadFile(filepath.Join("testdata", o.configuration))
	if err != nil {
		t.Fatal(err)
	}
	r.way.commands, r.way.lines = 1, strings.Count(string(configuration), "\n")
	r.Environment = append(r.Environment, "PATH="+filepath.Join(r.Folder, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	begun = time.Now()
	r.startAndAsk(t, string(configuration), "execute_sql", map[string]any{"sql": "select * from customer limit 1"})
	r.way.answer = time.Since(begun)
	return r.way
}

// startAndAsk does what a client does with its configuration: it starts the one server there, here on a database of the
// test's own, and calls a tool.
func (r *reader) startAndAsk(t *testing.T, configuration, tool string, arguments map[string]any) {
	t.Helper()
	address := shop(t)
	var client struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(configuration), &client); err != nil || len(client.Servers) != 1 {
		t.Fatalf("%s: %v", configuration, err)
	}
	for _, server := range client.Servers {
		for i := range server.Args {
			server.Args[i] = strings.ReplaceAll(server.Args[i], example, address)
		}
		command := r.command(t.Context(), server.Command, server.Args...)
		for name := range server.Env {
			command.Env = append(command.Env, name+"="+inVariable(t, address, name))
		}
		ask(t, &mcp.CommandTransport{Command: command}, tool, arguments, "Austria")
	}
}

// inVariable is the part of an address that a variable wants.
func inVariable(t *testing.T, address, variable string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	parts := map[string]string{
		"MCP_ADMIN_DSN": address, "POSTGRES_HOST": u.Hostname(), "POSTGRES_PORT": u.Port(),
		"POSTGRES_DATABASE": strings.TrimPrefix(u.Path, "/"), "POSTGRES_USER": u.User.Username(), "POSTGRES_PASSWORD": password,
	}
	part, known := parts[variable]
	if !known {
		t.Fatalf("nobody knows what belongs into %s", variable)
	}
	return part
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
