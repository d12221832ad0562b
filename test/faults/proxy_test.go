package faults

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a server and its database, and can do what networks do.
type proxy struct {
	listener net.Listener

	mu    sync.Mutex
	pairs map[net.Conn]net.Conn
	// target is where new connections lead.
	target string
	// down reports whether connections are refused; cutOn ends the next connection on which a change is committed; behind is
	// whether the database still gets to know it.
	down, cutOn, behind bool
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, pairs: map[net.Conn]net.Conn{}}
	go p.run()
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	return p
}

func (p *proxy) run() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		down, target := p.down, p.target
		p.mu.Unlock()
		to, err := net.Dial("tcp", target)
		if down || err != nil {
			_ = from.Close()
			if err == nil {
				_ = to.Close()
			}
			continue
		}
		p.mu.Lock()
		p.pairs[from] = to
		p.mu.Unlock()
		var lost atomic.Bool
		go p.forward(from, to, &lost)
		go func() {
			_, _ = io.Copy(&answers{from, &lost}, to) // it ends with either connection
			p.end(from)
		}()
	}
}

// answers is where a database's answers go: to the server, or nowhere once they are lost.
type answers struct {
	to   io.Writer
	lost *atomic.Bool
}

func (a *answers) Write(text []byte) (int, error) {
	if a.lost.Load() {
		return len(text), nil
	}
	return a.to.Write(text)
}

// forward passes on what the server sends. lost is set before the database can answer what the server shall not hear of.
func (p *proxy) forward(from, to net.Conn, lost *atomic.Bool) {
	defer p.end(from)
	buffer := make([]byte, 64<<10)
	changes := false // whether it has ever sent a change: a prepared one is sent by its text once
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		text := bytes.ToUpper(buffer[:n])
		changes = changes || bytes.Contains(text, []byte("UPDATE "))
		p.mu.Lock()
		hit := p.cutOn && changes && bytes.Contains(text, []byte("COMMIT"))
		pass := !hit || p.behind
		p.cutOn = p.cutOn && !hit
		p.mu.Unlock()
		if hit {
			lost.Store(true)
		}
		if pass {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if hit {
			_ = from.Close()
			if pass {
				_, _ = io.Copy(io.Discard, to) // until the database has done what it got
			}
			return
		}
	}
}

func (p *proxy) end(from net.Conn) {
	p.mu.Lock()
	to := p.pairs[from]
	delete(p.pairs, from)
	p.mu.Unlock()
	_ = from.Close()
	if to != nil {
		_ = to.Close()
	}
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	var all []net.Conn
	for from := range p.pairs {
		all = append(all, from)
	}
	p.mu.Unlock()
	for _, from := range all {
		p.end(from)
	}
}

// setDown refuses connections, or takes them again; going down ends existing ones.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
	if down {
		p.cut()
	}
}

// cutAtCommit ends the next connection on which a change is committed; behind reports whether the database gets to know it.
// A connection on which the schema is read commits, too, and is not meant.
func (p *proxy) cutAtCommit(behind bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutOn, p.behind = true, behind
}
