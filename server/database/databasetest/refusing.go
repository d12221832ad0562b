package databasetest

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
)

// Refusing returns the URI of a server that is the one of another URI, but for statements in which words take the place of
// others: old, new, as for strings.NewReplacer. With words that no server knows, or that it refuses, it lacks what they stand for.
// It speaks PostgreSQL's protocol or MySQL's, without TLS.
func Refusing(t testing.TB, uri string, words ...string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal("the server's URI is none")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &refusing{server: u.Host, words: strings.NewReplacer(words...)}
	pass := p.passPostgreSQL
	if u.Scheme == "mysql" {
		pass = p.passMySQL
	}
	go p.serve(listener, pass)
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable") // what is encrypted cannot be read here
	u.RawQuery = query.Encode()
	return u.String()
}

// refusing stands before a server.
type refusing struct {
	server string
	words  *strings.Replacer
}

func (p *refusing) serve(listener net.Listener, pass func(to io.Writer, from io.Reader) error) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		end := func() { _, _ = client.Close(), server.Close() }
		go func() { defer end(); _, _ = io.Copy(client, server) }()
		go func() { defer end(); _ = pass(server, client) }()
	}
}

// passPostgreSQL passes the client's messages on. The first has no type; of the others a Query is a text, and a Parse a name and a text.
func (p *refusing) passPostgreSQL(to io.Writer, from io.Reader) error {
	head := make([]byte, 5)
	for first := true; ; first = false {
		kind := head[:1]
		if first {
			kind = nil
		}
		if _, err := io.ReadFull(from, kind); err != nil {
			return err
		}
		if _, err := io.ReadFull(from, head[1:]); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		if !first && (kind[0] == 'Q' || kind[0] == 'P') {
			parts := strings.SplitAfterN(string(body), "\x00", 3)
			for i := range min(2, len(parts)) {
				parts[i] = p.words.Replace(parts[i])
			}
			body = []byte(strings.Join(parts, ""))
		}
		binary.BigEndian.PutUint32(head[1:], uint32(len(body)+4))
		if _, err := to.Write(append(append(append([]byte{}, kind...), head[1:]...), body...)); err != nil {
			return err
		}
	}
}

// passMySQL passes the client's packets on. A command is the first packet of an exchange; a query and a statement to prepare are texts.
func (p *refusing) passMySQL(to io.Writer, from io.Reader) error {
	const query, prepare = 3, 22
	head := make([]byte, 4)
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return err
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		if head[3] == 0 && len(body) > 0 && (body[0] == query || body[0] == prepare) {
			body = []byte(string(body[:1]) + p.words.Replace(string(body[1:])))
		}
		head[0], head[1], head[2] = byte(len(body)), byte(len(body)>>8), byte(len(body)>>16)
		if _, err := to.Write(append(append([]byte{}, head...), body...)); err != nil {
			return err
		}
	}
}
