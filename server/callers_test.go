package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

func TestCallersAreLetInByWhoTheyAre(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t)
	for _, tc := range []struct{ name, token, sees string }{
		{"a text of one's own", o.text, "1 2 3"},
		{"a ServiceAccount", o.cluster.ServiceAccountToken("shop", "clerk"), "1 2 3"},
		{"a subject", o.corp.Token("boss", nil), "1 2 3"},
		{"a claim, with an attribute that the subject gives", o.staff("ann"), "1"},
		{"another person with the same claim", o.staff("ben"), "2 3"},
		{"a group that a claim gives, and its attribute", o.staff("ann", "roles", []string{"auditors", "machines"}, "city", "Oslo"), "1 2"},
		{"a group without its attribute", o.staff("ann", "roles", "auditors"), "1"},
		{"the subject goes before the claims", o.staff("boss"), "1 2 3"},
		{"two claims go before one", o.corp.Token("eve", map[string]any{"org": []string{"depot"}, "shift": "night"}), "2 3"},
	} {
		if got := o.sees(tc.token); got != tc.sees {
			t.Errorf("%s: the notes %q are seen, want %q", tc.name, got, tc.sees)
		}
	}
	issuers := o.Status().Issuers
	known := func(i contract.IssuerStatus) bool { return i.Reason == contract.ReasonKeysKnown && i.Usable }
	if len(issuers) != 2 || issuers[0].Name != "" || issuers[1].Name != "corp" || !known(issuers[0]) || !known(issuers[1]) {
		t.Errorf("the status says of the issuers %+v", issuers)
	}
}

func TestTheStatusSaysNothingOfIssuersIfThereAreNone(t *testing.T) {
	t.Parallel()
	database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "notes.sqlite"), notes)
	viewer, text := harness.Viewer()
	api := harness.NewIssuer(t)
	e := harness.ServeAs(t, func(s *server.Server) { s.API = api.API() }, database, []contract.Model{noteModel()}, []contract.Token{viewer})
	if status, _ := e.Post(text, listTools); status != http.StatusOK {
		t.Fatalf("got the status %d, want %d", status, http.StatusOK)
	}
	if issuers := e.Status().Issuers; issuers != nil {
		t.Errorf("%+v", issuers)
	}
}

func TestEveryRefusalIsTheSame(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t)
	past := time.Now().Add(-time.Hour).Unix()
	alien := harness.NewIssuer(t)
	want := o.refused("")
	if !strings.HasPrefix(want, "401 ") || !strings.Contains(want, `resource_metadata="https://endpoint.example.com/.well-known/oauth-protected-resource/mcp/"`) {
		t.Fatalf("without a token the answer is %s", want)
	}
	for name, token := range map[string]string{
		"an unknown text":                      strings.Repeat("x", 50),
		"no token of anybody's":                "eyJ.eyJ.x",
		"another issuer":                       alien.Token("boss", nil),
		"another issuer that names a known":    alien.Token("boss", map[string]any{"iss": o.corp.Settings("corp").URL}),
		"another audience":                     o.corp.Token("boss", map[string]any{"aud": "https://other.example.com/mcp/"}),
		"expired":                              o.corp.Token("boss", map[string]any{"exp": past}),
		"nobody's subject":                     o.corp.Token("stranger", nil),
		"between two MCPTokens":                o.corp.Token("eve", map[string]any{"org": "shop", "shift": "night"}),
		"another ServiceAccount":               o.cluster.ServiceAccountToken("shop", "cook"),
		"a ServiceAccount of an issuer":        o.corp.ServiceAccountToken("shop", "clerk"),
		"a subject of the cluster":             o.cluster.Token("boss", nil),
		"a subject that is a ServiceAccount's": o.corp.Token("system:serviceaccount:shop:clerk", nil),
	} {
		if got := o.refused(token); got != want {
			t.Errorf("%s: the answer is\n%s\nwant\n%s", name, got, want)
		}
	}
	if lines := o.Log.Lines("Two MCPTokens"); len(lines) != 1 || !strings.Contains(lines[0], "test/staff") || !strings.Contains(lines[0], "test/night") {
		t.Errorf("an ambiguous caller is logged as %q", lines)
	}
	for _, reason := range []string{"missing", "unknown", "unknown_issuer", "audience", "jwt_expired", "no_mcptoken", "ambiguous"} {
		o.untilCounted(reason)
	}
}

func TestWhoLosesTheirMCPTokenIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t)
	ann, clerk := o.staff("ann"), o.cluster.ServiceAccountToken("shop", "clerk")
	o.sees(ann)
	o.sees(clerk)
	o.Apply(func(c *contract.Config) {
		c.Tokens = slices.DeleteFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "staff" || t.Name == "clerk" })
	})
	for name, token := range map[string]string{"staff": ann, "clerk": clerk} {
		if status, answer := o.Post(token, listTools); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	// An issuer that the endpoint no longer has ends its tokens, too.
	boss := o.corp.Token("boss", nil)
	o.sees(boss)
	o.Apply(func(c *contract.Config) { c.Endpoint.Authentication.Issuers = nil })
	if status, answer := o.Post(boss, listTools); status != http.StatusUnauthorized {
		t.Errorf("boss: %d %s", status, answer)
	}
}

func TestAChangedMCPTokenHoldsAtOnce(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t)
	ann := o.staff("ann", "roles", "auditors", "city", "Oslo")
	if got := o.sees(ann); got != "1 2" {
		t.Fatalf("sees %q", got)
	}
	o.Apply(func(c *contract.Config) {
		i := slices.IndexFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "staff" })
		c.Tokens[i].Identity.Among, c.Tokens[i].Identity.Attributes["owner"] = []string{"others"}, "'ben'"
	})
	if got := o.sees(ann); got != "2 3" {
		t.Errorf("sees %q", got)
	}
}

func TestCallersOfOneMCPTokenHaveConfirmationsAndRatesOfTheirOwn(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t, func(c *contract.Config) { c.Endpoint.Limits.RequestsPerSecondPerToken = 3 })
	oslo := []any{"roles", "auditors", "city", "Oslo"}
	ann, ben := o.staff("ann", oslo...), o.staff("ben", oslo...)
	text, _ := o.Call(ann, "action_note", `{"action":"shout","ids":[1]}`)
	var question struct {
		Token string `json:"confirmation_token"`
	}
	if err := json.Unmarshal([]byte(text), &question); err != nil || question.Token == "" {
		t.Fatalf("%v: %s", err, text)
	}
	confirmed := fmt.Sprintf(`{"action":"shout","ids":[1],"confirm":true,"confirmation_token":%q}`, question.Token)
	if text, isError := o.Call(ben, "action_note", confirmed); !isError || !strings.Contains(text, `"conflict"`) {
		t.Errorf("the confirmation of another is taken: %s", text)
	}
	// A newer token of the same person is as good.
	if text, isError := o.Call(o.staff("ann", append(oslo, "jti", "2")...), "action_note", confirmed); isError {
		t.Errorf("the own confirmation is refused: %s", text)
	}
	limited := func(token string) (n int) {
		for range 30 {
			if status, _ := o.Post(token, listTools); status == http.StatusTooManyRequests {
				n++
			}
		}
		return n
	}
	if limited(o.staff("cid")) < 20 {
		t.Error("a caller has no rate")
	}
	if status, _ := o.Post(o.staff("dan"), listTools); status != http.StatusOK {
		t.Errorf("another caller of the same MCPToken gets %d", status)
	}
}

func TestTheAuditNamesTheMCPTokenAndTheCaller(t *testing.T) {
	t.Parallel()
	for _, engine := range harness.Engines {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, notes)
			o := newOffice(t, database, func(c *contract.Config) { c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"} })
			for i, tc := range []struct{ subject, shown string }{
				{"ann", "ann"},
				{"änn@example.com\x00\n", `\u00e4nn@example.com\x00\n`},
				{strings.Repeat("z", 4096), strings.Repeat("z", 200) + "..."},
			} {
				token := o.staff(tc.subject, "roles", "auditors", "city", "Oslo")
				if text, isError := o.Call(token, "update_note", fmt.Sprintf(`{"id":1,"data":{"text":"change %d"}}`, i)); isError {
					t.Fatalf("%.20q: %s", tc.subject, text)
				}
				var written string
				if err := plain.QueryRow("SELECT token FROM mcp_admin_log ORDER BY id DESC LIMIT 1").Scan(&written); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(written, "test/staff as "+tc.shown) {
					t.Errorf("the journal has %q", written)
				}
				text, _ := o.Call(token, "history_note", `{"id":1,"limit":1}`)
				var history struct{ History []struct{ Token string } }
				if err := json.Unmarshal([]byte(text), &history); err != nil || len(history.History) != 1 || history.History[0].Token != written {
					t.Errorf("the history is %s", text)
				}
				lines := o.Log.Lines(`"msg":"audit"`)
				var line struct{ Token, Subject string }
				if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.Token != "test/staff" || len(line.Subject) > 250 ||
					!strings.HasPrefix(tc.subject, strings.TrimSuffix(line.Subject, "…")) || line.Subject == "" {
					t.Errorf("the audit has %s", lines[len(lines)-1])
				}
			}
		})
	}
}

func TestAWebhookIsToldTheMCPTokenAndTheSubject(t *testing.T) {
	t.Parallel()
	type told struct{ Token, Subject *string }
	heard := make(chan told, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body told
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		heard <- body
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(hook.Close)
	o := officeOnSQLite(t, func(c *contract.Config) {
		c.Models[0].Actions = []contract.Action{{
			Name: "send", Requires: []string{"view"}, Webhook: &contract.Webhook{URL: hook.URL, Timeout: contract.Duration(30 * time.Second)},
		}}
		c.Tokens[slices.IndexFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "viewer" })].Rules = everything
	})
	if text, isError := o.Call(o.staff("ann"), "action_note", `{"action":"send","ids":[1],"confirm":true}`); isError {
		t.Fatalf("got the error %v, want success", text)
	}
	if got := <-heard; got.Subject == nil || *got.Subject != "ann" || *got.Token != "test/staff" {
		t.Errorf("told %+v", got)
	}
	if text, isError := o.Call(o.text, "action_note", `{"action":"send","ids":[1],"confirm":true}`); isError {
		t.Fatalf("got the error %v, want success", text)
	}
	if got := <-heard; got.Subject != nil || *got.Token != "test/viewer" {
		t.Errorf("told %+v", got)
	}
}

func TestTheCallersOfNoClusterAreRefused(t *testing.T) {
	t.Parallel()
	database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "notes.sqlite"), notes)
	cluster := harness.NewIssuer(t)
	clerk := forCallers("clerk", nil, contract.Identity{ServiceAccount: "shop/clerk"})
	e := harness.Serve(t, database, []contract.Model{noteModel()}, []contract.Token{clerk}, func(c *contract.Config) {
		c.Endpoint.Authentication.ServiceAccounts.Audiences = []string{harness.Audience}
	})
	if status, answer := e.Post(cluster.ServiceAccountToken("shop", "clerk"), listTools); status != http.StatusUnauthorized {
		t.Errorf("%d %s", status, answer)
	}
	issuers := e.Status().Issuers
	if len(issuers) != 1 || issuers[0].Usable || issuers[0].Reason != contract.ReasonIssuerUnreachable {
		t.Errorf("the status says of the cluster %+v", issuers)
	}
}

// TestKeysOutliveTheProcess starts a server again while the issuers are away.
func TestKeysOutliveTheProcess(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	corp := harness.NewIssuer(t)
	token := corp.Token("boss", nil)
	serve := func(t *testing.T) int {
		t.Helper()
		database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "notes.sqlite"), notes)
		boss := forCallers("boss", nil, contract.Identity{Issuer: corp.Settings("corp").URL, Subject: "boss"})
		e := harness.ServeAs(t, func(s *server.Server) { s.StateDir = state }, database, []contract.Model{noteModel()}, []contract.Token{boss},
			func(c *contract.Config) { c.Endpoint.Authentication.Issuers = []contract.Issuer{corp.Settings("corp")} })
		status, _ := e.Post(token, listTools)
		return status
	}
	t.Run("the issuer answers", func(t *testing.T) {
		if status := serve(t); status != http.StatusOK {
			t.Errorf("got the status %d, want %d", status, http.StatusOK)
		}
	})
	corp.Stop()
	t.Run("the issuer is away", func(t *testing.T) {
		if status := serve(t); status != http.StatusOK {
			t.Errorf("got the status %d, want %d", status, http.StatusOK)
		}
	})
}

// The MCPToken of a ServiceAccount or a subject is known by whom it is for, even if it is no longer in force.
func TestTheOperatorIsToldOfCallersWhoseMCPTokenIsNotInForce(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t)
	past := time.Now().Add(-time.Hour)
	o.Apply(func(c *contract.Config) {
		for i := range c.Tokens {
			switch token := &c.Tokens[i]; token.Name {
			case "boss": // as the manager writes it
				token.Refused, token.RefusedSums = "Inactive", []string{contract.RefusedSum(contract.HashToken(token.Identity.Key()))}
				token.Identity, token.Rules = nil, nil
			case "clerk": // the manager has not heard of it yet
				token.Expiry = &past
			}
		}
	})
	want := o.refused("")
	for _, token := range []string{o.cluster.ServiceAccountToken("shop", "clerk"), o.corp.Token("boss", nil)} {
		if got := o.refused(token); got != want {
			t.Errorf("the answer is\n%s\nwant\n%s", got, want)
		}
	}
	o.untilCounted("inactive")
	o.untilCounted("expired")
	usage := o.Usage()
	if clerk, boss := usage.Refused["test/clerk"], usage.Refused["test/boss"]; clerk.Reason != "Expired" || clerk.Count != 1 || clerk.From != "127.0.0.1" || boss.Reason != "Inactive" {
		t.Errorf("the report has %+v", usage)
	}
}
