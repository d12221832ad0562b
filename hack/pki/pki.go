// Package pki makes the certificates and kubeconfigs of a cluster for development and tests.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is the lifetime of all certificates: each start makes a new cluster.
const lifetime = 365 * 24 * time.Hour

// Authority is a cluster's only certificate authority. (A production cluster has one for each purpose; here that
// would gain nothing.)
type Authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
	// PEM is the certificate.
	PEM []byte
}

// Identity is a certificate with its key, as files and as PEM.
type Identity struct {
	CertFile, KeyFile string
	Cert, Key         []byte
}

// NewAuthority makes an authority that keeps its files in a folder.
func NewAuthority(dir string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kubernetes-ca"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if err := date(template); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, certificate: certificate, key: key, PEM: encode("CERTIFICATE", der)}
	return a, os.WriteFile(a.File(), a.PEM, 0o600)
}

// File is the path of the certificate.
func (a *Authority) File() string { return filepath.Join(a.dir, "ca.crt") }

// Server issues a certificate for a server with these names and IP addresses.
func (a *Authority) Server(name string, hosts ...string) (*Identity, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(name, template)
}

// Client issues a certificate that makes its holder a user with groups.
func (a *Authority) Client(file, user string, groups ...string) (*Identity, error) {
	return a.issue(file, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Serving is the TLS configuration of a server that answers only the client of that name.
func (a *Authority) Serving(server *Identity, client string) (*tls.Config, error) {
	certificate, err := tls.X509KeyPair(server.Cert, server.Key)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		VerifyConnection: func(state tls.ConnectionState) error {
			if name := state.PeerCertificates[0].Subject.CommonName; name != client {
				return fmt.Errorf("%s may not ask here", name)
			}
			return nil
		},
	}, nil
}

func (a *Authority) issue(file string, template *x509.Certificate) (*Identity, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if err := date(template); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", file, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	id := &Identity{
		CertFile: filepath.Join(a.dir, file+".crt"), KeyFile: filepath.Join(a.dir, file+".key"),
		Cert: encode("CERTIFICATE", der), Key: encode("PRIVATE KEY", keyDER),
	}
	if err := os.WriteFile(id.CertFile, id.Cert, 0o600); err != nil {
		return nil, err
	}
	return id, os.WriteFile(id.KeyFile, id.Key, 0o600)
}

// KeyPair makes a key without a certificate, such as the key that signs service account tokens.
func KeyPair(private, public string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	publicDER, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := os.WriteFile(private, encode("PRIVATE KEY", privateDER), 0o600); err != nil {
		return err
	}
	return os.WriteFile(public, encode("PUBLIC KEY", publicDER), 0o600)
}

func date(template *x509.Certificate) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Minute) // clocks are sometimes set back
	template.NotAfter = template.NotBefore.Add(lifetime)
	return err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
