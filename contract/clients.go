package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var noVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// TokenVariable is the environment variable in which a client finds the token of a server of that name. A shell takes none
// that begins with a digit.
func TokenVariable(name string) string {
	variable := noVariable.ReplaceAllString(strings.ToUpper(name), "_") + "_TOKEN"
	if variable[0] >= '0' && variable[0] <= '9' {
		return "MCP_" + variable
	}
	return variable
}

// The configurations below tell a client of an endpoint, each in the form that the client reads. They hold the token.

// ClientConfiguration is the JSON with the member "mcpServers" that most clients read: Claude Code (.mcp.json), Cursor and
// others.
func ClientConfiguration(endpoint, url, token string) []byte {
	return servers("mcpServers", endpoint, httpServer{Type: "http", URL: url, Headers: bearer(token)})
}

// VSCodeConfiguration is an mcp.json of VS Code.
func VSCodeConfiguration(endpoint, url, token string) []byte {
	return servers("servers", endpoint, httpServer{Type: "http", URL: url, Headers: bearer(token)})
}

// GeminiConfiguration is a settings.json of Gemini CLI, which takes a plain "url" for another transport.
func GeminiConfiguration(endpoint, url, token string) []byte {
	return servers("mcpServers", endpoint, httpServer{HTTPURL: url, Headers: bearer(token)})
}

// CodexConfiguration is the part of Codex's config.toml about one server. Codex refuses a bearer token in this file,
// and takes it as a header.
func CodexConfiguration(endpoint, url, token string) []byte {
	return fmt.Appendf(nil, "[mcp_servers.%s]\nurl = %s\nhttp_headers = { \"Authorization\" = %s }\n",
		quoted(endpoint), quoted(url), quoted("Bearer "+token))
}

// CodexVariableConfiguration is CodexConfiguration with the name of the environment variable that holds the token.
func CodexVariableConfiguration(endpoint, url, variable string) []byte {
	return fmt.Appendf(nil, "[mcp_servers.%s]\nurl = %s\nbearer_token_env_var = %s\n", quoted(endpoint), quoted(url), quoted(variable))
}

// EnvironmentFile is a .env file.
func EnvironmentFile(url, token string) []byte {
	return fmt.Appendf(nil, "MCP_URL=%s\nMCP_TOKEN=%s\n", url, token)
}

type httpServer struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	Headers map[string]string `json:"headers"`
}

func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

func servers(member, endpoint string, server httpServer) []byte {
	encoded, err := json.MarshalIndent(map[string]map[string]httpServer{member: {endpoint: server}}, "", "  ")
	if err != nil {
		panic(err) // strings only: it cannot fail
	}
	return append(encoded, '\n')
}

// quoted is a text as a basic string of TOML: what JSON escapes, and how, TOML understands.
func quoted(text string) []byte {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string: it cannot fail
	}
	return encoded
}
