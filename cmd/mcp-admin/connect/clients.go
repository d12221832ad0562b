package connect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// server is an endpoint in a client's configuration.
type server struct {
	// name is the server's name in the client, url the URL that the client calls.
	name, url string
	// variable is the environment variable that holds the token's text.
	variable string
	// text is the token's text itself; "" if it is not known, or not needed.
	text string
}

// client is a program that speaks MCP, and the way to add a server to it. What each reads is from its own documentation.
type client struct {
	name, title string
	// file is the client's file that --write changes; nil if it has none.
	file func() (string, error)
	// secret reports whether the configuration holds the token's text, because the client cannot take it from the environment.
	secret bool
	// render is the configuration: what the file holds if it holds nothing else, or a command.
	render func(server) []byte
	// merge puts the configuration into what the file holds; nil if there is no file.
	merge func(held, configuration []byte, s server) ([]byte, error)
	// note is said below the configuration.
	note string
}

// clients are the known clients, in the order of the help.
var clients = []client{
	{
		name: "claude-code", title: "Claude Code", file: inProject(".mcp.json"),
		render: func(s server) []byte { return contract.ClientConfiguration(s.name, s.url, "${"+s.variable+"}") },
		merge:  mergeJSON,
	},
	{
		name: "claude-desktop", title: "Claude Desktop", file: inConfig("Claude", "claude_desktop_config.json"), secret: true,
		render: claudeDesktop, merge: mergeJSON,
		note: "Claude Desktop starts programs only, so mcp-remote (which needs Node.js) calls the endpoint for it. The token stands in the file.",
	},
	{
		name: "cursor", title: "Cursor", file: inHome(".cursor", "mcp.json"),
		render: func(s server) []byte { return contract.ClientConfiguration(s.name, s.url, "${env:"+s.variable+"}") },
		merge:  mergeJSON,
	},
	{
		name: "vscode", title: "VS Code", file: inProject(".vscode", "mcp.json"),
		render: vscode, merge: mergeJSON,
		note: "VS Code asks for the token when it starts the server, and keeps it in its secret store: it takes none from the environment in a header.",
	},
	{
		name: "codex", title: "Codex", file: codexFile,
		render: func(s server) []byte { return contract.CodexVariableConfiguration(s.name, s.url, s.variable) },
		merge:  mergeCodex,
	},
	{
		name: "gemini", title: "Gemini CLI", file: inHome(".gemini", "settings.json"),
		render: func(s server) []byte { return contract.GeminiConfiguration(s.name, s.url, "${"+s.variable+"}") },
		merge:  mergeJSON,
	},
	{
		name: "windsurf", title: "Windsurf", file: inHome(".codeium", "windsurf", "mcp_config.json"),
		render: windsurf, merge: mergeJSON,
	},
	{
		name: "inspector", title: "MCP Inspector", render: inspector,
		note: "The command lists the tools. Without --cli and what follows it, the inspector opens a page in the browser that asks for the URL and the header.",
	},
	{
		name: "env", title: "an environment file", secret: true,
		render: func(s server) []byte { return contract.EnvironmentFile(s.url, s.text) },
		note:   "It holds the token.",
	},
}

func clientNames() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

func findClient(name string) (client, error) {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, fmt.Errorf("--client: %q is not known; it is one of %s", name, strings.Join(clientNames(), ", "))
	}
	return clients[i], nil
}

// claudeDesktop has the header in a variable of its own: arguments with blanks are split on Windows.
func claudeDesktop(s server) []byte {
	arguments := []string{"-y", "mcp-remote", s.url, "--header", "Authorization:${" + s.variable + "}"}
	if strings.HasPrefix(s.url, "http://") {
		arguments = append(arguments, "--allow-http")
	}
	return encode(map[string]any{"mcpServers": map[string]any{s.name: map[string]any{
		"command": "npx", "args": arguments, "env": map[string]string{s.variable: "Bearer " + s.text},
	}}})
}

func windsurf(s server) []byte {
	return encode(map[string]any{"mcpServers": map[string]any{s.name: map[string]any{
		"serverUrl": s.url, "headers": map[string]string{"Authorization": "Bearer ${env:" + s.variable + "}"},
	}}})
}

// vscode names an input, which VS Code asks for.
func vscode(s server) []byte {
	var configuration map[string]any
	if err := json.Unmarshal(contract.VSCodeConfiguration(s.name, s.url, "${input:"+vscodeInput(s)+"}"), &configuration); err != nil {
		panic(err) // it was encoded there
	}
	configuration["inputs"] = []any{vscodeQuestion(s)}
	return encode(configuration)
}

func vscodeInput(s server) string { return s.name + "-token" }

func vscodeQuestion(s server) map[string]any {
	return map[string]any{
		"type": "promptString", "id": vscodeInput(s), "description": "Token of the MCP server " + s.name, "password": true,
	}
}

// inspector is a command for a shell.
func inspector(s server) []byte {
	return fmt.Appendf(nil, "npx @modelcontextprotocol/inspector --cli %s --transport http --header \"Authorization: Bearer $%s\" --method tools/list\n",
		s.url, s.variable)
}

func encode(configuration any) []byte {
	encoded, err := json.MarshalIndent(configuration, "", "  ")
	if err != nil {
		panic(err) // strings only: it cannot fail
	}
	return append(encoded, '\n')
}

// The places of clients' files: in the project, which is the working directory; in the home directory; among the
// configurations of the system's programs.

func inProject(path ...string) func() (string, error) {
	return func() (string, error) { return filepath.Join(path...), nil }
}

func inHome(path ...string) func() (string, error) {
	return func() (string, error) {
		home, err := os.UserHomeDir()
		return filepath.Join(append([]string{home}, path...)...), err
	}
}

func inConfig(path ...string) func() (string, error) {
	return func() (string, error) {
		folder, err := os.UserConfigDir()
		return filepath.Join(append([]string{folder}, path...)...), err
	}
}

func codexFile() (string, error) {
	if folder := os.Getenv("CODEX_HOME"); folder != "" {
		return filepath.Join(folder, "config.toml"), nil
	}
	return inHome(".codex", "config.toml")()
}
