package mysql_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// greeter is a server that knows how to start a connection. It then answers over which kind it was asked: over TLS that the
// database does not exist, in plain text that the user is refused.
func greeter(t testing.TB, certificate *tls.Certificate) (port int) {
	return databasetest.Listen(t, func(conn net.Conn) { greet(conn, certificate) })
}

// The capabilities of the protocol that matter here.
const (
	withSSL      = 0x800
	capabilities = 0x1 | 0x2 | 0x8 | 0x200 | 0x8000 | 0x80000
)

func greet(conn net.Conn, certificate *tls.Certificate) {
	defer conn.Close()
	can := uint32(capabilities)
	if certificate != nil {
		can |= withSSL
	}
	greeting := append([]byte("\x0a8.4.0\x00\x01\x00\x00\x00saltsalt\x00"), byte(can), byte(can>>8), 45, 2, 0, byte(can>>16), byte(can>>24), 21)
	greeting = append(greeting, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00saltsaltsalt\x00mysql_native_password\x00"...)
	if packet(conn, 0, greeting) != nil {
		return
	}
	answer, sequence := uint16(1045), byte(2)
	asked, err := receive(conn)
	if err != nil {
		return
	}
	if binary.LittleEndian.Uint32(asked)&withSSL != 0 {
		conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*certificate}})
		if _, err := receive(conn); err != nil {
			return
		}
		answer, sequence = 1049, 3
	}
	_ = packet(conn, sequence, append([]byte{0xff, byte(answer), byte(answer >> 8)}, "#28000hunter2"...)) // the client may have gone
}

func packet(to io.Writer, sequence byte, payload []byte) error {
	_, err := to.Write(append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, sequence}, payload...))
	return err
}

func receive(from io.Reader) ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
		return nil, err
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8)
	_, err := io.ReadFull(from, payload)
	return payload, err
}

func TestTLSModes(t *testing.T) {
	ours, ca := databasetest.Certificate(t, "localhost")
	_, otherCA := databasetest.Certificate(t, "localhost")
	elsewhere, elsewhereCA := databasetest.Certificate(t, "db.example.com")
	const plain, encrypted, failed = contract.ReasonAuthenticationFailed, contract.ReasonDatabaseNotFound, contract.ReasonTLSFailed
	for _, test := range []struct {
		name, mode string
		server     *tls.Certificate
		ca         []byte
		want, says string
	}{
		{"disable", "disable", &ours, nil, plain, ""},
		{"prefer", "prefer", &ours, nil, encrypted, ""},
		{"prefer, not offered", "prefer", nil, nil, plain, ""},
		{"by default", "", nil, nil, plain, ""},
		{"allow", "allow", &ours, nil, encrypted, ""},
		{"require", "require", &ours, nil, encrypted, ""},
		{"require, not offered", "require", nil, nil, failed, "does not offer it"},
		{"require, by the CA", "require", &ours, ca, encrypted, ""},
		{"require, by another CA", "require", &ours, otherCA, failed, "unknown authority"},
		{"verify-ca, for another host", "verify-ca", &elsewhere, elsewhereCA, encrypted, ""},
		{"verify-ca, by another CA", "verify-ca", &ours, otherCA, failed, "unknown authority"},
		{"verify-full", "verify-full", &ours, ca, encrypted, ""},
		{"verify-full, for another host", "verify-full", &elsewhere, elsewhereCA, failed, "db.example.com"},
		{"verify-full, by the system's CAs", "verify-full", &ours, nil, failed, "unknown authority"},
		{"a CA that is none", "verify-full", &ours, []byte("hunter2"), failed, "no PEM certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := contract.Connection{Host: "localhost", Port: greeter(t, test.server), Database: "d", User: "u", SSLMode: test.mode}
			db := openAt(t, c, func(s *database.Settings) {
				if test.ca != nil {
					s.CA = func() ([]byte, error) { return test.ca, nil }
				}
			})
			e := wantError(t, db.Ping(t.Context()), database.Unreachable, "hunter2")
			if e.Reason != test.want || !strings.Contains(e.Message, test.says) {
				t.Errorf("got %s: %s", e.Reason, e.Message)
			}
		})
	}
	t.Run("the settings' mode beats the Secret's", func(t *testing.T) {
		c := contract.Connection{Host: "localhost", Port: greeter(t, nil), Database: "d", User: "u", SSLMode: "disable"}
		db := openAt(t, c, func(s *database.Settings) { s.TLSMode = "require" })
		if e := wantError(t, db.Ping(t.Context()), database.Unreachable); e.Reason != failed {
			t.Errorf("got %s", e.Reason)
		}
	})
}
