package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// mayExport gives every token of the office the verb export.
func mayExport(c *contract.Config) {
	for i := range c.Tokens {
		c.Tokens[i].Rules = append(slices.Clone(c.Tokens[i].Rules), contract.Rule{Models: []string{"*"}, Verbs: []string{contract.VerbExport}})
	}
}

// asks is the link of an export of the notes' ids, and when it ends.
func (o *office) asks(token string) (uri string, expires time.Time) {
	o.t.Helper()
	text, isError := o.Call(token, "list_note", `{"export":"csv","fields":["id"],"order_by":["id"]}`)
	var answer struct {
		Export struct {
			URI     string
			Expires time.Time
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || isError {
		o.t.Fatalf("%v: %s", err, text)
	}
	_, link, _ := strings.Cut(answer.Export.URI, harness.Audience+"exports/")
	if link == "" {
		o.t.Fatalf("the link %q is not below the endpoint's URL", answer.Export.URI)
	}
	return o.URL + "exports/" + link, answer.Export.Expires // nobody answers at the endpoint's own URL
}

// fetches are the ids in the file of a link; "refused" if there is none.
func (o *office) fetches(uri string) string {
	o.t.Helper()
	response, err := http.Get(uri)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if response.StatusCode == http.StatusNotFound {
		return "refused"
	}
	return strings.Join(strings.Fields(string(body))[1:], " ")
}

// The link of a caller whose token somebody else issued shows what the caller would see, by the attributes and groups of the claims.
func TestLinksOfCallersKeepToTheirRights(t *testing.T) {
	t.Parallel()
	o := officeOnSQLite(t, mayExport)
	for name, token := range map[string]string{
		"a ServiceAccount": o.cluster.ServiceAccountToken("shop", "clerk"),
		"a subject":        o.corp.Token("boss", nil),
		"an attribute":     o.staff("ann"),
		"another person":   o.staff("ben"),
		"a group":          o.staff("ann", "roles", []string{"auditors", "machines"}, "city", "Oslo"),
	} {
		uri, _ := o.asks(token)
		if got, want := o.fetches(uri), o.sees(token); got != want {
			t.Errorf("%s: the file has the notes %q, want %q", name, got, want)
		}
	}
	soon := time.Now().Add(time.Minute).Truncate(time.Second)
	if _, expires := o.asks(o.staff("ann", "exp", soon.Unix())); expires.After(soon.Add(time.Minute)) {
		t.Errorf("the link ends at %v, and the caller's token at %v", expires, soon)
	}
}

func TestLinksOfCallersEndWithWhatLetsThemIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account bool
		change  func(*contract.Config)
	}{
		"the MCPToken is deleted": {false, func(c *contract.Config) {
			c.Tokens = slices.DeleteFunc(c.Tokens, func(t contract.Token) bool { return t.Identity != nil })
		}},
		"the issuer is not declared any more": {false, func(c *contract.Config) { c.Endpoint.Authentication.Issuers = nil }},
		"its audience is another":             {false, func(c *contract.Config) { c.Endpoint.Authentication.Issuers[0].Audiences = []string{"another"} }},
		"the accounts' audience is another":   {true, func(c *contract.Config) { c.Endpoint.Authentication.ServiceAccounts.Audiences = []string{"another"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := officeOnSQLite(t, mayExport)
			token := o.staff("ann")
			if c.account {
				token = o.cluster.ServiceAccountToken("shop", "clerk")
			}
			uri, _ := o.asks(token)
			o.Apply(c.change)
			if got := o.fetches(uri); got != "refused" {
				t.Errorf("the link gives the notes %q", got)
			}
		})
	}
}
