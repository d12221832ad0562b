package contract

import "testing"

// The forms are the ones that the clients document; a change here must be one of theirs.
func TestEachClientIsToldInItsOwnForm(t *testing.T) {
	const url, token = "https://mcp.example/shop/mcp/", "mcp_abc.secret"
	for name, row := range map[string]struct{ got, want string }{
		"Claude Code, Cursor": {string(ClientConfiguration("shop", url, token)), `{
  "mcpServers": {
    "shop": {
      "type": "http",
      "url": "https://mcp.example/shop/mcp/",
      "headers": {
        "Authorization": "Bearer mcp_abc.secret"
      }
    }
  }
}
`},
		"VS Code": {string(VSCodeConfiguration("shop", url, token)), `{
  "servers": {
    "shop": {
      "type": "http",
      "url": "https://mcp.example/shop/mcp/",
      "headers": {
        "Authorization": "Bearer mcp_abc.secret"
      }
    }
  }
}
`},
		"Gemini CLI": {string(GeminiConfiguration("shop", url, token)), `{
  "mcpServers": {
    "shop": {
      "httpUrl": "https://mcp.example/shop/mcp/",
      "headers": {
        "Authorization": "Bearer mcp_abc.secret"
      }
    }
  }
}
`},
		"Codex": {string(CodexConfiguration("shop", url, token)), `[mcp_servers."shop"]
url = "https://mcp.example/shop/mcp/"
http_headers = { "Authorization" = "Bearer mcp_abc.secret" }
`},
		"a .env file": {string(EnvironmentFile(url, token)), "MCP_URL=https://mcp.example/shop/mcp/\nMCP_TOKEN=mcp_abc.secret\n"},
	} {
		if row.got != row.want {
			t.Errorf("%s:\n%s", name, row.got)
		}
	}
}

func TestAShellTakesTheVariableOfEachName(t *testing.T) {
	for name, want := range map[string]string{"shop": "SHOP_TOKEN", "my-shop.eu": "MY_SHOP_EU_TOKEN", "2024-orders": "MCP_2024_ORDERS_TOKEN"} {
		if got := TokenVariable(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
