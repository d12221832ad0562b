package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A publicClient is an MCP client of others that knows the endpoint's URL alone.
type publicClient struct{ name, program, version string }

var publicClients = []publicClient{
	{"typescript-sdk-v1", "oauth-v1.mjs", "2025-11-25"},
	{"typescript-sdk-v2", "oauth-v2.mjs", "2025-11-25"},
	{"typescript-sdk-v2", "oauth-v2.mjs", "2026-07-28"},
}

// A step is a client's result for one thing that it had to do.
type step struct {
	Step  string
	Value json.RawMessage
	Error string
}

// connectClients reads what the endpoint tells clients, and has them come with nothing but its URL.
func connectClients(ctx context.Context, w *world, r *report) error {
	r.part("Public clients, which know the endpoint's URL and find the rest")
	metadata := "http://" + w.shop.address + "/.well-known/oauth-protected-resource/mcp/"
	answer, err := w.shop.wholeAnswer(ctx, wrongText)
	if err != nil {
		return err
	}
	r.holds("the 401 names the metadata", metadata, missing(answer, fmt.Sprintf("Bearer resource_metadata=%q", metadata)))
	closed, err := w.reviewed.wholeAnswer(ctx, wrongText)
	if err != nil {
		return err
	}
	problem := ""
	if strings.Contains(closed, "resource_metadata") {
		problem = closed
	}
	r.holds("the 401 of an endpoint without an identity provider names none", "", problem)
	for _, url := range []string{metadata, strings.TrimSuffix(metadata, "/")} {
		problem := describes(ctx, w, url)
		r.holds("the metadata at "+strings.TrimPrefix(url, "http://"+w.shop.address), "names the resource and the company", problem)
	}
	for _, c := range publicClients {
		steps, err := w.run(ctx, c)
		if err != nil {
			return err
		}
		r.in(fmt.Sprintf("%s at %s: 401, metadata, registration, login (PKCE), token, tools/list", c.name, c.version), "", wrongSteps(w, steps))
	}
	return nil
}

// describes says what is wrong with the metadata at a URL, or "".
func describes(ctx context.Context, w *world, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Origin", "https://inspector.example")
	response, err := patient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	var document struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Methods  []string `json:"bearer_methods_supported"`
		Scopes   []string `json:"scopes_supported"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Sprintf("%s: %s", err, body)
	}
	switch {
	case response.StatusCode != http.StatusOK, response.Header.Get("Access-Control-Allow-Origin") != "*",
		document.Resource != w.shop.url(), len(document.Servers) != 1, document.Servers[0] != w.company.url,
		len(document.Methods) != 1, document.Methods[0] != "header", len(document.Scopes) != 1, document.Scopes[0] != "mcp":
		return fmt.Sprintf("%d %v %s", response.StatusCode, response.Header, body)
	}
	return ""
}

// run runs one client, at whose browser anna logs in.
func (w *world) run(ctx context.Context, c publicClient) ([]step, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.node, filepath.Join(folder, c.program))
	cmd.Env = append(os.Environ(), "MCP_URL="+w.shop.url(), "MCP_PERSON=anna", "MCP_VERSION="+c.version, "NODE_EXTRA_CA_CERTS="+w.caFile)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", c.program, err, stderr.Bytes())
	}
	var steps []step
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var s step
		if err := decoder.Decode(&s); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// wrongSteps says what a client did not do, or "".
func wrongSteps(w *world, steps []step) string {
	wanted := []struct{ step, proof string }{
		{"401", ""}, {"registration", ""}, {"login", "S256 " + w.shop.url()}, {"token", "Bearer"}, {"tools/list", `"list_sale"`},
	}
	for i, want := range wanted {
		switch {
		case i >= len(steps):
			return want.step + ": not reached"
		case steps[i].Error != "":
			return steps[i].Step + ": " + steps[i].Error
		case steps[i].Step != want.step || !strings.Contains(string(steps[i].Value), want.proof):
			return fmt.Sprintf("%s: there is no %s in %s", want.step, want.proof, steps[i].Value)
		}
	}
	return ""
}
