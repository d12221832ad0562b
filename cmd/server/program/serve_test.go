package program

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const token = "a-token-of-more-than-thirty-two-characters"

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServeFromMountsUntilItIsToldToEnd(t *testing.T) {
	dir := t.TempDir()
	config := &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: 1,
		Endpoint: contract.Endpoint{
			Namespace: "shop", Name: "books", StatusKey: "key", SealKey: contract.NewSealKey(),
			Database: contract.Database{Engine: contract.EngineSQLite, MaxConnections: 1, StatementTimeout: contract.Duration(time.Minute)},
			Limits:   contract.Limits{MaxBodyBytes: 1 << 16, MaxConcurrentRequests: 10, MaxResultBytes: 1 << 20},
		},
		Models: []contract.Model{{Exposure: "book", Name: "book", Table: "book", Expose: true, DefaultPageSize: 10, MaxPageSize: 10, MaxBulkItems: 10}},
		Tokens: []contract.Token{{Namespace: "shop", Name: "agent", Hashes: []string{contract.HashToken(token)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
	}
	main, err := contract.EncodeMain(config)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: 1, Tokens: config.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, filepath.Join(dir, "config", "main"), main)
	writeFiles(t, filepath.Join(dir, "config", "tokens-0"), tokens)
	writeFiles(t, filepath.Join(dir, "init"), map[string][]byte{
		"book.sql": []byte("create table book (book_id integer primary key, title text); insert into book values (1, 'Solaris');"),
	})
	logged := captureStdout(t)
	endpoint, admin, second := harness.FreeAddress(t), harness.FreeAddress(t), harness.FreeAddress(t)
	command := newCommand()
	command.SetArgs([]string{"serve", "--listen=" + endpoint, "--listen=" + second, "--admin-listen=" + admin, "--config-secret=books-mcp-config",
		"--config-dir=" + filepath.Join(dir, "config"), "--sqlite-file=" + filepath.Join(dir, "db.sqlite"),
		"--sqlite-init-dir=" + filepath.Join(dir, "init"), "--drain-delay=0s", "--log-level=ERROR", "--pprof"})
	ctx, end := context.WithCancel(context.Background())
	defer end()
	done := make(chan error, 1)
	go func() { done <- command.ExecuteContext(ctx) }()

	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if response, err := http.Get("http://" + admin + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == 200 {
				break
			}
		}
		select {
		case err := <-done:
			t.Fatal("serve has ended: ", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("never ready")
		}
	}
	if response, err := http.Get("http://" + admin + "/debug/pprof/"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("with --pprof the admin port serves no profiles: %v, %v", response, err)
	} else {
		response.Body.Close()
	}
	for _, row := range []struct{ address, tool, want string }{
		{endpoint, `"list_book","arguments":{}`, "Solaris"},
		{second, `"list_book","arguments":{}`, "Solaris"},
		{endpoint, `"delete_book","arguments":{"id":1}`, "permission_denied"},
	} {
		request, _ := http.NewRequest("POST", "http://"+row.address+"/mcp/", strings.NewReader(`{"method":"tools/call","name":`+row.tool+`}`))
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != 200 || !strings.Contains(string(answer), row.want) {
			t.Errorf("%s: %d %s", row.address, response.StatusCode, answer)
		}
	}
	end()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Minute):
		t.Error("serve does not end")
	}
	// Audit lines are written at every log level.
	if lines := logged(); strings.Count(lines, "\n") != 1 || !strings.Contains(lines, `"msg":"audit","token":"shop/agent","tool":"delete_book"`) {
		t.Errorf("logged:\n%s", lines)
	}
}

// captureStdout redirects standard output until the test ends, and returns a function that returns what was written.
func captureStdout(t *testing.T) func() string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = file
	t.Cleanup(func() {
		os.Stdout = before
		file.Close()
	})
	return func() string {
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestServeRefusesWhatCannotWork(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"no Config", "config-secret", []string{"--config-dir=x"}},
		{"no folder and no API", "--config-dir", []string{"--config-secret=x"}},
		{"a service account without a namespace", "--namespace", []string{"--config-secret=x", "--config-dir=x", "--service-account-dir=x"}},
		{"a service account outside of a cluster", "no pod", []string{"--config-secret=x", "--config-dir=x", "--service-account-dir=x", "--namespace=shop"}},
		{"a port that is taken", "--listen", []string{"--config-secret=x", "--config-dir=x", "--listen=" + taken.Addr().String()}},
		{"an argument", "unknown command", []string{"--config-secret=x", "--config-dir=x", "more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := newCommand()
			command.SetArgs(append([]string{"serve"}, c.args...))
			if err := command.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
