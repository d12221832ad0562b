// Package dial is shared by the engines that connect over a network. It knows how a connection is protected (libpq's
// sslmode), why a connection failed, and it has a gate that spares a database that is down.
//
// The engines below package database import it.
package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Timeout bounds one attempt to connect. It is shorter than database.AcquireTimeout, so that a call reports that the
// database does not answer instead of a long wait.
const Timeout = 4 * time.Second

// HostTimeout bounds an attempt at one of several hosts, so that all of them have their turn within Timeout.
func HostTimeout(hosts int) time.Duration { return Timeout / time.Duration(max(hosts, 1)) }

// Cancelled is the error of a call whose caller went away.
func Cancelled(cause error) *database.Error {
	return &database.Error{Code: database.Cancelled, Reason: contract.ReasonDatabaseError, Message: "the call was cancelled", Cause: cause}
}

// Incomplete is the error of a connection Secret that lacks something. Its message says what is wrong. It names keys,
// never a value.
func Incomplete(cause error) *database.Error {
	return &database.Error{Code: database.Unreachable, Reason: contract.ReasonSecretIncomplete, Message: cause.Error()}
}

// Unreachable is the error of a connection that could not be made.
func Unreachable(address, why string, cause error) *database.Error {
	return &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: At(address) + " cannot be reached: " + why, Cause: cause}
}

// TLSFailed is the error of a connection that could not be protected as required.
func TLSFailed(address, why string, cause error) *database.Error {
	return &database.Error{Code: database.Unreachable, Reason: contract.ReasonTLSFailed, Message: "no TLS connection to " + At(address) + ": " + why, Cause: cause}
}

// At names the database at an address, which may be "".
func At(address string) string {
	if address == "" {
		return "the database"
	}
	return "the database at " + address
}

// Failure is the error of a connection that ended before the server said why. notOffered is the driver's error for a
// server without TLS.
func Failure(address string, err error, notOffered bool) *database.Error {
	if why := tlsReason(err, notOffered); why != "" {
		return TLSFailed(address, why, err)
	}
	return Unreachable(address, reason(err), err)
}

// tlsReason returns what was wrong with TLS, or "" if the cause was another.
func tlsReason(err error, notOffered bool) string {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		alert    tls.AlertError
		noRecord tls.RecordHeaderError
		remote   *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return unknown.Error()
	case errors.As(err, &name):
		return name.Error()
	case errors.As(err, &invalid):
		return invalid.Error()
	case errors.As(err, &verify):
		return verify.Err.Error()
	case errors.As(err, &alert), errors.As(err, &remote) && remote.Op == "remote error":
		return said(err)
	case errors.As(err, &noRecord):
		return "the server does not speak TLS"
	case notOffered:
		return "the server does not offer it"
	}
	return ""
}

// said returns what the server's alert means for us.
func said(err error) string {
	var remote *net.OpError
	if errors.As(err, &remote) && remote.Op == "remote error" {
		err = remote.Err
	}
	if strings.Contains(err.Error(), "certificate") {
		return "the server refused the client certificate, or wants one: " + err.Error()
	}
	return err.Error()
}

func reason(err error) string {
	var unknown *net.DNSError
	var number syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &unknown):
		return "the host's name is not known"
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer within " + Timeout.String()
	}
	return "the connection broke off"
}
