package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// wire is a connection on which the test writes what it likes.
func (r *running) wire() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.endpoint, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return conn
}

// hangsUp waits until the server ends the connection, while the client sends a byte now and then, and returns what it
// said before.
func hangsUp(t *testing.T, conn net.Conn, dribble string) (said string, after time.Duration) {
	t.Helper()
	began := time.Now()
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
				if _, err := conn.Write([]byte(dribble)); err != nil {
					return
				}
			}
		}
	}()
	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
	all, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the connection is still open; it said %q", all)
	}
	return string(all), time.Since(began)
}

func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	const header, request = 200 * time.Millisecond, 500 * time.Millisecond
	r := start(t, func(s *server.Server, _ *running) { s.LosePatience(header, request) })
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	for _, c := range []struct {
		name, sent, dribble string
		patience            time.Duration
	}{
		{"in the request line", "PO", "S", header},
		{"in the headers", "POST /mcp/ HTTP/1.1\r\nHost: books\r\n", "X", header},
		{"that says nothing", "", "", header},
		{"in the body", "POST /mcp/ HTTP/1.1\r\nHost: books\r\nContent-Length: 10000\r\nAuthorization: Bearer " + token + "\r\n\r\n{", " ", request},
		{"in the body, without a token", "POST /mcp/ HTTP/1.1\r\nHost: books\r\nContent-Length: 10000\r\n\r\n{", " ", request},
		{"in a chunked body", "POST /mcp/ HTTP/1.1\r\nHost: books\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer " + token + "\r\n\r\n", "1\r\n \r\n", request},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := r.wire()
			if _, err := conn.Write([]byte(c.sent)); err != nil {
				t.Fatal(err)
			}
			said, after := hangsUp(t, conn, c.dribble)
			if after < c.patience/2 || after > c.patience+time.Minute || strings.Contains(said, "200 OK") {
				t.Errorf("after %v, with %q", after, said)
			}
		})
	}
	if status, _ := r.post(listTools); status != 200 {
		t.Errorf("another client: %d", status)
	}
}

func TestLimitsOverASocket(t *testing.T) {
	t.Parallel()
	r := start(t, func(s *server.Server, _ *running) { s.LosePatience(time.Second, time.Second) })
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	big := strings.Repeat(" ", 1<<16+1)
	for _, c := range []struct{ name, sent, status string }{
		{"a body that says it is too large", fmt.Sprintf("Content-Length: %d\r\n\r\n", 1<<40), "413 "},
		{"a body that turns out too large", "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(big), big), "413 "},
		{"headers that are too large", "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := r.wire()
			if _, err := io.WriteString(conn, "POST /mcp/ HTTP/1.1\r\nHost: books\r\nAuthorization: Bearer "+token+"\r\n"+c.sent); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
			reader := bufio.NewReader(conn)
			line, err := reader.ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+c.status) {
				t.Errorf("%q, %v", line, err)
			}
			if rest, err := io.ReadAll(reader); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Errorf("the connection stays open: %v after %q", err, rest)
			}
		})
	}
}

// waiting is a database whose reads take until they are let go, or their caller gives up.
type waiting struct {
	database.DB
	entered chan struct{}
	leave   chan struct{}
	ended   chan error
}

func (w waiting) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	w.entered <- struct{}{}
	select {
	case <-w.leave:
		return w.DB.Select(ctx, plan, out)
	case <-ctx.Done():
		w.ended <- ctx.Err()
		return out, database.Page{}, &database.Error{Code: database.Cancelled, Message: "cancelled", Cause: ctx.Err()}
	}
}

// startWaiting runs a server whose reads wait.
func startWaiting(t *testing.T, configure func(*server.Server)) (*running, waiting) {
	w := waiting{entered: make(chan struct{}, 100), leave: make(chan struct{}), ended: make(chan error, 100)}
	r := start(t, func(s *server.Server, _ *running) {
		open := s.OpenDatabase
		s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
			return waiting{open(engine, settings), w.entered, w.leave, w.ended}
		}
		if configure != nil {
			configure(s)
		}
	})
	return r, w
}

func TestRequestsBeyondTheLimitAreToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	r, w := startWaiting(t, nil)
	const limit = 3
	c := config(1)
	c.Endpoint.Limits.MaxConcurrentRequests = limit + 1 // of which one is left to other tokens
	c.Endpoint.Database.MaxConnections = limit + 1
	r.apply(source.Update{Config: c})
	r.untilReady()
	answered := make(chan int, limit)
	for range limit {
		go func() {
			status, _ := r.post(listBooks)
			answered <- status
		}()
		<-w.entered
	}
	request, _ := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(listTools))
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %d, Retry-After %q", response.StatusCode, response.Header.Get("Retry-After"))
	}
	close(w.leave)
	for range limit {
		if status := <-answered; status != 200 {
			t.Errorf("one of those at once: %d", status)
		}
	}
	if status, _ := r.post(listBooks); status != 200 {
		t.Errorf("one after them: %d", status)
	}
}

// Clients that keep their connections are asked to let go of them while the server drains, so that none is closed at
// the moment at which its client sends a request.
func TestKeptConnectionsLoseNoRequestAtTheEnd(t *testing.T) {
	t.Parallel()
	r := start(t, func(s *server.Server, _ *running) { s.DrainDelay = 500 * time.Millisecond })
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	var clients sync.WaitGroup
	var answers atomic.Int64
	for range 8 {
		clients.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: time.Minute}
			for {
				request, _ := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", io.NopCloser(strings.NewReader(listBooks))) // cannot be sent again
				request.Header.Set("Authorization", "Bearer "+token)
				response, err := client.Do(request)
				if err != nil {
					t.Errorf("a request was lost: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode != 200 {
					t.Errorf("status %d", response.StatusCode)
				}
				answers.Add(1)
				if response.Close {
					return // A router has sent the next one elsewhere by now.
				}
			}
		})
	}
	for deadline := time.Now().Add(10 * time.Minute); answers.Load() < 50 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	r.stop()
	clients.Wait()
	if answers.Load() < 50 {
		t.Errorf("%d answers", answers.Load())
	}
}

func TestConfigWithOriginsReachesTheSocket(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(1)
	c.Endpoint.AllowedOrigins = []string{"https://*.example.com"}
	r.apply(source.Update{Config: c})
	r.untilReady()
	for origin, want := range map[string]int{"https://console.example.com": 200, "https://example.org": 403} {
		request, _ := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(listTools))
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Access-Control-Allow-Origin"); response.StatusCode != want || (got == origin) != (want == 200) {
			t.Errorf("%s: %d, allowed %q", origin, response.StatusCode, got)
		}
	}
	if s := r.status("", ""); s.Certificate != nil || s.Database.Reason != contract.ReasonConnected {
		t.Errorf("the status is %+v", s)
	}
}
