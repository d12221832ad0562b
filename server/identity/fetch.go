package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// The limits of a request to an issuer.
const (
	readTimeout = 10 * time.Second
	maxAnswer   = 1 << 20
	maxHeader   = 64 << 10
)

// A problem is why an issuer's keys cannot be had: one of the reasons of contract.IssuerStatus, and a message for people.
type problem struct{ reason, message string }

// Error implements error.
func (p *problem) Error() string { return p.message }

func unreachable(format string, args ...any) *problem {
	return &problem{contract.ReasonIssuerUnreachable, fmt.Sprintf(format, args...)}
}

// newClient returns a client for the requests to an issuer. The certificates are PEM; "" are the system's.
func newClient(certificates string) (*http.Client, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if certificates != "" {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM([]byte(certificates)) {
			return nil, unreachable("certificateAuthority has no certificate in PEM")
		}
	}
	return withoutRedirects(&http.Client{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        settings,
		DisableKeepAlives:      true, // the next request is minutes away
		MaxResponseHeaderBytes: maxHeader,
	}}), nil
}

// withoutRedirects returns a client that takes a redirect for the answer: an issuer's keys lie where its configuration says.
func withoutRedirects(client *http.Client) *http.Client {
	copied := *client
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied
}

// readIssuer reads what an issuer publishes.
func readIssuer(ctx context.Context, issuer *contract.Issuer) (document, error) {
	read := document{Issuer: issuer.URL}
	client, err := newClient(issuer.CertificateAuthority)
	if err != nil {
		return read, err
	}
	keysURL := issuer.KeysURL
	if keysURL == "" {
		location := issuer.DiscoveryURL
		if location == "" {
			location = strings.TrimSuffix(issuer.URL, "/") + "/.well-known/openid-configuration"
		}
		found, err := discover(ctx, client, location)
		if err != nil {
			return read, err
		}
		if found.Issuer != issuer.URL {
			return read, &problem{contract.ReasonIssuerMismatch, fmt.Sprintf(
				"%s is the configuration of the issuer %.200q, not of %q. Set url to what the tokens have in iss, and discoveryURL to where the configuration lies.",
				location, found.Issuer, issuer.URL)}
		}
		keysURL = found.KeysURL
		if !isHTTPS(keysURL) {
			return read, unreachable("%s names no https URL in jwks_uri", location)
		}
	}
	read.Keys, err = get(ctx, client, keysURL)
	return read, err
}

func isHTTPS(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Scheme == "https" && at.Host != "" && at.User == nil
}

// readCluster reads what the API server publishes of the tokens that it issues to ServiceAccounts. The keys are read from the API
// server itself: the address that the configuration names is for readers outside of the cluster.
func readCluster(ctx context.Context, api *API) (document, error) {
	found, err := discover(ctx, api.Client, api.URL+"/.well-known/openid-configuration")
	if err != nil {
		return document{}, err
	}
	if found.Issuer == "" {
		return document{}, unreachable("The API server does not say which issuer it is")
	}
	keys, err := get(ctx, api.Client, api.URL+"/openid/v1/jwks")
	algorithms := slices.DeleteFunc(found.Algorithms, func(name string) bool { return !slices.Contains(contract.Algorithms, name) })
	return document{found.Issuer, algorithms, keys}, err
}

// configuration holds the needed parts of an OpenID Connect provider's configuration.
type configuration struct {
	Issuer     string   `json:"issuer"`
	KeysURL    string   `json:"jwks_uri"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
}

func discover(ctx context.Context, client *http.Client, location string) (found configuration, err error) {
	text, err := get(ctx, client, location)
	if err != nil {
		return found, err
	}
	if json.Unmarshal(text, &found) != nil {
		return found, unreachable("%s does not answer with an issuer's configuration", location)
	}
	return found, nil
}

func get(ctx context.Context, client *http.Client, location string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location, http.NoBody)
	if err != nil {
		return nil, unreachable("%s is no URL", location)
	}
	request.Header.Set("Accept", "application/json, application/jwk-set+json")
	status, text, err := do(client, request)
	switch {
	case err != nil:
		return nil, unreachable("%s cannot be read: %s", location, describe(err))
	case status >= 300 && status < 400:
		return nil, unreachable("%s answers %d: redirects are not followed. Declare the address that it leads to.", location, status)
	case status != http.StatusOK:
		return nil, unreachable("%s answers %d", location, status)
	case !json.Valid(text):
		return nil, unreachable("%s does not answer with JSON", location)
	}
	return text, nil
}

// errLarge: an answer is larger than any that is expected.
var errLarge = errors.New("the answer has more than 1 MiB")

// do sends a request, and reads its answer whole.
func do(client *http.Client, request *http.Request) (status int, text []byte, err error) {
	request.Header.Set("User-Agent", "mcp-admin-server")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errLarge
	}
	return response.StatusCode, text, err
}

// describe says why a request failed, always in the same words for the same reason: it stands in a status, which would else
// be written again and again because of a port or a time in it.
func describe(err error) string {
	var name *net.DNSError
	var certificate x509.CertificateInvalidError
	var operation *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("there is no host %s", name.Name)
	case errors.As(err, &name):
		return fmt.Sprintf("the host %s cannot be looked up", name.Name)
	case errors.As(err, &certificate) && certificate.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("there is no whole answer within %s", readTimeout)
	case errors.As(err, &operation):
		err = operation.Err
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return fmt.Sprintf("%.200s", err)
}
