package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer adds a token to every request of a client.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// agent is an MCP client that has connected with one token.
type agent struct {
	session *mcp.ClientSession
	// confirmation is the confirmation_token of the last answer that had one.
	confirmation string
}

// connect connects as an agent's client does, with whatever adds its token.
func connect(ctx context.Context, url string, token http.RoundTripper) (*agent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: token}, DisableStandaloneSSE: true,
	}, nil)
	return &agent{session: session}, err
}

// showTools prints the names of the tools that the token may use.
func (a *agent) showTools(ctx context.Context) error {
	tools, err := a.session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	names := make([]string, len(tools.Tools))
	for i, tool := range tools.Tools {
		names[i] = tool.Name
	}
	fmt.Printf("tools: %s\n", strings.Join(names, ", "))
	return nil
}

// toolsList is the call that lists the tools.
const toolsList = "tools/list"

// showCalls makes calls, each a tool and its arguments after a blank, or tools/list, and prints the answers.
// $confirmation_token in arguments stands for the latest token in an answer.
func (a *agent) showCalls(ctx context.Context, calls ...string) error {
	for _, call := range calls {
		if call == toolsList {
			if err := a.showTools(ctx); err != nil {
				return err
			}
			continue
		}
		tool, arguments, _ := strings.Cut(call, " ")
		result, err := a.session.CallTool(ctx, &mcp.CallToolParams{
			Name: tool, Arguments: json.RawMessage(strings.ReplaceAll(arguments, "$confirmation_token", a.confirmation)),
		})
		if err != nil {
			return err
		}
		text := result.Content[0].(*mcp.TextContent).Text
		var answer struct {
			Token string `json:"confirmation_token"`
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			return err
		}
		a.confirmation = cmp.Or(answer.Token, a.confirmation)
		outcome := "→"
		if result.IsError {
			outcome = "→ error"
		}
		fmt.Printf("%s\n  %s %s\n", call, outcome, text)
	}
	return nil
}

// showCurl sends one request of the simple form with curl, if it is installed.
func showCurl(ctx context.Context, url, token string) error {
	const body = `{"method":"tools/call","name":"list_book","arguments":{"search":"winter","limit":2}}`
	fmt.Printf("$ curl -s %s -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '%s'\n", url, body)
	curl, _ := exec.LookPath("curl") // "" if it is not installed
	if curl == "" {
		fmt.Println("(curl is not installed)")
		return nil
	}
	// The token is passed by a file descriptor: every user of the machine can see a command line.
	cmd := exec.CommandContext(ctx, curl, "-sS", url, "-H", "@-", "-H", "Content-Type: application/json", "-d", body)
	cmd.Stdin = strings.NewReader("Authorization: Bearer " + token + "\n")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	fmt.Println()
	return err
}
