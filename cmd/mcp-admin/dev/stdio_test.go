package dev

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// overStdio runs the command as a client's child: what it returns is connected to its standard input and output.
func overStdio(t *testing.T, args ...string) (in io.WriteCloser, out io.ReadCloser, errors *screen, ended chan error) {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	errors, ended = &screen{}, make(chan error, 1)
	cmd := Command()
	cmd.SetArgs(append(args, "--stdio"))
	cmd.SetIn(inRead)
	cmd.SetOut(outWrite)
	cmd.SetErr(errors)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go func() { ended <- cmd.ExecuteContext(ctx); outWrite.Close() }()
	return inWrite, outRead, errors, ended
}

func TestDevServesAClientOverStandardInputAndOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	executeSQLite(t, file, shop)
	in, out, printed, ended := overStdio(t, "--sqlite", file)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) == 0 {
		t.Fatalf("%v, %v", tools, err)
	}
	answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_customers", Arguments: map[string]any{}})
	if err != nil || answer.IsError {
		t.Fatalf("%+v, %v", answer, err)
	}
	if text := answer.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "Ada Example") {
		t.Errorf("got %s, want Ada Example in it", text)
	}
	printed.waitFor(t, "is served over standard input and output")
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("dev ended with %v", err)
	}
	if says := printed.String(); strings.Contains(says, "Bearer") {
		t.Errorf("printed on standard error:\n%s", says)
	}
}

// Each line of standard output is an answer, and nothing else; a line that is no JSON gets an error, a notification nothing.
func TestDevAnswersEachLineOfStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	executeSQLite(t, file, shop)
	in, out, printed, ended := overStdio(t, "--sqlite", file)
	lines := bufio.NewScanner(out)
	for _, tc := range []struct{ sent, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"protocolVersion":"2025-06-18"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `"id":"a"`},
		{`not JSON`, `-32700`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nothing","arguments":{}}}`, `"id":3,"error"`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_orders","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}}}`, `first`},
	} {
		if _, err := io.WriteString(in, tc.sent+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !bytes.Contains(lines.Bytes(), []byte(tc.want)) {
			t.Fatalf("%s is answered with %s, want %s\n%s", tc.sent, lines.Bytes(), tc.want, printed)
		}
	}
	in.Close()
	if err := <-ended; err != nil {
		t.Errorf("dev ended with %v", err)
	}
	if lines.Scan() {
		t.Errorf("more was written: %s", lines.Bytes())
	}
}

func TestDevAsksWhichTokenAClientOfStandardInputHas(t *testing.T) {
	two := notes + "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {name: other}\nspec: {endpointRef: {name: notes}, permissions: [{models: [\"*\"], verbs: [view]}]}\n"
	folder := write(t, map[string]string{"notes.yaml": two})
	_, _, _, ended := overStdio(t, "-f", folder, "--state", t.TempDir())
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "say which with --token default/agent or --token default/other") {
		t.Errorf("ended with %v", err)
	}
}
