package connect

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var shop = server{name: "shop", url: "https://shop.example.com/mcp/", variable: "MCP_TOKEN_AGENT", text: "secret-text"}

func clientOf(t *testing.T, name string) client {
	t.Helper()
	c, err := findClient(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAServerIsAddedToAClientsExistingFile(t *testing.T) {
	const entry = `{
      "type": "http",
      "url": "https://shop.example.com/mcp/",
      "headers": {
        "Authorization": "Bearer ${MCP_TOKEN_AGENT}"
      }
    }`
	for name, c := range map[string]struct{ held, want string }{
		"an empty file": {"\n", "{\n  \"mcpServers\": {\n    \"shop\": " + entry + "\n  }\n}\n"},
		"an empty object": {"{}", `{
  "mcpServers": {
    "shop": ` + entry + `
  }
}`},
		"others, with comments": {`{
  // mine
  "theme": "dark",
  "mcpServers": {
    "other": {"command": "x"} // keep
  }
}
`, `{
  // mine
  "theme": "dark",
  "mcpServers": {
    "other": {"command": "x"}, // keep
    "shop": ` + entry + `
  }
}
`},
		"a trailing comma": {`{
  "mcpServers": {
    "other": {},
  },
}`, `{
  "mcpServers": {
    "other": {},
    "shop": ` + entry + `,
  },
}`},
		"the same server": {`{"mcpServers": {"shop": {"url": "old"}, "other": {}}}`, `{"mcpServers": {"shop": ` + entry + `, "other": {}}}`},
	} {
		got, err := mergeJSON([]byte(c.held), clientOf(t, "claude-code").render(shop), shop)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
			continue
		}
		again, err := mergeJSON(got, clientOf(t, "claude-code").render(shop), shop)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time it is another: %v\n%s", name, err, again)
		}
	}
}

func TestVSCodeIsToldToAskForTheTokenOnce(t *testing.T) {
	held := []byte(`{"inputs": [{"id": "mine", "type": "promptString"}], "servers": {"other": {}}}`)
	c := clientOf(t, "vscode")
	for range 2 {
		var err error
		if held, err = c.merge(held, c.render(shop), shop); err != nil {
			t.Fatal(err)
		}
	}
	for text, times := range map[string]int{`"id": "mine"`: 1, `"id": "shop-token"`: 1, `"Bearer ${input:shop-token}"`: 1, `"other": {}`: 1, "secret-text": 0} {
		if n := strings.Count(string(held), text); n != times {
			t.Errorf("%s is there %d times:\n%s", text, n, held)
		}
	}
}

func TestAFileThatIsNoJSONObjectIsLeftAlone(t *testing.T) {
	for _, held := range []string{"[1]", "{", `{"mcpServers": 1}`, `{"mcpServers": []}`} {
		if got, err := mergeJSON([]byte(held), clientOf(t, "cursor").render(shop), shop); err == nil {
			t.Errorf("%s becomes %s", held, got)
		}
	}
}

func TestAServerIsMergedIntoCodexsConfiguration(t *testing.T) {
	const table = "[mcp_servers.\"shop\"]\nurl = \"https://shop.example.com/mcp/\"\nbearer_token_env_var = \"MCP_TOKEN_AGENT\"\n"
	c := clientOf(t, "codex")
	for name, one := range map[string]struct{ held, want string }{
		"an empty file": {"", table},
		"others":        {"model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n", "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n\n" + table},
		"the same server, with tables of its own": {
			"[mcp_servers.shop]\nurl = \"old\"\n[mcp_servers.shop.env]\nA = \"b\"\n[tui]\nx = 1\n", "[tui]\nx = 1\n\n" + table,
		},
		"a text that looks like its table": {
			"notes = '''\n[mcp_servers.other]\n'''\n", "notes = '''\n[mcp_servers.other]\n'''\n\n" + table,
		},
	} {
		got, err := c.merge([]byte(one.held), c.render(shop), shop)
		if err != nil || string(got) != one.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, one.want)
		}
	}
	for name, held := range map[string]string{
		"a text that looks like this table": "notes = '''\n[mcp_servers.shop]\nhello\n'''\n",
		"an inline table":                   "mcp_servers = { shop = { url = \"old\" } }\n",
		"no TOML":                           "= 1\n",
	} {
		if got, err := c.merge([]byte(held), c.render(shop), shop); err == nil {
			t.Errorf("%s becomes\n%s", name, got)
		}
	}
}

func TestAFileWithASecretIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no modes")
	}
	for name, c := range map[string]struct {
		client       string
		before, want fs.FileMode
	}{
		"a new file":                  {"cursor", 0, 0o600},
		"a file that others may read": {"cursor", 0o644, 0o644},
		"a secret in such a file":     {"claude-desktop", 0o644, 0o600},
	} {
		path := filepath.Join(t.TempDir(), "of", "the", "client.json")
		if c.before != 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"mcpServers": {"other": {}}}`), c.before); err != nil {
				t.Fatal(err)
			}
		}
		for i, wantChange := range []bool{true, false} {
			if changed, err := put(clientOf(t, c.client), path, shop); err != nil || changed != wantChange {
				t.Fatalf("%s, time %d: changed %t, %v", name, i+1, changed, err)
			}
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != c.want {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%s: something is left: %v", name, entries)
		}
	}
}

// Only clients that cannot take a token from elsewhere have it in what they read.
func TestOnlyASecretConfigurationHoldsTheToken(t *testing.T) {
	for _, c := range clients {
		if has := strings.Contains(string(c.render(shop)), shop.text); has != c.secret {
			t.Errorf("%s: the token is in it: %t", c.name, has)
		}
		if (c.file == nil) != (c.merge == nil) {
			t.Errorf("%s has a file and no way to change it, or the other way round", c.name)
		}
	}
}

func TestALinkLeadsToTheFileThatIsChanged(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "dotfiles.json"), filepath.Join(folder, "mcp.json")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := put(clientOf(t, "cursor"), link, shop); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if text, _ := os.ReadFile(target); !strings.Contains(string(text), "shop.example.com") {
		t.Errorf("the file is %s", text)
	}
}
