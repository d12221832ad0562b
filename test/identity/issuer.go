package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// An issuer is oidc-provider as a process of its own, over TLS, at an address that it keeps when it is started again. Its
// private keys are the test's, so that the test can also sign what no issuer would.
type issuer struct {
	url    string
	signer *signer

	program  string
	settings issuerSettings
	file     string
	client   *http.Client
	process  *exec.Cmd
	stderr   *os.File

	mu       sync.Mutex
	requests map[string]int
}

// issuerSettings are read by issuer.mjs.
type issuerSettings struct {
	URL         string                    `json:"url"`
	Port        int                       `json:"port"`
	Certificate string                    `json:"certificate"`
	Key         string                    `json:"key"`
	Keys        []json.RawMessage         `json:"keys"`
	Algorithm   string                    `json:"algorithm"`
	Resources   []string                  `json:"resources"`
	Clients     []string                  `json:"clients"`
	Claims      map[string]map[string]any `json:"claims"`
}

// newIssuer prepares an issuer that signs with an algorithm; start starts it. Its files go to dir.
func newIssuer(program, dir, name, algorithm string, ca *authority) (*issuer, error) {
	address, err := project.FreeAddress()
	if err != nil {
		return nil, err
	}
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	i := &issuer{
		url: "https://" + address, program: program, file: filepath.Join(dir, name+".json"), requests: map[string]int{},
		client: &http.Client{Timeout: time.Minute, Transport: clientTransport(ca)},
	}
	i.settings = issuerSettings{URL: i.url, Port: tcp.Port, Algorithm: algorithm, Claims: map[string]map[string]any{}}
	if i.settings.Certificate, i.settings.Key, err = ca.issue(); err != nil {
		return nil, err
	}
	if i.stderr, err = os.Create(filepath.Join(dir, name+".log")); err != nil {
		return nil, err
	}
	return i, i.newKey(name + "-1")
}

// newKey has the issuer sign with a new key, and forget the others; it counts from the next start on.
func (i *issuer) newKey(id string) error {
	s, err := newSigner(i.settings.Algorithm, id)
	if err != nil {
		return err
	}
	key, err := s.privateJWK()
	i.signer, i.settings.Keys = s, []json.RawMessage{key}
	return err
}

// addClient adds a client who can have tokens with claims.
func (i *issuer) addClient(name string, claims map[string]any) {
	i.settings.Clients = append(i.settings.Clients, name)
	if claims != nil {
		i.settings.Claims[name] = claims
	}
}

func (i *issuer) start(ctx context.Context) error {
	text, err := json.Marshal(i.settings)
	if err != nil {
		return err
	}
	if err := os.WriteFile(i.file, text, 0o600); err != nil {
		return err
	}
	i.process = exec.Command(i.program, filepath.Join(folder, "issuer.mjs"), i.file)
	i.process.Stderr = i.stderr
	out, err := i.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := i.process.Start(); err != nil {
		return err
	}
	listening := make(chan bool, 1)
	go i.count(out, listening)
	select {
	case yes := <-listening:
		if yes {
			return nil
		}
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return errors.Join(fmt.Errorf("the issuer did not start; see %s", i.stderr.Name()), i.stop())
}

// count counts the requests that the issuer prints.
func (i *issuer) count(out io.Reader, listening chan<- bool) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "listening" {
			listening <- true
			continue
		}
		i.mu.Lock()
		i.requests[lines.Text()]++
		i.mu.Unlock()
	}
	close(listening)
}

// asked is how often the issuer was asked for its configuration or its keys.
func (i *issuer) asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests["GET /.well-known/openid-configuration"] + i.requests["GET /jwks"]
}

func (i *issuer) stop() error {
	if i.process == nil {
		return nil
	}
	_ = i.process.Process.Signal(syscall.SIGTERM) // Wait reports a process that is gone already
	err := i.process.Wait()
	i.process = nil
	return err
}

// token asks for a client's token for a resource, as the client would (RFC 6749, section 4.4; RFC 8707).
func (i *issuer) token(ctx context.Context, client, resource string) (string, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {"secret"}, "resource": {resource}, "scope": {"mcp"},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := i.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("no token for %s: %s", client, body)
	}
	return answer.Token, nil
}
