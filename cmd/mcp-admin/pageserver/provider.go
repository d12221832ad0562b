package pageserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// providerTime is how long the identity provider may take to answer, and maxAnswer the most that is read, in bytes.
	providerTime = 10 * time.Second
	maxAnswer    = 1 << 20
	// knownFor is how long the provider's addresses are not asked for again, failedFor how long it is left alone after a failure: whoever
	// is not logged in can ask for a login as often as they like.
	knownFor  = 5 * time.Minute
	failedFor = 5 * time.Second
)

// configuration has the needed parts of an OpenID Connect provider's configuration (OpenID Connect Discovery 1.0, section 3).
type configuration struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	TokenAuth     []string `json:"token_endpoint_auth_methods_supported"`
	// NamesItself says that each answer names its issuer (RFC 9207).
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
}

// provider is the identity provider. Its keys are package identity's to read.
type provider struct {
	issuer string
	client *http.Client
	now    func() time.Time

	mu sync.Mutex
	// known is what was read last, err why nothing could be read then; it is read again at until.
	known *configuration
	err   error
	until time.Time
}

// newProvider returns the provider of an issuer. The authorities are PEM; "" are the system's.
func newProvider(issuer, authorities string, now func() time.Time) (*provider, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM([]byte(authorities)) {
			return nil, errors.New("--oidc-ca-file: the file holds no certificate")
		}
	}
	client := &http.Client{
		Timeout:   providerTime,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: settings, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
		// The client's secret goes where the configuration says, and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &provider{issuer: issuer, client: client, now: now}, nil
}

// configuration returns the provider's addresses. If they cannot be read again, those from before stay.
func (p *provider) configuration(ctx context.Context) (*configuration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Before(p.until) {
		return p.known, p.err
	}
	read, err := p.read(context.WithoutCancel(ctx)) // others wait for the same answer
	switch {
	case err == nil:
		p.known, p.err, p.until = read, nil, now.Add(knownFor)
	case p.known != nil:
		p.until = now.Add(failedFor)
	default:
		p.err, p.until = err, now.Add(failedFor)
	}
	return p.known, p.err
}

func (p *provider) read(ctx context.Context) (*configuration, error) {
	location := strings.TrimSuffix(p.issuer, "/") + "/.well-known/openid-configuration"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	read := &configuration{}
	switch {
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d", location, answer.StatusCode)
	case json.Unmarshal(text, read) != nil:
		return nil, fmt.Errorf("%s does not answer with an issuer's configuration", location)
	case read.Issuer != p.issuer:
		return nil, fmt.Errorf("%s is the configuration of the issuer %.200q, not of %q", location, read.Issuer, p.issuer)
	case !isHTTPS(read.Authorization) || !isHTTPS(read.Token):
		return nil, fmt.Errorf("%s names no https URLs in authorization_endpoint and token_endpoint", location)
	}
	if !isHTTPS(read.EndSession) {
		read.EndSession = ""
	}
	return read, nil
}

// basic reports whether the client tells its secret in a header. It does unless the provider says that it takes it in the form alone.
func (c *configuration) basic() bool {
	return len(c.TokenAuth) == 0 || slices.Contains(c.TokenAuth, "client_secret_basic") || !slices.Contains(c.TokenAuth, "client_secret_post")
}

func isHTTPS(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Scheme == "https" && at.Host != "" && at.User == nil
}
