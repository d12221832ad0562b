package fiveminutes

import (
	"io"
	"net"
	"testing"
)

// relay leads from a port of another address of this machine to a server that listens on its own, and returns where it
// listens.
func relay(t *testing.T, host, target string) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			go join(from, target)
		}
	}()
	return listener.Addr().String()
}

// join carries a connection on until either side ends it.
func join(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from) // ends when either side does, which is all that matters
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}
