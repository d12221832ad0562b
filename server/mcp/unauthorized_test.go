package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// refusals are the reasons for a 401, each with a header that causes it. The tokens have texts of the same length, so
// that the test compares the reasons and not the texts.
func refusals() map[string]http.Header {
	pad := func(text string) string { return text + strings.Repeat("-", 60-len(text)) }
	return map[string]http.Header{
		"missing":   {},
		"malformed": header("Authorization", "Basic "+pad("malformed")),
		"unknown":   header("Authorization", "Bearer "+pad("unknown")),
		"inactive":  header("Authorization", "Bearer "+pad(inactiveToken)),
		"expired":   header("Authorization", "Bearer "+pad(expiredToken)),
	}
}

// refusing is an endpoint with the tokens of refusals, and a thousand others.
func refusing(t testing.TB) *endpoint {
	c := config()
	c.Tokens = nil
	past := now.Add(-time.Second)
	for i := range 1000 {
		c.Tokens = append(c.Tokens, token("other", manyToken(i)))
	}
	all := refusals()
	expired := token("expired", strings.TrimPrefix(all["expired"].Get("Authorization"), "Bearer "))
	expired.Expiry = &past
	inactive := token("inactive", strings.TrimPrefix(all["inactive"].Get("Authorization"), "Bearer "))
	inactive.Hashes = nil
	c.Tokens = append(c.Tokens, expired, inactive)
	return newEndpoint(t, c)
}

// The time of a 401 must not reveal its reason. The reasons take turns, so that other work of the machine affects all
// of them alike, and the test compares medians.
func TestUnauthorizedTakesTheSameTimeWhateverTheCause(t *testing.T) {
	const rounds, calls = 400, 25
	e := refusing(t)
	causes := refusals()
	took := map[string][]time.Duration{}
	w := &sink{header: http.Header{}}
	for range rounds {
		for cause, h := range causes { // in another order each round
			r := httptest.NewRequest(http.MethodPost, "/mcp/", nil)
			r.Header = h
			start := time.Now()
			for range calls {
				clear(w.header)
				e.ServeHTTP(w, r)
			}
			took[cause] = append(took[cause], time.Since(start)/calls)
			if w.status != http.StatusUnauthorized {
				t.Fatalf("%s: status %d", cause, w.status)
			}
		}
	}
	fastest, slowest := time.Hour, time.Duration(0)
	for cause, all := range took {
		slices.Sort(all)
		median := all[len(all)/2]
		t.Logf("%-9s %s", cause, median)
		fastest, slowest = min(fastest, median), max(slowest, median)
	}
	// Far more than the real difference, and far less than a network's noise.
	if slowest > fastest+fastest/2+5*time.Microsecond {
		t.Errorf("the medians are from %s to %s", fastest, slowest)
	}
}

// whileRead is a body that runs a function while it is read.
type whileRead struct {
	io.Reader
	happens func()
}

func (b *whileRead) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.happens()
	}
	return n, err
}

func TestTokenIsJudgedAgainOnceTheBodyIsThere(t *testing.T) {
	for _, c := range []struct {
		name string
		then *contract.Config
		want int
	}{
		{"nothing changed", config(), http.StatusOK},
		{"the token was revoked", func() *contract.Config { c := config(); c.Tokens = nil; return c }(), http.StatusUnauthorized},
		{"the endpoint was closed", nil, http.StatusServiceUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEndpoint(t, config())
			body := &whileRead{strings.NewReader(listTools), func() { e.change(c.then) }}
			r := httptest.NewRequest(http.MethodPost, "/mcp/", body)
			r.Header.Set("Authorization", "Bearer "+readerToken)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

func BenchmarkUnauthorized(b *testing.B) {
	e := refusing(b)
	for cause, h := range refusals() {
		b.Run(cause, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodPost, "/mcp/", nil)
			r.Header = h
			w := &sink{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				e.ServeHTTP(w, r)
			}
		})
	}
}

// The operator reads why a caller is refused, with the part of the text that may be shown; the caller does not.
func TestTheLogTellsWhyACallerIsRefused(t *testing.T) {
	const public, secret = "mcp_AAAAAAAAAAAAAAAA", "ssssssssssssssssssssssssssssssssssssssssssM"
	text := func(id string) string { return id + "." + secret }
	past := now.Add(-time.Second)
	c := config()
	expired, late, inactive, other := token("expired", text(public)), token("late", ""), token("inactive", ""), token("other", text("mcp_BBBBBBBBBBBBBBBB"))
	expired.Expiry = &past
	late.Hashes, late.PublicID, late.Refused = nil, "mcp_CCCCCCCCCCCCCCCC", "Expired"
	inactive.Hashes, inactive.PublicID, inactive.Refused = nil, "mcp_DDDDDDDDDDDDDDDD", "Inactive"
	other.Hashes, other.PublicID = []string{contract.HashToken("another text")}, "mcp_BBBBBBBBBBBBBBBB"
	c.Tokens = []contract.Token{expired, late, inactive, other}
	for shown, want := range map[string]string{
		text(public):                 "cause=Expired token=shop/expired token_id=" + public,
		text("mcp_CCCCCCCCCCCCCCCC"): "cause=Expired token=shop/late token_id=mcp_CCCCCCCCCCCCCCCC",
		text("mcp_DDDDDDDDDDDDDDDD"): "cause=Inactive token=shop/inactive token_id=mcp_DDDDDDDDDDDDDDDD",
		text("mcp_BBBBBBBBBBBBBBBB"): "cause=OtherText token=shop/other token_id=mcp_BBBBBBBBBBBBBBBB",
		text("mcp_EEEEEEEEEEEEEEEE"): `cause=Unknown token="" token_id=mcp_EEEEEEEEEEEEEEEE`,
		"somebody-elses-" + secret:   `cause=Unknown token="" token_id=""`,
	} {
		e := newEndpoint(t, c)
		refuse := func() string {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/mcp/", nil)
			r.Header = header("Authorization", "Bearer "+shown)
			e.ServeHTTP(w, r)
			return w.Body.String()
		}
		first := refuse()
		if again := refuse(); again != first || strings.Contains(first, "shop/") {
			t.Errorf("the caller reads %s, then %s", first, again)
		}
		for deadline := time.Now().Add(time.Minute); !strings.Contains(e.log.String(), want) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		}
		log := e.log.String()
		if !strings.Contains(log, want) || strings.Contains(log, secret) || strings.Count(log, "A caller is refused") != 1 {
			t.Errorf("the log has\n%s\nwant one line with %s, and no secret", log, want)
		}
	}
}
