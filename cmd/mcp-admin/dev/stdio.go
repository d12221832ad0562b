package dev

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A stdio serves a client that started this process: it sends each line of JSON-RPC that it reads to the endpoint, as a
// request over HTTP, and writes the answer as a line.
type stdio struct {
	client *http.Client
	url    string
	// token is the caller's token.
	token func() string
	in    io.Reader

	mu  sync.Mutex
	out io.Writer
	// version is the protocol version that initialize agreed on; "" before it.
	version string
}

// maxMessage is the longest line that is read: more than any body that the endpoint takes.
const maxMessage = 64 << 20

// run answers until there is nothing more to read, and all answers are written. Requests are answered side by side, but
// initialize comes first.
func (s *stdio) run(ctx context.Context) error {
	lines := bufio.NewScanner(s.in)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	var running sync.WaitGroup
	defer running.Wait()
	for lines.Scan() {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		var m message
		_ = json.Unmarshal(line, &m) // the endpoint says what is wrong with it
		if m.Method == "initialize" {
			s.answer(ctx, line, &m)
			continue
		}
		running.Go(func() { s.answer(ctx, line, &m) })
	}
	return lines.Err()
}

// message holds the parts of a message that decide how it is sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// answer sends a message and writes what comes back. A request that could not be sent gets an error; a notification nothing.
func (s *stdio) answer(ctx context.Context, line []byte, m *message) {
	body, err := s.send(ctx, line, m)
	if err != nil && len(m.ID) > 0 && ctx.Err() == nil {
		body, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": err.Error()}})
	}
	body = bytes.TrimSpace(body)
	if err != nil || len(body) == 0 || len(m.ID) == 0 && !bytes.HasPrefix(line, []byte("[")) && json.Valid(line) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method == "initialize" {
		var answer struct {
			Result struct {
				Version string `json:"protocolVersion"`
			} `json:"result"`
		}
		_ = json.Unmarshal(body, &answer) // an error has no version
		s.version = answer.Result.Version
	}
	_, _ = s.out.Write(append(body, '\n')) // a client that is gone reads nothing
}

func (s *stdio) send(ctx context.Context, line []byte, m *message) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token())
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	s.mu.Lock()
	version := s.version
	s.mu.Unlock()
	if modern := m.Params.Meta.Version; modern != "" {
		version = modern
		request.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			request.Header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(name))+"?=")
		}
	}
	if version != "" && m.Method != "initialize" {
		request.Header.Set("Mcp-Protocol-Version", version)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, errors.New("the server does not answer")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, errors.New("the server's answer broke off")
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") && len(body) > 0 || !isMessage(body) && response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return body, nil
}

// isMessage reports whether a body is JSON-RPC, and not the answer to a request that never came that far.
func isMessage(body []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) || json.Unmarshal(body, &m) == nil && m.Version != ""
}

// caller returns the text of the token by which a client calls: the named one, or the only one.
func (o *options) caller(first *outcome, r *reporter) (func() string, error) {
	var names []string
	for _, key := range first.usable() {
		if o.token == "" || o.token == key.Name || o.token == key.String() {
			names = append(names, key.String())
		}
	}
	switch {
	case len(names) == 0 && o.token != "":
		return nil, fmt.Errorf("--token: there is no MCPToken %s in force whose text is known", o.token)
	case len(names) == 0:
		return nil, errors.New("--stdio: there is no MCPToken in force whose text is known")
	case len(names) > 1:
		return nil, fmt.Errorf("--stdio: there are several MCPTokens: say which with --token %s", strings.Join(names, " or --token "))
	}
	namespace, name, _ := strings.Cut(names[0], "/")
	key := types.NamespacedName{Namespace: namespace, Name: name}
	known := first.texts[key]
	return func() string { return cmp.Or(r.text(key), known) }, nil
}

// startPatience is how long a client's first request waits for the database's schema.
const startPatience = 20 * time.Second

// untilReady waits until the server has read the schema, or for startPatience: calls then tell what is wrong.
func untilReady(ctx context.Context, client *http.Client, url string) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return
		}
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}
