package main

import (
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

// showClient connects as an agent's client does, and prints what it is told.
func showClient(ctx context.Context, url, token string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	names := make([]string, len(tools.Tools))
	for i, tool := range tools.Tools {
		names[i] = tool.Name
	}
	fmt.Printf("tools: %s\n", strings.Join(names, ", "))
	for _, call := range []mcp.CallToolParams{
		{Name: "list_book", Arguments: json.RawMessage(`{"filters":{"author__country":"Poland"},"fields":["title","price"]}`)},
		{Name: "get_author", Arguments: json.RawMessage(`{"id":3}`)},
		{Name: "list_customer", Arguments: json.RawMessage(`{}`)},
	} {
		result, err := session.CallTool(ctx, &call)
		if err != nil {
			return err
		}
		outcome := "→"
		if result.IsError {
			outcome = "→ error"
		}
		fmt.Printf("%s %s\n  %s %s\n", call.Name, call.Arguments, outcome, result.Content[0].(*mcp.TextContent).Text)
	}
	return nil
}

// showCurl sends one request of the simple form with curl, where there is one.
func showCurl(ctx context.Context, url, token string) error {
	const body = `{"method":"tools/call","name":"list_book","arguments":{"search":"winter","limit":2}}`
	fmt.Printf("$ curl -s %s -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '%s'\n", url, body)
	curl, _ := exec.LookPath("curl") // "" where there is none
	if curl == "" {
		fmt.Println("(curl is not installed)")
		return nil
	}
	// The token goes by a file descriptor: a command line is seen by every user of the machine.
	cmd := exec.CommandContext(ctx, curl, "-sS", url, "-H", "@-", "-H", "Content-Type: application/json", "-d", body)
	cmd.Stdin = strings.NewReader("Authorization: Bearer " + token + "\n")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	fmt.Println()
	return err
}
