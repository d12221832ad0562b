// Package wire stands between a program and its server, such as a database, for tests in which the server goes away and comes back.
package wire

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Wire passes the connections to a port of the loopback address on to a server. It can be cut and mended.
type Wire struct {
	// Port stays the same.
	Port   int
	target string

	mu sync.Mutex
	// listener is nil while the wire is cut.
	listener net.Listener
	open     []net.Conn
}

// To returns a wire to the server at an address, such as "127.0.0.1:5432".
func To(target string) (*Wire, error) {
	w := &Wire{target: target}
	return w, w.Mend()
}

// Mend listens again, at the same port as before.
func (w *Wire) Mend() error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", w.Port))
	if err != nil {
		return err
	}
	w.Port = listener.Addr().(*net.TCPAddr).Port
	w.mu.Lock()
	w.listener = listener
	w.mu.Unlock()
	go w.accept(listener)
	return nil
}

// accept passes connections on until the listener is closed.
func (w *Wire) accept(listener net.Listener) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		w.mu.Lock()
		if w.listener != listener { // it was cut meanwhile
			_, _ = from.Close(), to.Close()
		}
		w.open = append(w.open, from, to)
		w.mu.Unlock()
		go pass(from, to)
		go pass(to, from)
	}
}

func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from) // ends when either side does, which is all that matters
	_ = to.Close()
}

// Cut refuses new connections and breaks open ones.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener != nil {
		_ = w.listener.Close()
		w.listener = nil
	}
	for _, conn := range w.open {
		_ = conn.Close()
	}
	w.open = nil
}
