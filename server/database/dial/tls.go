package dial

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// TLS returns the TLS configurations to try one after the other, as libpq's sslmode defines; nil is no TLS. There is at
// least one. The settings' sslmode overrides the connection's.
func TLS(settings database.Settings, c contract.Connection) ([]*tls.Config, *database.Error) {
	mode := settings.TLSMode
	if mode == "" {
		mode = c.SSLMode
	}
	if strings.HasPrefix(c.Host, "/") {
		mode = "disable" // a socket of this machine
	}
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if net.ParseIP(c.Host) == nil {
		config.ServerName = c.Host
	}
	if settings.CA != nil {
		pem, err := settings.CA()
		if err != nil {
			return nil, TLSFailed(c.Address(), "the CA certificates cannot be read", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, TLSFailed(c.Address(), "the CA holds no PEM certificate", nil)
		}
	}
	switch mode {
	case "disable":
		return []*tls.Config{nil}, nil
	case "allow":
		return []*tls.Config{nil, config}, nil
	case "", "prefer":
		return []*tls.Config{config, nil}, nil
	case "require":
		if config.RootCAs != nil {
			config.VerifyConnection = verifyChain(config.RootCAs) // as libpq does if there is a CA
		}
		return []*tls.Config{config}, nil
	case "verify-ca":
		config.VerifyConnection = verifyChain(config.RootCAs)
		return []*tls.Config{config}, nil
	case "verify-full":
		config.InsecureSkipVerify = false
		config.ServerName = c.Host
		return []*tls.Config{config}, nil
	}
	return nil, Incomplete(errors.New("the sslmode is not one of libpq's"))
}

// verifyChain checks the server's certificate against the roots, but not its name.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, certificate := range state.PeerCertificates[1:] {
			options.Intermediates.AddCert(certificate)
		}
		_, err := state.PeerCertificates[0].Verify(options)
		return err
	}
}
