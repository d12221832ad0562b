package postgres_test

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// greeter is a server that knows how to start a connection. It then answers that the database does not exist, and over
// which kind of connection it was asked.
func greeter(t testing.TB, certificate *tls.Certificate) (port int) {
	return databasetest.Listen(t, func(conn net.Conn) { greet(conn, certificate) })
}

func greet(conn net.Conn, certificate *tls.Certificate) {
	defer conn.Close()
	said := "plain"
	for {
		backend := pgproto3.NewBackend(conn, conn)
		message, err := backend.ReceiveStartupMessage()
		if err != nil {
			return
		}
		if _, wantsTLS := message.(*pgproto3.SSLRequest); !wantsTLS {
			backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "3D000", Message: said})
			_ = backend.Flush()
			return
		}
		if certificate == nil {
			if _, err := io.WriteString(conn, "N"); err != nil {
				return
			}
			continue
		}
		if _, err := io.WriteString(conn, "S"); err != nil {
			return
		}
		conn, said = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*certificate}}), "TLS"
	}
}

func TestTLSModes(t *testing.T) {
	t.Parallel()
	ours, ca := databasetest.Certificate(t, "localhost")
	_, otherCA := databasetest.Certificate(t, "localhost")
	elsewhere, elsewhereCA := databasetest.Certificate(t, "db.example.com")
	const plain, encrypted = "plain", "TLS"
	for _, test := range []struct {
		name, mode string
		server     *tls.Certificate
		ca         []byte
		// want is the kind of connection over which the server was reached; "" if TLS failed, with an error as in says.
		want, says string
	}{
		{"disable", "disable", &ours, nil, plain, ""},
		{"prefer", "prefer", &ours, nil, encrypted, ""},
		{"prefer, not offered", "prefer", nil, nil, plain, ""},
		{"by default", "", nil, nil, plain, ""},
		{"allow", "allow", &ours, nil, plain, ""},
		{"require", "require", &ours, nil, encrypted, ""},
		{"require, not offered", "require", nil, nil, "", "does not offer it"},
		{"require, by the CA", "require", &ours, ca, encrypted, ""},
		{"require, by another CA", "require", &ours, otherCA, "", "unknown authority"},
		{"verify-ca", "verify-ca", &ours, ca, encrypted, ""},
		{"verify-ca, for another host", "verify-ca", &elsewhere, elsewhereCA, encrypted, ""},
		{"verify-ca, by another CA", "verify-ca", &ours, otherCA, "", "unknown authority"},
		{"verify-full", "verify-full", &ours, ca, encrypted, ""},
		{"verify-full, for another host", "verify-full", &elsewhere, elsewhereCA, "", "db.example.com"},
		{"verify-full, by another CA", "verify-full", &ours, otherCA, "", "unknown authority"},
		{"verify-full, by the system's CAs", "verify-full", &ours, nil, "", "unknown authority"},
		{"a CA that is none", "verify-full", &ours, []byte("hunter2"), "", "no PEM certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			port := greeter(t, test.server)
			db := open(t, settings(contract.Connection{Host: "localhost", Port: port, Database: "d", User: "u", SSLMode: test.mode}, func(s *database.Settings) {
				if test.ca != nil {
					s.CA = func() ([]byte, error) { return test.ca, nil }
				}
			}))
			e := databasetest.Failure(t, db.Ping(t.Context()))
			if test.want == "" {
				if e.Reason != contract.ReasonTLSFailed || !strings.Contains(e.Message, test.says) || strings.Contains(e.Message, "hunter2") {
					t.Errorf("got %s: %s", e.Reason, e.Message)
				}
				return
			}
			if e.Reason != contract.ReasonDatabaseNotFound || !strings.Contains(e.Cause.Error(), test.want) {
				t.Errorf("got %s: %s", e.Reason, e.Error())
			}
		})
	}
	t.Run("the settings' mode beats the Secret's", func(t *testing.T) {
		db := open(t, settings(contract.Connection{Host: "localhost", Port: greeter(t, nil), Database: "d", User: "u", SSLMode: "disable"}, func(s *database.Settings) {
			s.TLSMode = "require"
		}))
		if e := databasetest.Failure(t, db.Ping(t.Context())); e.Reason != contract.ReasonTLSFailed {
			t.Errorf("got %v", e)
		}
	})
}
