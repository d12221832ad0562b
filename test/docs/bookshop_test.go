package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/dev"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// bookshop is a running server of a page's manifests, with structuredContent, which is held against the tools' schemas.
// Most pages have the bookshop of config/samples.
type bookshop struct {
	url, state string
	// namespace is the manifests' namespace.
	namespace string
	// schemas has the answers' schemas, by token.
	schemas map[string]harness.AnswerSchemas
	// differing has, for each cursor and confirmation token that a page shows, the text that the server gave.
	differing map[string]string
	// confirmation is the last confirmation token that was given.
	confirmation string
}

// open serves the manifests of a page, which lie in a folder, with a new database, until the test ends.
func open(t *testing.T, p page, folder string) *bookshop {
	t.Helper()
	s := &bookshop{state: t.TempDir(), namespace: p.namespace, differing: map[string]string{}, schemas: map[string]harness.AnswerSchemas{}}
	listen, admin := harness.FreeAddress(t), harness.FreeAddress(t)
	s.url = "http://" + listen + "/mcp/"
	command := dev.Command()
	command.SetArgs([]string{"-f", folder, "--state", s.state, "--listen", listen, "--admin-listen", admin})
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get("http://" + admin + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server of %s is not ready", p.path)
		}
	}
}

// manifestsOf copies a page's manifests into a folder.
func manifestsOf(t *testing.T, p page) string {
	t.Helper()
	folder := t.TempDir()
	if p.manifests == "" {
		save(t, p.path, folder)
	} else if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, p.manifests))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// withStructuredContent has the endpoint of the manifests in a folder add structuredContent.
func withStructuredContent(t *testing.T, folder string) string {
	t.Helper()
	file := filepath.Join(folder, "endpoint.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "\nspec:\n", "\nspec:\n  catalogue: {structuredContent: Enabled}\n", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// save writes the manifests that a page shows into a folder.
func save(t *testing.T, path, folder string) {
	t.Helper()
	for _, b := range blocksOf(t, path) {
		if b.Language == "yaml" && b.File != "" {
			if err := os.WriteFile(filepath.Join(folder, b.File), []byte(b.Text()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// call makes an example's call and returns the text of the answer.
func (s *bookshop) call(t *testing.T, e example) string {
	t.Helper()
	token := s.token(t, e.caller)
	arguments := strings.ReplaceAll(e.arguments, "$confirmation_token", s.confirmation)
	for shown, given := range s.differing {
		arguments = strings.ReplaceAll(arguments, `"`+shown+`"`, `"`+given+`"`)
	}
	body := s.post(t, token, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, e.tool, arguments))
	var answer struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Content) != 1 {
		t.Fatalf("line %d: %s %s: %s, %v", e.line, e.tool, arguments, body, err)
	}
	text := answer.Content[0].Text
	if err := s.schemasOf(t, token).Check(e.tool, text, answer.StructuredContent, answer.IsError); err != nil {
		t.Errorf("line %d: %s %s: %v", e.line, e.tool, arguments, err)
	}
	var confirmation struct {
		Token string `json:"confirmation_token"`
	}
	if json.NewDecoder(bytes.NewBufferString(text)).Decode(&confirmation) == nil && confirmation.Token != "" {
		s.confirmation = confirmation.Token
	}
	return text
}

// token is the text of a token.
func (s *bookshop) token(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.state, "tokens", s.namespace, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// schemasOf returns the schemas of answers that a token is given.
func (s *bookshop) schemasOf(t *testing.T, token string) harness.AnswerSchemas {
	t.Helper()
	if s.schemas[token] == nil {
		schemas, err := harness.ReadAnswerSchemas(s.post(t, token, `{"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		s.schemas[token] = schemas
	}
	return s.schemas[token]
}

// post sends a body and returns the answer's body.
func (s *bookshop) post(t *testing.T, token, body string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
