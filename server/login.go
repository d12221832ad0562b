package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"reflect"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// A login holds what the Secrets say about how to get into a database. Each pool of connections has one for all its life;
// another login needs another pool.
type login struct {
	connection contract.Connection
	// problem is why the connection Secret gives no connection; nil if it gives one.
	problem error
	// ca are the certificates that the database's own is checked against, as PEM.
	ca []byte
	// certificate and key identify us to the database, as PEM.
	certificate, key []byte
}

// loginOf reads a login of the database that a Config names from its Secrets. Files need none.
func loginOf(engine string, d *contract.Database, connection source.Secret, update *source.Update) login {
	var l login
	if inFiles(engine) {
		return l
	}
	if connection == nil {
		l.problem = errNoConnectionSecret
	} else {
		l.connection, l.problem = d.Source().Resolve(connection)
	}
	l.ca = update.CA[d.CAKey]
	if d.ClientCertificate {
		l.certificate, l.key = update.ClientCertificate[contract.CertificateKey], update.ClientCertificate[contract.CertificatePrivateKey]
	}
	return l
}

func (l login) equal(other login) bool {
	return reflect.DeepEqual(l.connection, other.connection) && fmt.Sprint(l.problem) == fmt.Sprint(other.problem) &&
		bytes.Equal(l.ca, other.ca) && bytes.Equal(l.certificate, other.certificate) && bytes.Equal(l.key, other.key)
}

// apply has the settings use the login.
func (l login) apply(settings *database.Settings) {
	settings.Connection = func() (contract.Connection, error) { return l.connection, l.problem }
	if settings.CAKey != "" {
		settings.CA = func() ([]byte, error) {
			if len(l.ca) > 0 {
				return l.ca, nil
			}
			return nil, tlsProblem("the Secret of the database's CA does not exist, or has no key %q", settings.CAKey)
		}
	}
	if settings.ClientCertificate {
		settings.Certificate = l.clientCertificate
	}
}

// clientCertificate is the certificate that the database is shown.
func (l login) clientCertificate() (*tls.Certificate, error) {
	if len(l.certificate) == 0 || len(l.key) == 0 {
		return nil, tlsProblem("the Secret of the client certificate does not exist, or lacks key %q or %q", contract.CertificateKey, contract.CertificatePrivateKey)
	}
	pair, err := tls.X509KeyPair(l.certificate, l.key)
	if err != nil {
		// The error is left out: it may quote what it could not read.
		return nil, tlsProblem("the client certificate and its key, %q and %q of their Secret, cannot be read as PEM, or do not belong together",
			contract.CertificateKey, contract.CertificatePrivateKey)
	}
	return &pair, nil
}

func tlsProblem(format string, args ...any) error {
	return &database.Error{Code: database.Unreachable, Reason: contract.ReasonTLSFailed, Message: fmt.Sprintf(format, args...)}
}

// errNoConnectionSecret is a connection Secret that lacks everything.
var errNoConnectionSecret error = noConnectionSecret{}

type noConnectionSecret struct{}

func (noConnectionSecret) Error() string { return "the connection Secret does not exist" }
func (noConnectionSecret) Unwrap() error { return contract.ErrSecretIncomplete }
