package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The protocol versions that clients are run with: the newest of either era.
const (
	initializeEra = "2025-11-25"
	modernEra     = "2026-07-28"
)

// A client is one of the public clients, to be run with one protocol version.
type client struct {
	name, version string
	// converse connects with a token and takes the steps, until the first error.
	converse func(ctx context.Context, url, token, version string) ([]line, error)
}

// A line is a client's result of one step. The programs print it as JSON.
type line struct {
	Step  string
	Value json.RawMessage
	Error string
}

// clients are all of them. node is a Node.js program; scratch holds the programs that were built, and is a home for
// clients that write to one.
func clients(node, scratch string) []client {
	v1 := program(node, filepath.Join(folder, "sdk-v1.mjs"))
	v2 := program(node, filepath.Join(folder, "sdk-v2.mjs"))
	inspector := inspect(node, scratch)
	gosdk, mcpgo := program(filepath.Join(scratch, "gosdk")), program(filepath.Join(scratch, "mcpgo"))
	return []client{
		{"typescript-sdk-v1", initializeEra, v1},
		{"typescript-sdk-v2", initializeEra, v2},
		{"typescript-sdk-v2", modernEra, v2},
		{"inspector", initializeEra, inspector},
		{"inspector", modernEra, inspector},
		{"go-sdk", initializeEra, gosdk},
		{"go-sdk", modernEra, gosdk},
		{"mcp-go", initializeEra, mcpgo},
		{"mcp-go", modernEra, mcpgo},
	}
}

// program is a client that converses by itself and prints its lines.
func program(name string, args ...string) func(ctx context.Context, url, token, version string) ([]line, error) {
	return func(ctx context.Context, url, token, version string) (lines []line, err error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(os.Environ(), "MCP_URL="+url, "MCP_TOKEN="+token, "MCP_VERSION="+version)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w %s", err, bytes.TrimSpace(stderr.Bytes()))
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
			var l line
			if bad := decoder.Decode(&l); bad != nil {
				return lines, errors.Join(err, bad)
			}
			lines = append(lines, l)
		}
		return lines, err
	}
}

// inspections are Inspector's arguments for each step; every step is a run of its own.
var inspections = []struct {
	step string
	args []string
}{
	{"connect", []string{"--method", "initialize"}},
	{"tools/list", []string{"--method", "tools/list"}},
	{"tools/call", []string{"--method", "tools/call", "--tool-name", "list_book", "--tool-arg", "search=Solaris"}},
	{"tools/call, writing", []string{"--method", "tools/call", "--tool-name", "update_book", "--tool-arg", "id=4", "--tool-arg", `data={"in_stock":6}`}},
	{"resources/list", []string{"--method", "resources/list"}},
	{"resources/templates/list", []string{"--method", "resources/templates/list"}},
	{"resources/read", []string{"--method", "resources/read", "--uri", "data://book/4"}},
	{"prompts/list", []string{"--method", "prompts/list"}},
	{"prompts/get", []string{"--method", "prompts/get", "--prompt-name", "understand_model", "--prompt-args", "model_name=book"}},
}

// inspect is Inspector's command line.
func inspect(node, home string) func(ctx context.Context, url, token, version string) ([]line, error) {
	launcher := filepath.Join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	return func(ctx context.Context, url, token, version string) (lines []line, err error) {
		era := "legacy"
		if version == modernEra {
			era = "modern"
		}
		for _, inspection := range inspections {
			// Without --stored-auth-only it would answer a 401 with a login in a browser.
			cmd := exec.CommandContext(ctx, node, append([]string{launcher, "--cli", url, "--transport", "http",
				"--header", "Authorization: Bearer " + token, "--protocol-era", era, "--format", "json", "--quiet",
				"--stored-auth-only"}, inspection.args...)...)
			cmd.Env = append(os.Environ(), "HOME="+home)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if ctx.Err() != nil || cmd.ProcessState == nil {
				return lines, err // it was cut off, or did not start
			}
			if !cmd.ProcessState.Success() {
				return append(lines, line{Step: inspection.step, Error: strings.TrimSpace(stderr.String())}), nil
			}
			lines = append(lines, line{Step: inspection.step, Value: out})
		}
		return lines, nil
	}
}
