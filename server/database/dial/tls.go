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

// TLS returns the TLS configurations to try one after the other for the connection's first host, as libpq's sslmode
// defines; nil is no TLS. There is at least one. The settings' sslmode overrides the connection's.
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
	if err := showCertificate(config, settings, c); err != nil {
		return nil, err
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

// showCertificate has the database shown our certificate, if there is one, whatever CAs it says that it knows.
func showCertificate(config *tls.Config, settings database.Settings, c contract.Connection) *database.Error {
	var pair *tls.Certificate
	switch {
	case settings.Certificate != nil:
		var err error
		if pair, err = settings.Certificate(); err != nil {
			return database.AsError(err)
		}
	case c.ClientCertificate != "":
		found, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey))
		if err != nil {
			// The error is left out: it may quote what it could not read.
			return TLSFailed(c.Address(), "the client certificate and its key in the connection Secret cannot be read, or do not belong together", nil)
		}
		pair = &found
	default:
		return nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
	return nil
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
