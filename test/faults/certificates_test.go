package faults

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// pair is a certificate that is its own CA, with its key, as PEM.
type pair struct{ certificate, key []byte }

func newPair(t *testing.T) pair {
	t.Helper()
	made, certificate := databasetest.Certificate(t, "localhost")
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pair{certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
}

func (p pair) secret() source.Secret {
	return source.Secret{contract.CertificateKey: p.certificate, contract.CertificatePrivateKey: p.key}
}

// place writes a file into a server's folder, as the server's owner.
func place(t *testing.T, data, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(data, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(data, "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	return path
}

// demanding starts a server that speaks TLS with a certificate for "localhost", and lets in only who shows one of some
// certificates. It returns a plain client's database, and the connection's URI for the endpoint.
func demanding(t *testing.T, engine string, own pair, clients ...pair) (s *served, uri string) {
	t.Helper()
	name := map[string]string{contract.EnginePostgreSQL: "postgres", contract.EngineMySQL: "mariadb"}[engine]
	data := folder(t)
	admin := control(t, "start", "-engine", name, "-data", data)
	t.Cleanup(func() { control(t, "stop", "-engine", name, "-data", data) })
	var authorities []byte
	for _, c := range clients {
		authorities = append(authorities, c.certificate...)
	}
	ca, certificate, key := place(t, data, "clients.pem", authorities), place(t, data, "server.pem", own.certificate), place(t, data, "server.key", own.key)
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	s = &served{T: t, engine: engine}
	if engine == contract.EnginePostgreSQL {
		_, s.plain = harness.On(t, admin, script)
		s.exec("create role app login superuser password 'app'")
		for setting, value := range map[string]string{"ssl": "on", "ssl_ca_file": ca, "ssl_cert_file": certificate, "ssl_key_file": key} {
			s.exec("alter system set " + setting + " = '" + value + "'")
		}
		place(t, data, "cluster/pg_hba.conf", []byte("hostssl all app all scram-sha-256 clientcert=verify-ca\nhost all postgres all scram-sha-256\n"))
		s.exec("select pg_reload_conf()")
		s.settles("select case when current_setting('ssl') = 'on' then 1 else 0 end::text", "1")
		return s, "postgresql://app:app@localhost:" + u.Port() + "/postgres"
	}
	control(t, "stop", "-engine", name, "-data", data)
	place(t, data, "my.cnf", []byte("[mariadbd]\nssl-ca="+ca+"\nssl-cert="+certificate+"\nssl-key="+key+"\n"))
	admin = control(t, "start", "-engine", name, "-data", data, "-port", u.Port())
	harness.On(t, admin+"mysql", "create database accounts; create user app identified by 'app' require x509; grant all on accounts.* to app")
	_, s.plain = harness.On(t, admin+"accounts", script)
	return s, "mysql://app:app@" + net.JoinHostPort("localhost", u.Port()) + "/accounts"
}

// TestAClientCertificateThatIsDemanded asks servers that let nobody in without one. The certificate comes from the connection
// Secret, then from one of its own, and is renewed while calls go on.
func TestAClientCertificateThatIsDemanded(t *testing.T) {
	for _, engine := range []string{contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) {
			own, first, second, stranger := newPair(t), newPair(t), newPair(t), newPair(t)
			s, uri := demanding(t, engine, own, first, second)
			connection := source.Secret{"uri": []byte(uri), "sslcert": first.certificate, "sslkey": first.key}
			s.start(harness.Database{Connection: connection}, func(c *contract.Config) { c.Endpoint.Database.TLSMode = "require" })
			s.ok("get_account", `{"id":1}`)

			// Without it, or with one that the server does not know, the connections from before go on.
			s.program(source.Secret{"uri": []byte(uri)})
			s.refuses()
			s.program(source.Secret{"uri": []byte(uri), "sslcert": stranger.certificate, "sslkey": stranger.key})
			s.refuses()
			s.ok("get_account", `{"id":1}`)

			// A Secret of its own.
			s.endpoint.Apply(func(c *contract.Config) {
				c.Endpoint.Database.ClientCertificate, c.Endpoint.Database.CAKey, c.Endpoint.Database.TLSMode = true, "ca.crt", "verify-full"
			})
			s.endpoint.Update(func(u *source.Update) {
				u.Connection, u.ClientCertificate = source.Secret{"uri": []byte(uri)}, first.secret()
				u.CA = source.Secret{"ca.crt": own.certificate}
			})
			s.connects()
			s.recovers("get_account", `{"id":1}`)

			load := s.load()
			for _, next := range []pair{second, first, second} {
				s.endpoint.Update(func(u *source.Update) { u.ClientCertificate = stranger.secret() })
				s.refuses()
				s.endpoint.Update(func(u *source.Update) { u.ClientCertificate = next.secret() })
				s.connects()
			}
			s.endpoint.Update(func(u *source.Update) {
				u.ClientCertificate = source.Secret{contract.CertificateKey: []byte("x"), contract.CertificatePrivateKey: []byte("hunter2")}
			})
			s.reports(contract.ReasonTLSFailed, "cannot be read as PEM")
			if sent, refused := load(); refused > 0 || sent == 0 {
				t.Errorf("of %d calls %d were refused", sent, refused)
			}
			if lines := s.endpoint.Log.Lines("hunter2"); len(lines) > 0 || strings.Contains(s.endpoint.Status().Database.Message, "hunter2") {
				t.Errorf("the key is told: %q", lines)
			}
			s.held("client certificates: shown, renewed under load without a refused call, and a wrong one is told")
		})
	}
}

// refuses waits until the status says that no new connection can be made.
func (s *served) refuses() {
	s.Helper()
	var status contract.DatabaseStatus
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if status = s.endpoint.Status().Database; status.Reason != contract.ReasonConnected && strings.Contains(status.Message, "connections from before") {
			return
		}
	}
	s.Fatalf("the status is %+v", status)
}

// TestTheSystemsAuthoritiesAreTrusted verifies servers by the system's roots, which SSL_CERT_FILE names.
func TestTheSystemsAuthoritiesAreTrusted(t *testing.T) {
	own, client := newPair(t), newPair(t)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, own.certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", roots)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	if pool, err := x509.SystemCertPool(); err != nil || len(pool.Subjects()) != 1 { //nolint:staticcheck // SA1019: Linux has them all
		t.Skip("the system's roots were read before")
	}
	for _, engine := range []string{contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) {
			s, uri := demanding(t, engine, own, client)
			connection := source.Secret{"uri": []byte(uri), "sslcert": client.certificate, "sslkey": client.key}
			s.start(harness.Database{Connection: connection}, func(c *contract.Config) { c.Endpoint.Database.TLSMode = "verify-full" })
			s.ok("get_account", `{"id":1}`)

			// Another name than the certificate's.
			s.program(source.Secret{"uri": []byte(strings.Replace(uri, "localhost", "127.0.0.1", 1)), "sslcert": client.certificate, "sslkey": client.key})
			s.reports(contract.ReasonTLSFailed, "127.0.0.1")
			s.held("VerifyFull with the system's authorities")
		})
	}
}
