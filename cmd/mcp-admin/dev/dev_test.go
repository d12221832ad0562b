package dev

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// screen is the command's output so far.
type screen struct{ harness.Log }

// waitFor returns what was printed once it has the text.
func (s *screen) waitFor(t *testing.T, text string) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if printed := s.String(); strings.Contains(printed, text) {
			return printed
		}
	}
	t.Fatalf("%q was not printed, but:\n%s", text, s.String())
	return ""
}

// openState opens a state folder until the test ends.
func openState(t *testing.T, folder string) *State {
	t.Helper()
	s, err := OpenState(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// start runs the command until the returned function is called.
func start(t *testing.T, args ...string) (*screen, func()) {
	t.Helper()
	var out screen
	cmd := Command()
	cmd.SetArgs(append(args, "--listen", harness.FreeAddress(t), "--admin-listen", harness.FreeAddress(t)))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("dev ended with %v", err)
		}
	})
	t.Cleanup(end)
	return &out, end
}

var (
	servedAt    = regexp.MustCompile(`is served at (\S+)`)
	bearerToken = regexp.MustCompile(`Bearer ([^"]+)"`)
)

// ask lists notes with a token.
func ask(t *testing.T, printed, token string) (int, string) {
	t.Helper()
	return call(t, printed, token, "list_note", "{}")
}

// call calls a tool of the endpoint that was printed.
func call(t *testing.T, printed, token, tool, arguments string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments)
	request, err := http.NewRequest(http.MethodPost, servedAt.FindStringSubmatch(printed)[1], strings.NewReader(body))
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
	return response.StatusCode, string(answer)
}

const notes = endpointYAML + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: sql}
data:
  1.sql: CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
  2.sql: INSERT INTO note (text) VALUES ('hello');
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: note}
spec: {endpointRef: {name: notes}, table: {name: note}, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent}
spec: {endpointRef: {name: notes}, permissions: [{models: ["*"], verbs: [view]}]}
`

func TestDevServesWhatTheFilesSayAndFollowsThem(t *testing.T) {
	folder := write(t, map[string]string{"notes.yaml": notes})
	state := t.TempDir()
	out, end := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	token := bearerToken.FindStringSubmatch(printed)[1]
	if status, body := ask(t, printed, token); status != http.StatusOK || !strings.Contains(body, `hello`) {
		t.Fatalf("%d %s", status, body)
	}
	file := filepath.Join(state, "tokens", "default", "agent")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}

	// A file that cannot be used changes nothing; one that can is in force soon.
	replace := func(content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "notes.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replace(strings.Replace(notes, "expose:", "expsoe:", 1))
	out.waitFor(t, "spec.expsoe: Forbidden: there is no such field")
	replace(notes)
	out.waitFor(t, "What is to be served can be read again.")
	if status, _ := ask(t, printed, token); status != http.StatusOK {
		t.Errorf("bad manifests took the good ones down: %d", status)
	}
	replace(notes + "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPModelExposure\nmetadata: {name: other}\nspec: {endpointRef: {name: notes}, table: {name: nope}}\n")
	out.waitFor(t, "table nope does not exist")
	replace(strings.Replace(notes, "{endpointRef: {name: notes}, table", "{endpointRef: {name: note}, table", 1))
	out.waitFor(t, "not used: MCPModelExposure default/note, since there is no MCPEndpoint default/note")
	out.waitFor(t, "  note: no longer\n")
	replace(strings.Replace(notes, "spec: {endpointRef: {name: notes}, permissions", "spec: {endpointRef: {name: notes}, active: false, permissions", 1))
	out.waitFor(t, "default/agent is refused: Inactive")
	if status, _ := ask(t, printed, token); status != http.StatusUnauthorized {
		t.Errorf("an inactive token gets %d", status)
	}
	end()
	if printed := out.String(); strings.Count(printed, "is served at") != 1 || strings.Count(printed, "claude mcp add") != 1 {
		t.Errorf("what had not changed was printed again:\n%s", printed)
	}

	// The next start has the same token, and the rows that were there.
	replace(notes)
	out, _ = start(t, "-f", folder, "--state", state)
	printed = out.waitFor(t, "claude mcp add")
	if again := bearerToken.FindStringSubmatch(printed)[1]; again != token {
		t.Errorf("the next start has another token")
	}
}

// executeSQLite runs SQL on a file, which is made if it does not exist.
func executeSQLite(t *testing.T, file, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDevServesAnExistingSQLiteFileInPlaceAndWritesAuditLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.sqlite")
	executeSQLite(t, file, "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note (text) VALUES ('mine')")
	manifests := write(t, map[string]string{"notes.yaml": strings.Replace(notes, "verbs: [view]", "verbs: [view, change]", 1)})
	state := t.TempDir()
	out, end := start(t, "-f", manifests, "--state", state, "--sqlite", file)
	printed := out.waitFor(t, "claude mcp add")
	token := bearerToken.FindStringSubmatch(printed)[1]
	if _, body := ask(t, printed, token); !strings.Contains(body, "mine") || strings.Contains(body, "hello") {
		t.Errorf("listed %s", body)
	}
	if _, body := call(t, printed, token, "update_note", `{"id":1,"data":{"text":"ours"}}`); !strings.Contains(body, "success") {
		t.Errorf("got %s, want success in it", body)
	}
	call(t, printed, token, "delete_note", `{"id":1}`)
	end()
	var outcomes []string
	for line := range strings.Lines(out.String()) {
		var audit struct{ Msg, Outcome string }
		if json.Unmarshal([]byte(line), &audit) == nil && audit.Msg == "audit" {
			outcomes = append(outcomes, audit.Outcome)
		}
	}
	if fmt.Sprint(outcomes) != "[ok permission_denied]" {
		t.Errorf("audit lines with the outcomes %v in\n%s", outcomes, out)
	}
	if _, err := os.Stat(filepath.Join(state, "sqlite")); !os.IsNotExist(err) {
		t.Errorf("a file was made in the state: %v", err)
	}
}

func TestDevTakesATokenFromASecretAmongTheManifests(t *testing.T) {
	const text = "a token of my own, of thirty-two characters or more"
	out, _ := start(t, "--state", t.TempDir(), "-f", write(t, map[string]string{
		"notes.yaml": strings.Replace(notes, "permissions: [", "tokenSecretRef: {name: own, key: token}, permissions: [", 1),
		"own.yaml":   fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: own}\nstringData: {token: %q}\n", text),
	}))
	printed := out.waitFor(t, "claude mcp add")
	if status, body := ask(t, printed, text); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

func TestDevEndsAtOnceWhereTheManifestsCannotBeUsed(t *testing.T) {
	for name, tc := range map[string]struct{ files, want string }{
		"no endpoint":   {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", "the manifests hold no MCPEndpoint"},
		"two endpoints": {endpointYAML + "---\n" + strings.Replace(endpointYAML, "notes", "books", 1), "say which with --endpoint"},
		"no ConfigMap":  {endpointYAML, "the manifests hold no ConfigMap default/sql"},
		"no Secret":     {strings.Replace(endpointYAML, "sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}", "connectionSecretRef: {name: db}", 1), "spec.database.connectionSecretRef: the manifests hold no Secret default/db"},
		"not valid":     {strings.Replace(endpointYAML, "emptyDir: {}, ", "", 1), "MCPEndpoint default/notes: spec.database.sqlite"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := Command()
			cmd.SetArgs([]string{"-f", write(t, map[string]string{"x.yaml": tc.files}), "--state", t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"})
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ended with %v, want %q", err, tc.want)
			}
		})
	}
}

// What lint says of rights that reach nothing, dev says too.
func TestDevReportsRulesWithoutEffect(t *testing.T) {
	more := strings.NewReplacer(`models: ["*"]`, `models: [noet, note]`).Replace(notes) + `---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: tag}
spec:
  endpointRef: {name: notes}
  table: {name: tag}
  fields: {exclude: [inner]}
  rowPolicies: [{name: mine, appliesTo: Everyone, filters: [{field: owner, tokenAttribute: owner}]}]
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: tagger}
spec: {endpointRef: {name: notes}, permissions: [{models: [tag], verbs: [view]}]}
`
	s := &manifestSource{approvals: &approvals{},
		paths: []string{write(t, map[string]string{"notes.yaml": more})}, state: openState(t, t.TempDir()),
		baseURL: "http://127.0.0.1:1", statusKey: "key", sealKey: contract.NewSealKey(),
	}
	o, err := s.load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	printed := o.report(&contract.Status{Models: []contract.ModelStatus{{Name: "tag", Reason: contract.ReasonServed, Hidden: []string{"api_key"}}}}).String()
	for _, want := range []string{
		`default/agent: spec.permissions names the model "noet", which does not exist. The nearest is "note".`,
		`default/tagger: The token sees no row of "tag": the row policy "mine" asks for the attribute "owner", which the token does not have.`,
		"tag: expose is not set, so tools/list does not show the model.",
		"hidden: api_key, inner",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("not printed: %s\n%s", want, printed)
		}
	}
}

const webhookYAML = `---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: note}
spec:
  endpointRef: {name: notes}
  table: {name: note}
  actions:
  - {name: send, requires: [view], webhook: {url: "http://notes.example:81/send", headersSecretRef: {name: hook}}}
`

func TestDevTakesTheHeadersOfAWebhookFromASecretAmongTheManifests(t *testing.T) {
	exposure := strings.Index(notes, "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPModelExposure")
	token := strings.Index(notes, "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken")
	for name, tc := range map[string]struct{ secret, headers, lack string }{
		"for its host": {
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: hook, annotations: {mcpadmin.dev/webhook-host: \"notes.example:81\"}}\nstringData: {X-Key: hush, signing-key: hush too}\n",
			"map[X-Key:hush]", "",
		},
		"for another host": {
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: hook, annotations: {mcpadmin.dev/webhook-host: elsewhere}}\nstringData: {X-Key: hush}\n",
			"map[]", "MCPModelExposure default/note lacks something: WebhookSecretInvalid: action \"send\": Secret \"hook\" must carry",
		},
		"not there": {"", "map[]", "MCPModelExposure default/note lacks something: SecretNotFound: action \"send\": Secret \"hook\" does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			files := notes[:exposure] + notes[token:] + webhookYAML + tc.secret
			s := &manifestSource{approvals: &approvals{},
				paths: []string{write(t, map[string]string{"notes.yaml": files})}, state: openState(t, t.TempDir()),
				baseURL: "http://127.0.0.1:1", statusKey: "key", sealKey: contract.NewSealKey(),
			}
			o, err := s.load(t.Context(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := o.config.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(o.config.Models[0].Actions[0].Webhook.Headers); got != tc.headers {
				t.Errorf("headers %s, want %s", got, tc.headers)
			}
			printed := o.report(&contract.Status{}).String()
			if strings.Contains(printed, "lacks something") != (tc.lack != "") || !strings.Contains(printed, tc.lack) || strings.Contains(printed, "hush") {
				t.Errorf("printed:\n%s", printed)
			}
		})
	}
}
