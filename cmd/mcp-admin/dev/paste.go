package dev

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// pasted are lines that a person pastes into a terminal, one for each client, to have it call a server here. They hold the
// token, which is good on this machine alone.
func pasted(name, url, token string) [][2]string {
	header := "Authorization: Bearer " + token
	variable := contract.TokenVariable(name)
	return [][2]string{
		{"Claude Code", fmt.Sprintf(`claude mcp add --transport http %s %s --header "%s"`, name, url, header)},
		{"Codex", fmt.Sprintf(`export %s=%s; codex mcp add %s --url %s --bearer-token-env-var %s`, variable, token, name, url, variable)},
		{"Gemini CLI", fmt.Sprintf(`gemini mcp add --transport http --header "%s" %s %s`, header, name, url)},
		{"VS Code", "code --add-mcp '" + encoded(map[string]any{"name": name, "type": "http", "url": url, "headers": bearer(token)}) + "'"},
		{"Cursor", cursorLink(name, url, token)},
		{"Inspector", fmt.Sprintf(`npx @modelcontextprotocol/inspector --cli %s --transport http --header "%s" --method tools/list`, url, header)},
		{"curl", fmt.Sprintf(`curl %s -H "%s" --json '{"method": "tools/list"}'`, url, header)},
	}
}

// cursorLink is a link that Cursor opens: its command line has nothing like it.
func cursorLink(name, address, token string) string {
	config := encoded(map[string]any{"url": address, "headers": bearer(token)})
	return "cursor://anysphere.cursor-deeplink/mcp/install?name=" + url.QueryEscape(name) + "&config=" +
		url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(config)))
}

func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings only: it cannot fail
	}
	return string(text)
}
