package localcluster

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

// lifetime is that of all certificates: each start makes a new cluster.
const lifetime = 365 * 24 * time.Hour

// authority is the cluster's only certificate authority. (A production cluster has one for each purpose; here that
// would gain nothing.)
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// identity is a certificate with its key, as files and as PEM.
type identity struct {
	certFile, keyFile string
	cert, key         []byte
}

// newAuthority makes an authority that keeps its files in a folder.
func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "localcluster"},
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
	a := &authority{dir: dir, certificate: certificate, key: key, pem: encode("CERTIFICATE", der)}
	return a, os.WriteFile(a.file(), a.pem, 0o600)
}

func (a *authority) file() string { return filepath.Join(a.dir, "ca.crt") }

// server issues a certificate for a server with these names and IP addresses.
func (a *authority) server(name string, hosts ...string) (*identity, error) {
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

// client issues a certificate that makes its holder a user with groups.
func (a *authority) client(file, user string, groups ...string) (*identity, error) {
	return a.issue(file, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// serving is the TLS configuration of a server that answers only the client of that name.
func (a *authority) serving(server *identity, client string) (*tls.Config, error) {
	certificate, err := tls.X509KeyPair(server.cert, server.key)
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

func (a *authority) issue(file string, template *x509.Certificate) (*identity, error) {
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
	id := &identity{
		certFile: filepath.Join(a.dir, file+".crt"), keyFile: filepath.Join(a.dir, file+".key"),
		cert: encode("CERTIFICATE", der), key: encode("PRIVATE KEY", keyDER),
	}
	if err := os.WriteFile(id.certFile, id.cert, 0o600); err != nil {
		return nil, err
	}
	return id, os.WriteFile(id.keyFile, id.key, 0o600)
}

// keyPair makes a key without a certificate, such as the one that signs service account tokens.
func keyPair(private, public string) error {
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
