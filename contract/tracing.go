package contract

import (
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// Tracing says where the server sends its spans, and what they hold.
type Tracing struct {
	Collector
	// RatePerMillion is how many of a million requests are traced that come without a trace.
	RatePerMillion int `json:"ratePerMillion"`
	// Arguments has spans show the names that a call's arguments hold, Statements the text of SQL.
	Arguments  bool `json:"arguments,omitempty"`
	Statements bool `json:"statements,omitempty"`
}

// The protocols of a Collector.
const (
	TracingGRPC = "GRPC"
	TracingHTTP = "HTTP"
)

// Collector is a collector of OpenTelemetry that the server sends spans or audit lines to.
type Collector struct {
	// URL is its address, http or https.
	URL string `json:"url"`
	// Protocol is TracingGRPC or TracingHTTP.
	Protocol string `json:"protocol"`
	// Headers reports whether the mounted Secret of headers is sent to it.
	Headers bool `json:"headers,omitempty"`
}

func (c *Collector) check(fail fault) {
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		fail("url", "must be an http or https URL with a host, and without a user")
	}
	if !slices.Contains([]string{TracingGRPC, TracingHTTP}, c.Protocol) {
		fail("protocol", "%q is not supported", c.Protocol)
	}
}

func (t *Tracing) check(fail fault) {
	t.Collector.check(fail)
	if t.RatePerMillion < 0 || t.RatePerMillion > 1_000_000 {
		fail("ratePerMillion", "must be from 0 to 1000000, is %d", t.RatePerMillion)
	}
}

// CollectorHeaders are the headers that a Secret holds for the collector, or what is wrong with it. What is wrong names keys at
// most, never a value.
func CollectorHeaders(secret map[string][]byte) (headers map[string]string, problem string) {
	if len(secret) == 0 {
		return nil, "does not exist, or is empty"
	}
	headers = map[string]string{}
	for key := range secret {
		value := secretText(secret, key)
		switch name := textproto.CanonicalMIMEHeaderKey(key); {
		case slices.Contains([]string{"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Te", "Transfer-Encoding", "Upgrade", "User-Agent"}, name),
			strings.HasPrefix(name, "Grpc-"):
			return nil, "has the key \"" + key + "\", a header that the server sets itself"
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, "has a key \"" + key + "\" whose value cannot stand in a header"
		default:
			headers[name] = value
		}
	}
	return headers, ""
}
