package observe_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A thousand pods are asked again and again: each keeps its connection, until it is a pod no longer.
func TestAPodIsAskedOnOneConnection(t *testing.T) {
	opened, closed := make(chan net.Conn, 100), make(chan net.Conn, 100)
	var asked atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if n := asked.Add(1); n <= 5 {
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: fmt.Sprint(n), Models: make([]contract.ModelStatus, 100)})
			return
		}
		<-request.Context().Done()
	}))
	server.Config.ConnState = func(connection net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened <- connection
		case http.StateClosed:
			closed <- connection
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
	for range 5 {
		receive(t, reports)
	}
	if len(opened) != 1 || len(closed) > 0 {
		t.Errorf("%d connections were opened and %d closed for five answers", len(opened), len(closed))
	}
	poller.Observe(shop, "", nil)
	select {
	case <-closed:
	case <-time.After(10 * time.Minute):
		t.Fatal("a pod that is gone keeps its connection")
	}
}

// A pod's image is the choice of whoever wrote the endpoint: what it answers has an end, and after what is no answer the next
// question comes on another connection.
func TestAnAnswerWithoutEndIsGivenUp(t *testing.T) {
	for name, answer := range map[string]struct{ start, more string }{
		"a head":         {"HTTP/1.1 200 OK\r\n", "X-More: of the same\r\n"},
		"a body":         {"HTTP/1.1 200 OK\r\n\r\n", " "},
		"a chunked body": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		"first answers":  {"", "HTTP/1.1 100 Continue\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			go answerWithoutEnd(listener, answer.start, strings.Repeat(answer.more, 1<<10))
			poller, reports := newPoller(t)
			poller.Observe(shop, "key", []corev1.Pod{pod("p", &httptest.Server{URL: "http://" + listener.Addr().String()})})
			receive(t, reports)
			if status, wait := poller.Report(shop, "p"); status != nil || wait != 0 {
				t.Fatalf("it counts as an answer: %+v, wait %v", status, wait)
			}
			receive(t, reports)
			if status, _ := poller.Report(shop, "p"); status == nil || status.Serial != "a" {
				t.Fatalf("report: %+v", status)
			}
		})
	}
}

// answerWithoutEnd does so on the first connection, and answers one question on each other.
func answerWithoutEnd(listener net.Listener, start, more string) {
	for first := true; ; first = false {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = connection.Read(make([]byte, 1<<10))
		if !first {
			_, _ = connection.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"serial\":\"a\"}"))
			continue
		}
		for _, err = connection.Write([]byte(start)); err == nil; {
			_, err = connection.Write([]byte(more))
		}
	}
}
