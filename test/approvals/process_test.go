package approvals

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// built is the server's program, which is built once.
var built struct {
	once sync.Once
	path string
	err  error
}

// removeProgram removes it.
func removeProgram() {
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path)) // the system clears its folder of temporary files anyway
	}
}

func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		folder, err := os.MkdirTemp("", "mcp-approvals-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(folder, "mcp-admin-server")
		built.err = project.Build(context.Background(), "./cmd/server", built.path)
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

const (
	namespace = "test"
	secret    = "pods-mcp-config"
	statusKey = "status-key"
)

// fleet are the server processes of one endpoint, which read one signed Config, as pods do.
type fleet struct {
	t          *testing.T
	config     *contract.Config
	connection harness.Database
	folder     string
	public     ed25519.PublicKey
	private    ed25519.PrivateKey

	mu        sync.Mutex
	revision  int64
	decisions map[string]contract.Decision
}

func newFleet(t *testing.T, database harness.Database, config *contract.Config) *fleet {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, config: config, connection: database, folder: t.TempDir(), public: public, private: private, decisions: map[string]contract.Decision{}}
	main, err := contract.EncodeMain(config)
	if err != nil {
		t.Fatal(err)
	}
	f.write("main", contract.MainSecret(secret), main)
	f.decide()
	connection := filepath.Join(f.folder, "connection")
	if err := os.MkdirAll(connection, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range database.Connection {
		if err := os.WriteFile(filepath.Join(connection, name), value, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// decide writes the part of the tokens with these decisions and those from before, as the manager does.
func (f *fleet) decide(decisions ...contract.Decision) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range decisions {
		f.decisions[d.Name] = d
	}
	f.revision++
	part := &contract.TokenPart{Version: contract.Version, Revision: f.revision, Tokens: f.config.Tokens}
	for _, name := range slices.Sorted(maps.Keys(f.decisions)) {
		part.Decisions = append(part.Decisions, f.decisions[name])
	}
	encoded, err := contract.EncodeTokens(part)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write("tokens-0", contract.TokensSecret(secret, 0), encoded)
}

// forget has the next parts lack a decision.
func (f *fleet) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.decisions, name)
}

// write signs a part, and puts it in the place of the one before, as the kubelet does.
func (f *fleet) write(folder, name string, part contract.Part) {
	f.t.Helper()
	contract.Sign(part, f.private, contract.Place(namespace, name))
	into := filepath.Join(f.folder, "config", folder)
	version := filepath.Join(into, "..version-"+string(part[contract.PartKeyRevision]))
	if err := os.MkdirAll(version, 0o700); err != nil {
		f.t.Fatal(err)
	}
	for key, value := range part {
		if err := os.WriteFile(filepath.Join(version, key), value, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	data := filepath.Join(into, "..data")
	before, _ := os.Readlink(data) // there is none the first time
	if err := os.Symlink(filepath.Base(version), data+"_tmp"); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(data+"_tmp", data); err != nil {
		f.t.Fatal(err)
	}
	if before != "" {
		if err := os.RemoveAll(filepath.Join(into, before)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// pod is a server process.
type pod struct {
	fleet      *fleet
	process    *exec.Cmd
	url, admin string
	log        *bytes.Buffer
	// ended is closed when the process has ended.
	ended chan struct{}
	// cursor is how far its approvals were read.
	cursor string
}

// start starts a pod, and returns once it is ready.
func (f *fleet) start() *pod {
	f.t.Helper()
	var p *pod
	for range 3 { // another program may have taken its port meanwhile
		if p = f.tryStart(); p != nil {
			return p
		}
	}
	f.t.Fatal("a server is not ready, and its log says why")
	return nil
}

func (f *fleet) tryStart() *pod {
	f.t.Helper()
	endpoint, admin := harness.FreeAddress(f.t), harness.FreeAddress(f.t)
	p := &pod{fleet: f, url: "http://" + endpoint + "/mcp/", admin: "http://" + admin, log: &bytes.Buffer{}, ended: make(chan struct{})}
	p.process = exec.Command(program(f.t), "serve", "--listen="+endpoint, "--admin-listen="+admin, "--namespace="+namespace,
		"--config-secret="+secret, "--config-dir="+filepath.Join(f.folder, "config"), "--config-key="+contract.FormatPublicKey(f.public),
		"--connection-secret=db", "--connection-dir="+filepath.Join(f.folder, "connection"), "--drain-delay=0s", "--log-level=WARN")
	p.process.Stderr = p.log
	if err := p.process.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		_ = p.process.Wait() // it is killed in the end
		close(p.ended)
	}()
	f.t.Cleanup(p.kill)
	for deadline := time.After(2 * time.Minute); ; {
		if response, err := http.Get(p.admin + "/readyz"); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return p
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
			continue
		case <-p.ended:
		case <-deadline:
			p.kill()
		}
		f.t.Logf("a server is not ready: %s", p.log)
		return nil
	}
}

// kill ends the process as a node that fails does, and returns once it is gone. A process that has ended stays so.
func (p *pod) kill() {
	_ = p.process.Process.Kill()
	<-p.ended
}

// client makes a connection for each call: those to a pod that was killed tell nothing about the next.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// answer is what an agent gets of a call.
type answer struct {
	Success               bool
	Code, Error, Approval string
	Call                  string
	// Approvals are those of the tool approvals.
	Approvals []struct{ State string }
}

// call calls a tool; an error is a pod that does not answer.
func (p *pod) call(tool, arguments string) (answer, error) {
	var a answer
	request, err := http.NewRequest(http.MethodPost, p.url, bytes.NewReader(fmt.Appendf(nil, `{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments)))
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+agent)
	response, err := client.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	var got struct{ Content []struct{ Text string } }
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return a, err
	}
	if len(got.Content) != 1 {
		return a, fmt.Errorf("no content: %s", response.Status)
	}
	return a, json.Unmarshal([]byte(got.Content[0].Text), &a)
}

// approvals reads what the pod tells the manager since it was asked last; an error is a pod that does not answer.
func (p *pod) approvals() ([]contract.Approval, error) {
	var all []contract.Approval
	for {
		request, err := http.NewRequest(http.MethodGet, p.admin+"/approvals?"+url.Values{"after": {p.cursor}}.Encode(), nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+statusKey)
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		var page contract.ApprovalPage
		err = json.NewDecoder(response.Body).Decode(&page)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		all, p.cursor = append(all, page.Approvals...), page.Cursor
		if !page.More {
			return all, nil
		}
	}
}

// sealKey is the endpoint's.
var sealKey = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
