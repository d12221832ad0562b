// Package webhook posts to fixed URLs that somebody declared (docs/design/actions.md, "Webhooks"): the selection of an action, once, or the
// news of a call that waits, until it arrives. There are no redirects and no proxy, and it never goes to the pod itself, its neighbours on
// the link, or a cloud's metadata.
//
// Packages tools and server import it. Begin with Client, or with Sender for what may come twice.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// MaxAnswer is the most bytes that an answer may have.
const MaxAnswer = 64 << 10

// SignatureHeader holds "t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">" if there is a signing key.
const SignatureHeader = "Mcp-Admin-Signature"

// defaultTimeout is for a Request that names none; dialTimeout is for the connection, within the whole.
const (
	defaultTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
)

// Request is one call of a webhook.
type Request struct {
	// URL is http or https; a name or password in it is refused.
	URL string
	// Headers go with the request. They are secret, and in no error.
	Headers map[string]string
	// SigningKey makes the SignatureHeader; "" makes none.
	SigningKey string
	// Timeout is for all of it, from the name's look-up to the answer's last byte; 0 is ten seconds.
	Timeout time.Duration
	// Body is JSON. ContentType is its type; "" is application/json.
	Body        []byte
	ContentType string
}

// Form says what an answer is.
type Form uint8

// The forms of an Answer, by its Content-Type.
const (
	Text Form = iota
	JSON
	HTML
)

// Answer is a webhook's answer with a status of 2xx.
type Answer struct {
	Form Form
	Body []byte
}

// Error is why a webhook gave no answer. Its message is fit for the caller: it names neither the URL nor an address nor any
// header. It begins with what the webhook did: "answered 503".
type Error struct {
	Message string
	// Sent reports whether the webhook may have received the request; nobody knows then what it did.
	Sent bool
	// Status is the answer's; 0 if there is none.
	Status int
}

func (e *Error) Error() string { return e.Message }

// Client calls webhooks. It is safe for concurrent use.
type Client struct {
	client *http.Client
	now    func() time.Time
}

// Options say what may be called; the zero value is right for any container.
type Options struct {
	// Own are the pod's addresses, which may not be called; nil are the addresses of the machine's network interfaces.
	Own []netip.Addr
	// AllowLoopback lets addresses of the machine itself be called, for development and tests.
	AllowLoopback bool
	// Now is the clock of signatures; nil is time.Now.
	Now func() time.Time
}

// New returns a client. Each connection serves one request: a connection that is used again may turn out to be closed, and
// the request would be sent a second time.
func New(options Options) *Client {
	if options.Now == nil {
		options.Now = time.Now
	}
	own := interfaceAddresses
	if options.Own != nil {
		own = func() ([]netip.Addr, error) { return options.Own, nil }
	}
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: guard{options.AllowLoopback, own}.control}
	return &Client{
		now: options.Now,
		client: &http.Client{
			Transport: &http.Transport{
				DialContext:            dialer.DialContext,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
				DisableKeepAlives:      true,
				DisableCompression:     true,
				MaxResponseHeaderBytes: MaxAnswer,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Post calls a webhook, once. Any error is an *Error.
func (c *Client) Post(ctx context.Context, r *Request) (*Answer, error) {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, span := tracing.Ask(ctx, http.MethodPost)
	defer span.End()
	answer, err := c.post(ctx, r, timeout, span)
	if err != nil && span.Recording() {
		span.Fail("webhook_failed")
	}
	return answer, err
}

// post is Post within its span.
func (c *Client) post(ctx context.Context, r *Request, timeout time.Duration, span tracing.Span) (*Answer, error) {
	request, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	if span.Recording() { // of the URL no more is told: it may hold a secret
		span.Set(tracing.HTTPMethod.String(http.MethodPost), tracing.ServerAddress.String(request.URL.Hostname()))
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, explain(ctx, timeout, err)
	}
	defer response.Body.Close()
	if span.Recording() {
		span.Set(tracing.HTTPStatus.Int(response.StatusCode))
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &Error{Message: fmt.Sprintf("answered %d", response.StatusCode), Sent: true, Status: response.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, explain(ctx, timeout, err)
	case len(body) > MaxAnswer:
		return nil, &Error{Message: "answered more than 64 KiB", Sent: true, Status: response.StatusCode}
	}
	return &Answer{formOf(response.Header.Get("Content-Type")), body}, nil
}

// request makes the HTTP request. What this package sets goes before the Headers.
func (c *Client) request(ctx context.Context, r *Request) (*http.Request, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, &Error{Message: "has no URL that can be called"} // The URL itself may hold a secret, and so may err.
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, &Error{Message: "has no URL that can be called"}
	}
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	tracing.Carry(ctx, request.Header)
	request.Header.Set("Content-Type", cmp.Or(r.ContentType, "application/json"))
	request.Header.Set("User-Agent", "mcp-admin-server")
	request.Header.Del(SignatureHeader)
	if r.SigningKey != "" {
		request.Header.Set(SignatureHeader, sign(r.SigningKey, c.now(), r.Body))
	}
	return request, nil
}

// sign returns the SignatureHeader's value. The time is signed too, so that a receiver can refuse what is old.
func sign(key string, now time.Time, body []byte) string {
	t := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// formOf reads a Content-Type; what is neither JSON nor HTML is text.
func formOf(contentType string) Form {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return Text
	case media == "application/json":
		return JSON
	case media == "text/html", media == "application/xhtml+xml":
		return HTML
	}
	return Text
}

// explain says why there is no answer. The error's own text may quote the URL or what was received, so the message only
// names its kind.
func explain(ctx context.Context, timeout time.Duration, err error) *Error {
	var dialling *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	neverSent := errors.As(err, &dialling) && dialling.Op == "dial"
	switch {
	case errors.Is(err, errRefusedAddress):
		return &Error{Message: "has an address that may not be called"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Message: fmt.Sprintf("did not answer within %s", timeout), Sent: !neverSent}
	case errors.As(err, &name):
		return &Error{Message: "has a host whose name cannot be resolved"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Message: "refused the connection"}
	case errors.As(err, &certificate):
		return &Error{Message: "has a certificate that is not trusted"}
	case neverSent:
		return &Error{Message: "cannot be reached"}
	}
	return &Error{Message: "broke the connection off before it had answered", Sent: true}
}
