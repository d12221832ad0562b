package onewrite_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/onewrite"
)

// counted counts the writes of a connection that are not joined.
type counted struct {
	*net.TCPConn
	writes *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.TCPConn.Write(p)
}

type countedListener struct {
	net.Listener
	writes atomic.Int64
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return counted{c.(*net.TCPConn), &l.writes}, nil
}

// serve answers each request with a body of the size in its URL, written in pieces of at most piece bytes.
func serve(t *testing.T, piece int) (address string, writes *atomic.Int64) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &countedListener{Listener: tcp}
	server := &http.Server{ConnContext: onewrite.Context, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var size int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &size)
		body := bodyOf(size)
		w.Header().Set("Content-Length", fmt.Sprint(size))
		onewrite.Of(r.Context()).Expect(size)
		for len(body) > 0 {
			n, _ := w.Write(body[:min(len(body), piece)])
			body = body[n:]
		}
	})}
	go func() { _ = server.Serve(onewrite.Listener{Listener: listener}) }()
	t.Cleanup(func() { _ = server.Close() })
	return tcp.Addr().String(), &listener.writes
}

func bodyOf(size int) []byte {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte('a' + i%26)
	}
	return body
}

func TestAnAnswerIsOneWrite(t *testing.T) {
	address, writes := serve(t, 128<<10)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reader := bufio.NewReader(c)
	for _, test := range []struct {
		size int
		// alone are the writes that were not joined with another.
		alone int64
	}{
		// Just below 4 KB the first write is as long as the body, and might be all.
		{4096, 2}, {0, 1}, {10, 1}, {3000, 1}, {3900, 1}, {4097, 0}, {5000, 0}, {9000, 0}, {100000, 0}, {10, 1},
	} {
		before := writes.Load()
		if _, err := fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", test.size); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !bytes.Equal(body, bodyOf(test.size)) {
			t.Errorf("%d bytes: another body came: %d bytes, %v", test.size, len(body), err)
		}
		if alone := writes.Load() - before; alone != test.alone {
			t.Errorf("%d bytes: %d writes were not joined, want %d", test.size, alone, test.alone)
		}
	}
}

// However an answer is written, all of it arrives, in order.
func TestAnAnswerInPiecesIsWhole(t *testing.T) {
	for _, piece := range []int{1, 100, 4096, 5000, 64 << 10} {
		address, _ := serve(t, piece)
		for size := range 30 {
			size = size * 307
			response, err := http.Get(fmt.Sprintf("http://%s/%d", address, size))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || !bytes.Equal(body, bodyOf(size)) {
				t.Errorf("%d bytes in pieces of %d: another body came: %d bytes, %v", size, piece, len(body), err)
			}
		}
	}
}
