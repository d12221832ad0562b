package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// newPair is a self-signed certificate and its key, as a Secret of type kubernetes.io/tls holds them.
func newPair(t *testing.T, name string) source.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return source.Secret{
		contract.CertificateKey:        pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		contract.CertificatePrivateKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// A journal keeps what was logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// startTLS runs a server whose endpoint speaks TLS on two addresses, and has no certificate yet.
func startTLS(t *testing.T) (*running, *journal) {
	log := &journal{}
	return start(t, func(s *server.Server, r *running) {
		s.TLS, s.Log = true, slog.New(slog.NewTextHandler(log, nil))
		second := listen(t)
		s.Endpoint, r.second = append(s.Endpoint, second), "https://"+second.Addr().String()
		r.endpoint = strings.Replace(r.endpoint, "http:", "https:", 1)
	}), log
}

// trusting is a client that trusts the certificate of a Secret alone, and makes a connection for each request.
func trusting(secret source.Secret) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret[contract.CertificateKey])
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

func (r *running) ask(client *http.Client) (*http.Response, error) {
	return r.askAt(r.endpoint, client)
}

func (r *running) askAt(endpoint string, client *http.Client) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodPost, endpoint+"/mcp/", strings.NewReader(listBooks))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err == nil {
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != 200 || !strings.Contains(string(body), "Solaris") {
			r.t.Errorf("%d %s", response.StatusCode, body)
		}
	}
	return response, err
}

func (r *running) shows(secret source.Secret) {
	r.t.Helper()
	for _, endpoint := range []string{r.endpoint, r.second} {
		response, err := r.askAt(endpoint, trusting(secret))
		if err != nil {
			r.t.Error(err)
			return
		}
		if response.ProtoMajor != 2 || response.TLS.Version != tls.VersionTLS13 {
			r.t.Errorf("%s over TLS %x", response.Proto, response.TLS.Version)
		}
	}
}

func TestCertificateOfTheEndpoint(t *testing.T) {
	t.Parallel()
	r, log := startTLS(t)
	first, second := newPair(t, "first.example.com"), newPair(t, "second.example.com")

	// Without one, everything waits and says for what.
	r.apply(source.Update{Config: config(1)})
	s := r.until("connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })
	if c := s.Certificate; s.Ready || c == nil || c.InUse || c.Reason != contract.ReasonCertificateMissing || !strings.Contains(c.Message, "does not exist") {
		t.Errorf("the status is %+v %+v", s, c)
	}
	if status, answer := r.get("/readyz"); status != 503 || !strings.Contains(answer, "no certificate") {
		t.Errorf("/readyz: %d %s", status, answer)
	}
	if _, err := r.ask(trusting(first)); err == nil {
		t.Error("there was an answer without a certificate")
	}
	if !strings.Contains(log.String(), "has no certificate; every connection is refused") {
		t.Errorf("the log: %s", log)
	}

	r.apply(source.Update{Config: config(1), Certificate: first})
	r.untilReady()
	r.shows(first)
	if c := r.status("", "").Certificate; !c.InUse || c.Reason != contract.ReasonCertificateLoaded || c.NotAfter == "" {
		t.Errorf("the status is %+v", c)
	}

	// What cannot be used leaves the last good one.
	for _, bad := range []struct {
		name   string
		secret source.Secret
		reason string
		says   string
	}{
		{"no Secret", nil, contract.ReasonCertificateMissing, "does not exist"},
		{"no key", source.Secret{"tls.crt": second["tls.crt"]}, contract.ReasonCertificateMissing, `no key "tls.key"`},
		{"an empty certificate", source.Secret{"tls.crt": {}, "tls.key": second["tls.key"]}, contract.ReasonCertificateMissing, `no key "tls.crt"`},
		{"the key of another", source.Secret{"tls.crt": second["tls.crt"], "tls.key": first["tls.key"]}, contract.ReasonCertificateInvalid, "is not that of the certificate"},
		{"no certificate", source.Secret{"tls.crt": []byte("hunter2"), "tls.key": second["tls.key"]}, contract.ReasonCertificateInvalid, "no certificate in PEM"},
		{"a broken certificate", source.Secret{"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("hunter2")}), "tls.key": second["tls.key"]}, contract.ReasonCertificateInvalid, "cannot be read"},
		{"no private key", source.Secret{"tls.crt": second["tls.crt"], "tls.key": []byte("hunter2")}, contract.ReasonCertificateInvalid, "no private key in PEM"},
	} {
		r.apply(source.Update{Config: config(1), Certificate: bad.secret})
		s := r.status("", "")
		if c := s.Certificate; !s.Ready || !c.InUse || c.Reason != bad.reason || !strings.Contains(c.Message, bad.says) {
			t.Errorf("%s: the status is %+v", bad.name, c)
		}
		r.shows(first)
	}
	if text := log.String(); !strings.Contains(text, "the one before stays") || strings.Contains(text, "hunter2") || strings.Contains(text, "PRIVATE") {
		t.Errorf("the log: %s", text)
	}

	r.apply(source.Update{Config: config(1), Certificate: second})
	r.shows(second)
	if _, err := r.ask(trusting(first)); err == nil {
		t.Error("the first certificate is still shown")
	}
}

func TestOpenConnectionsOutliveTheirCertificate(t *testing.T) {
	t.Parallel()
	r, _ := startTLS(t)
	first, second := newPair(t, "first.example.com"), newPair(t, "second.example.com")
	r.apply(source.Update{Config: config(1), Certificate: first})
	r.untilReady()
	kept := trusting(first)
	kept.Transport.(*http.Transport).DisableKeepAlives = false
	defer kept.CloseIdleConnections()
	if _, err := r.ask(kept); err != nil {
		t.Fatal(err)
	}
	r.apply(source.Update{Config: config(1), Certificate: second})
	if _, err := r.ask(kept); err != nil {
		t.Errorf("the connection from before: %v", err)
	}
}

func TestTLSVersionsAndProtocols(t *testing.T) {
	t.Parallel()
	r, _ := startTLS(t)
	pair := newPair(t, "books.example.com")
	r.apply(source.Update{Config: config(1), Certificate: pair})
	r.untilReady()
	address := strings.TrimPrefix(r.endpoint, "https://")
	roots := trusting(pair).Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, c := range []struct {
		name     string
		offers   *tls.Config
		protocol string
		refused  bool
	}{
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "", true},
		{"TLS 1.2 and HTTP/2", &tls.Config{MaxVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, "h2", false},
		{"TLS 1.3 and HTTP/1.1", &tls.Config{NextProtos: []string{"http/1.1"}}, "http/1.1", false},
		{"no protocol named", &tls.Config{}, "", false},
		{"another name asked for", &tls.Config{ServerName: "books.example.com"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.offers.RootCAs = roots
			conn, err := tls.Dial("tcp", address, c.offers)
			if (err != nil) != c.refused {
				t.Fatalf("the handshake: %v", err)
			}
			if err == nil {
				defer conn.Close()
				if got := conn.ConnectionState().NegotiatedProtocol; got != c.protocol {
					t.Errorf("the protocol is %q, want %q", got, c.protocol)
				}
			}
		})
	}
	response, err := http.Get("http://" + address + "/mcp/health") // plain HTTP at the port of TLS
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 400 {
		t.Errorf("plain HTTP: %d", response.StatusCode)
	}
}

// Over HTTP/2 a client gives up one request and keeps the connection for the others.
func TestRequestGivenUpOverHTTP2EndsItsQueryAlone(t *testing.T) {
	t.Parallel()
	r, w := startWaiting(t, func(s *server.Server) { s.TLS = true })
	r.endpoint = strings.Replace(r.endpoint, "http:", "https:", 1)
	pair := newPair(t, "books.example.com")
	c := config(1)
	c.Endpoint.Database.MaxConnections = 4 // one token may have two at once
	r.apply(source.Update{Config: c, Certificate: pair})
	r.untilReady()
	client := trusting(pair)
	client.Transport.(*http.Transport).DisableKeepAlives = false
	defer client.CloseIdleConnections()
	ctx, giveUp := context.WithCancel(t.Context())
	results := make(chan error, 2)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		request, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(listBooks))
		request.Header.Set("Authorization", "Bearer "+token)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				response.Body.Close()
			}
			results <- err
		}()
		<-w.entered
	}
	giveUp()
	if err := <-results; err == nil {
		t.Error("the request that was given up has an answer")
	}
	select {
	case err := <-w.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the query ended with %v", err)
		}
	case <-time.After(10 * time.Minute):
		t.Fatal("the query goes on")
	}
	close(w.leave)
	if err := <-results; err != nil {
		t.Errorf("the other request: %v", err)
	}
	if len(w.ended) > 0 {
		t.Error("the other query was ended, too")
	}
}
