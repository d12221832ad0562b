package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
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
		"late":      header("Authorization", "Bearer "+pad("late")),
		"forged":    header("Authorization", "Bearer mcp_FFFFFFFFFFFFFFFF."+strings.Repeat("f", 43)),
	}
}

// refuse makes a token one that is not in force, as the manager writes it.
func refuse(t *contract.Token, reason string) {
	for _, hash := range t.Hashes {
		t.RefusedSums = append(t.RefusedSums, contract.RefusedSum(hash))
	}
	t.Hashes, t.Refused = nil, reason
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
	late, forged := token("late", strings.TrimPrefix(all["late"].Get("Authorization"), "Bearer ")), token("forged", "another text")
	refuse(&inactive, "Inactive")
	refuse(&late, "Expired")
	forged.PublicID = "mcp_FFFFFFFFFFFFFFFF"
	c.Tokens = append(c.Tokens, expired, inactive, late, forged)
	return newEndpoint(t, c)
}

// unanswered is an endpoint that does not say why anybody is refused, until the channel is closed.
type unanswered struct {
	mcp.Endpoint
	asked  chan struct{}
	answer chan struct{}
}

func (u unanswered) WhyRefused(shown access.Bearer, caller *identity.Caller, now time.Time) access.Cause {
	select {
	case u.asked <- struct{}{}:
	default:
	}
	<-u.answer
	return u.Endpoint.WhyRefused(shown, caller, now)
}

// Nothing that a 401 waits for depends on its cause: it is the same, and makes the same work, while nobody knows the cause.
func TestARefusalDoesTheSameWhateverTheCause(t *testing.T) {
	e := refusing(t)
	known, _ := e.options.Endpoint()
	u := unanswered{known, make(chan struct{}, 1), make(chan struct{})}
	options := e.options
	options.Endpoint = func() (mcp.Endpoint, bool) { return u, true }
	h := mcp.NewHandler(options)
	defer close(u.answer)
	refuse := func(header http.Header) string {
		r, w := httptest.NewRequest(http.MethodPost, "/mcp/", nil), httptest.NewRecorder()
		r.Header = header
		h.ServeHTTP(w, r)
		return fmt.Sprintln(w.Code, w.Header(), w.Body)
	}
	want := refuse(refusals()["unknown"])
	<-u.asked // from now on only the path of the request makes work
	work := map[string]float64{}
	for cause, header := range refusals() {
		if got := refuse(header); got != want {
			t.Errorf("%s: the answer is\n%s\nwant\n%s", cause, got, want)
		}
		r, w := httptest.NewRequest(http.MethodPost, "/mcp/", nil), &sink{header: http.Header{}}
		r.Header = header
		work[cause] = testing.AllocsPerRun(200, func() {
			clear(w.header)
			h.ServeHTTP(w, r)
		})
	}
	for cause, allocations := range work {
		noText := cause == "missing" || cause == "malformed" // there is nothing to hash, as the caller knows
		if allocations != work["unknown"] && !noText {
			t.Errorf("%s: %v allocations, and %v of an unknown text", cause, allocations, work["unknown"])
		}
	}
}

// The time of a 401 must not reveal its cause. The causes take turns, so that other work of the machine affects all of them alike, and
// medians are compared. Times are the machine's affair: they are only told, and the test fails by them alone with MCP_TEST_TIMING=1.
func TestTimesOfRefusals(t *testing.T) {
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
	if os.Getenv("MCP_TEST_TIMING") != "" && slowest > fastest+fastest/2+5*time.Microsecond {
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

// A told is a use that was refused, as the report on the tokens' use hears of it.
type told struct{ token, reason, address string }

// The operator reads why a caller is refused, with the part of the text that may be shown; the caller does not.
func TestTheOperatorIsToldWhyACallerIsRefused(t *testing.T) {
	const secret = "ssssssssssssssssssssssssssssssssssssssssssM"
	id := func(letter string) string { return "mcp_" + strings.Repeat(letter, 16) }
	text := func(letter string) string { return id(letter) + "." + secret }
	past := now.Add(-time.Second)
	expired, late, inactive, other, old, lost := token("expired", text("A")), token("late", text("C")), token("inactive", text("D")),
		token("other", "another text"), token("old", ""), token("lost", "")
	expired.Expiry = &past
	refuse(&late, "Expired")
	refuse(&inactive, "Inactive")
	other.PublicID, late.PublicID = id("B"), id("C")
	old.Hashes, old.PublicID, old.Refused = nil, id("G"), "Expired" // of a manager that writes no sums
	lost.Hashes, lost.PublicID, lost.Refused = nil, id("H"), "GroupNotFound"
	c := config()
	c.Tokens = []contract.Token{expired, late, inactive, other, old, lost}
	for _, tc := range []struct{ shown, reason, line, used string }{
		{text("A"), "expired", "condition=Expired token=shop/expired token_id=" + id("A"), "shop/expired"},
		{text("C"), "expired", "condition=Expired token=shop/late token_id=" + id("C"), "shop/late"},
		{text("D"), "inactive", "condition=Inactive token=shop/inactive token_id=" + id("D"), "shop/inactive"},
		{id("C") + "." + strings.Repeat("t", 43), "other_text", "token=shop/late token_id=" + id("C"), ""},
		{text("B"), "other_text", "token=shop/other token_id=" + id("B"), ""},
		{text("G"), "expired", "condition=Expired token=shop/old token_id=" + id("G"), ""},
		{text("H"), "not_accepted", "condition=GroupNotFound token=shop/lost token_id=" + id("H"), ""},
		{text("E"), "unknown", "token_id=" + id("E"), ""},
		{"somebody-elses-" + secret, "unknown", "", ""},
		{late.RefusedSums[0], "unknown", "", ""}, // a sum is no text
		{"", "missing", "-", ""},
	} {
		t.Run(tc.reason+" "+tc.line, func(t *testing.T) {
			e := newEndpoint(t, c)
			uses := make(chan told, 9)
			e.options.RefusedUse = func(cause access.Cause, address string, _ time.Time) {
				uses <- told{cause.Token, cause.Condition, address}
			}
			h := mcp.NewHandler(e.options)
			ask := func() string {
				r, w := httptest.NewRequest(http.MethodPost, "/mcp/", nil), httptest.NewRecorder()
				r.RemoteAddr = "10.1.2.3:4567"
				r.Header = header("Authorization", "Bearer "+tc.shown)
				r.Header.Set("User-Agent", "ledger 2.1")
				h.ServeHTTP(w, r)
				return w.Body.String()
			}
			first := ask()
			if again := ask(); again != first || strings.Contains(first, "shop/") {
				t.Errorf("the caller reads %s, then %s", first, again)
			}
			untilCounted(t, e, map[string]float64{tc.reason: 2})
			log, lines := e.audit.String()+e.log.String(), e.audit.Lines(`"operation":"authenticate"`)
			if tc.line == "-" {
				if len(lines) > 0 {
					t.Errorf("got %q, want no line", lines)
				}
			} else if len(lines) != 2 || strings.Contains(log, secret) {
				t.Errorf("got\n%s\nwant two lines, and no secret", log)
			} else if got := membersOf(t, lines[0], "condition", "token", "token_id"); got != tc.line || membersOf(t, lines[0], "cause", "outcome", "address", "client") !=
				"cause="+tc.reason+" outcome=refused address=10.1.2.3 client=ledger 2.1" {
				t.Errorf("got %s, want %s", lines[0], tc.line)
			}
			if hash := contract.HashToken(tc.shown); strings.Contains(log, hash) || strings.Contains(log, contract.RefusedSum(hash)) {
				t.Errorf("the log has a hash: %s", log)
			}
			if tc.used == "" {
				if len(uses) > 0 {
					t.Errorf("counts as a use: %v", <-uses)
				}
			} else if use := <-uses; use.token != tc.used || use.address != "10.1.2.3" || len(uses) != 1 {
				t.Errorf("counts as a use of %v", use)
			}
		})
	}
}

// membersOf are members of a line, as name=value; those that it does not have are left out.
func membersOf(t *testing.T, line string, names ...string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, name := range names {
		if value, given := members[name]; given {
			of = append(of, fmt.Sprint(name, "=", value))
		}
	}
	return strings.Join(of, " ")
}

var refusedCount = regexp.MustCompile(`(?m)^mcp_admin_server_callers_refused_total\{reason="(\w+)"\} (\d+)$`)

// untilCounted waits until refused callers are counted so, and nothing else.
func untilCounted(t *testing.T, e *endpoint, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		w := httptest.NewRecorder()
		e.options.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		clear(got)
		for _, m := range refusedCount.FindAllStringSubmatch(w.Body.String(), -1) {
			got[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		if maps.Equal(got, want) {
			return
		}
	}
	t.Fatalf("the refusals are counted as %v, want %v", got, want)
}

// Who guesses ten thousand times a second neither fills the log nor hides an agent whose token has expired.
func TestManyRefusalsHaveFewLines(t *testing.T) {
	const guesses = 10_000
	e := refusing(t)
	var passed atomic.Int64
	e.options.Now = func() time.Time { return now.Add(time.Duration(passed.Load())) }
	e.Handler = mcp.NewHandler(e.options)
	post := func(header http.Header) {
		r := httptest.NewRequest(http.MethodPost, "/mcp/", nil)
		r.Header = header
		e.ServeHTTP(&sink{header: http.Header{}}, r)
	}
	counted := map[string]float64{}
	for i := range guesses {
		if post(refusals()["unknown"]); i%1000 == 999 { // more may wait than are looked up
			counted["unknown"] += 1000
			untilCounted(t, e, counted)
		}
	}
	post(refusals()["late"])
	counted["expired"] = 1
	untilCounted(t, e, counted)
	passed.Store(int64(time.Second))
	told := regexp.MustCompile(`"more_refused":(\d+)`)
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) {
		log := e.audit.String()
		more := told.FindStringSubmatch(log)
		if lines := strings.Count(log, `"cause":"unknown"`); more != nil {
			if rest, _ := strconv.Atoi(more[1]); lines != 6 || rest != guesses-6 || strings.Count(log, `"cause":"expired"`) != 1 {
				t.Errorf("the log has\n%s\nwant 5 lines about guesses within the second, 1 with the number of the rest, and 1 about the token", log)
			}
			return
		} else if lines > 5 || time.Now().After(deadline) {
			t.Fatalf("the log has %d lines about guesses, and nothing of the rest:\n%s", lines, log)
		}
	}
}
