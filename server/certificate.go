package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// A certificate is the certificate that the endpoint's port shows. It can be replaced while connections are open: they go
// on, and the next handshake gets the new one. If the new one cannot be used, the old one stays in use.
type certificate struct {
	log *slog.Logger
	// inUse is nil before the first; handshakes read it.
	inUse atomic.Pointer[tls.Certificate]
	// looked is set after the first call of load; seen is the Secret of its last call, told the result.
	looked bool
	seen   source.Secret
	told   contract.CertificateStatus
}

func newCertificate(log *slog.Logger) *certificate {
	return &certificate{log: log, told: contract.CertificateStatus{
		Reason: contract.ReasonCertificateMissing, Message: "no Secret with a certificate has been seen yet",
	}}
}

// errNoCertificate refuses a handshake.
var errNoCertificate = errors.New("the endpoint has no certificate yet")

// tlsConfig is the TLS configuration of the endpoint's port: TLS 1.2 or later; net/http offers HTTP/2 besides.
func (c *certificate) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if inUse := c.inUse.Load(); inUse != nil {
				return inUse, nil
			}
			return nil, errNoCertificate
		},
	}
}

// load takes the present Secret of the certificate; nil if it does not exist.
func (c *certificate) load(secret source.Secret) {
	if c.looked && reflect.DeepEqual(secret, c.seen) {
		return
	}
	c.looked, c.seen = true, secret
	pair, reason, err := readPair(secret)
	if err == nil {
		c.inUse.Store(pair)
	}
	now := contract.CertificateStatus{InUse: c.inUse.Load() != nil, Reason: reason}
	if err != nil {
		now.Message = err.Error()
	}
	if inUse := c.inUse.Load(); inUse != nil {
		now.NotAfter = inUse.Leaf.NotAfter.UTC().Format(time.RFC3339)
	}
	c.told = now
	c.logLoaded(now)
}

// status is the result of the newest Secret.
func (c *certificate) status() *contract.CertificateStatus {
	status := c.told
	return &status
}

func (c *certificate) logLoaded(now contract.CertificateStatus) {
	switch {
	case now.Reason == contract.ReasonCertificateLoaded:
		c.log.Info("The endpoint's certificate was loaded", "notAfter", now.NotAfter, "names", c.inUse.Load().Leaf.DNSNames)
	case now.InUse:
		c.log.Error("The endpoint's new certificate cannot be used; the one before stays", "reason", now.Reason, "message", now.Message, "notAfter", now.NotAfter)
	default:
		c.log.Error("The endpoint has no certificate; every connection is refused", "reason", now.Reason, "message", now.Message)
	}
}

// readPair reads the certificate and its key. An error names keys of the Secret and what is wrong with them, and
// repeats nothing of their values; reason is the status' own.
func readPair(secret source.Secret) (pair *tls.Certificate, reason string, err error) {
	if secret == nil {
		return nil, contract.ReasonCertificateMissing, errors.New("the Secret of the endpoint's certificate does not exist")
	}
	for _, key := range []string{contract.CertificateKey, contract.CertificatePrivateKey} {
		if len(secret[key]) == 0 {
			return nil, contract.ReasonCertificateMissing, fmt.Errorf("the Secret of the endpoint's certificate has no key %q", key)
		}
	}
	read, err := tls.X509KeyPair(secret[contract.CertificateKey], secret[contract.CertificatePrivateKey])
	if err != nil {
		return nil, contract.ReasonCertificateInvalid, whatIsWrong(secret)
	}
	return &read, contract.ReasonCertificateLoaded, nil
}

// whatIsWrong says why a pair cannot be used. The error of crypto/tls is left out, because it may quote the key.
func whatIsWrong(secret source.Secret) error {
	block, _ := pem.Decode(secret[contract.CertificateKey])
	if block == nil || block.Type != "CERTIFICATE" {
		return fmt.Errorf("%s is no certificate in PEM", contract.CertificateKey)
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return fmt.Errorf("the certificate in %s cannot be read", contract.CertificateKey)
	}
	if block, _ := pem.Decode(secret[contract.CertificatePrivateKey]); block == nil {
		return fmt.Errorf("%s is no private key in PEM", contract.CertificatePrivateKey)
	}
	return fmt.Errorf("the private key in %s cannot be read, or is not that of the certificate in %s", contract.CertificatePrivateKey, contract.CertificateKey)
}
