package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// notes are rows of two people in two cities. Each engine takes the script.
const notes = `
CREATE TABLE note (id integer PRIMARY KEY, owner varchar(100) NOT NULL, city varchar(100) NOT NULL, text varchar(100) NOT NULL);
INSERT INTO note VALUES (1, 'ann', 'Oslo', 'first');
INSERT INTO note VALUES (2, 'ben', 'Oslo', 'second');
INSERT INTO note VALUES (3, 'ben', 'Rome', 'third');
`

// noteModel shows people their own notes, and auditors the notes of their city.
func noteModel() contract.Model {
	return contract.Model{
		Name: "note", Table: "note", Expose: true,
		RowPolicies: []contract.RowPolicy{
			{Name: "own", Everyone: true, Filters: []contract.Filter{{Field: "owner", TokenAttribute: "owner"}}},
			{Name: "city", Groups: []string{"auditors"}, Filters: []contract.Filter{{Field: "city", TokenAttribute: "city"}}},
			{Name: "all", Groups: []string{"machines"}, AllRows: true},
		},
		Actions: []contract.Action{{
			Name: "shout", Requires: []string{"change"}, Confirm: &contract.Confirmation{TokenRequired: true},
			Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "text", Source: contract.SourceValue, Value: "LOUD"}}},
		}},
	}
}

// everything is the right to all there is.
var everything = []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}

// office is an endpoint for people with tokens of an identity provider, and for pods with tokens of a cluster.
type office struct {
	*harness.Endpoint
	t             *testing.T
	corp, cluster *harness.Issuer
	// text is the text of the one token that has a text.
	text string
}

func forCallers(name string, groups []string, i contract.Identity) contract.Token {
	return contract.Token{Namespace: "test", Name: name, Groups: groups, Rules: everything, Identity: &i}
}

// newOffice serves notes on an engine.
func newOffice(t *testing.T, database harness.Database, configure ...func(*contract.Config)) *office {
	t.Helper()
	o := &office{t: t, corp: harness.NewIssuer(t), cluster: harness.NewIssuer(t)}
	viewer, text := harness.Viewer()
	viewer.Groups = []string{"machines"}
	o.text = text
	corp := o.corp.Settings("corp").URL
	tokens := []contract.Token{
		forCallers("clerk", []string{"machines"}, contract.Identity{ServiceAccount: "shop/clerk"}),
		forCallers("boss", []string{"machines"}, contract.Identity{Issuer: corp, Subject: "boss"}),
		forCallers("staff", nil, contract.Identity{
			Issuer: corp, Claims: map[string]string{"org": "shop"},
			Attributes: map[string]string{"owner": "subject", "city": "claims.city"},
			Groups:     "claims.roles", Among: []string{"auditors"},
		}),
		forCallers("night", []string{"machines"}, contract.Identity{Issuer: corp, Claims: map[string]string{"shift": "night"}}),
		forCallers("night-staff", nil, contract.Identity{
			Issuer: corp, Claims: map[string]string{"org": "depot", "shift": "night"}, Attributes: map[string]string{"owner": "'ben'"},
		}),
		viewer,
	}
	prepare := func(s *server.Server) { s.API = o.cluster.API() }
	configure = append([]func(*contract.Config){func(c *contract.Config) {
		c.Endpoint.URL = harness.Audience
		c.Endpoint.Authentication = contract.Authentication{
			ServiceAccounts: contract.ServiceAccounts{Audiences: []string{harness.Audience}},
			Issuers:         []contract.Issuer{o.corp.Settings("corp")},
		}
	}}, configure...)
	o.Endpoint = harness.ServeAs(t, prepare, database, []contract.Model{noteModel()}, tokens, configure...)
	return o
}

func officeOnSQLite(t *testing.T, configure ...func(*contract.Config)) *office {
	t.Helper()
	database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "notes.sqlite"), notes)
	return newOffice(t, database, configure...)
}

// untilCounted waits until a refusal is counted for a reason: the operator is told after the caller.
func (o *office) untilCounted(reason string) {
	o.t.Helper()
	sample := `mcp_admin_server_callers_refused_total{reason="` + reason + `"} `
	for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(o.Metrics(), sample); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			o.t.Fatalf("no refusal of the reason %s is counted", reason)
		}
	}
}

// staff is the token that the identity provider issues to one of the staff.
func (o *office) staff(name string, claims ...any) string {
	all := map[string]any{"org": "shop"}
	for i := 0; i < len(claims); i += 2 {
		all[claims[i].(string)] = claims[i+1]
	}
	return o.corp.Token(name, all)
}

// sees are the ids of the notes that a token shows.
func (o *office) sees(token string) string {
	o.t.Helper()
	text, isError := o.Call(token, "list_note", `{"order_by":["id"]}`)
	var list struct{ Results []struct{ ID int } }
	if err := json.Unmarshal([]byte(text), &list); err != nil || isError {
		o.t.Fatalf("%v: %s", err, text)
	}
	var ids []string
	for _, row := range list.Results {
		ids = append(ids, fmt.Sprint(row.ID))
	}
	return strings.Join(ids, " ")
}

// refused is all of an answer but its date.
func (o *office) refused(token string) string {
	o.t.Helper()
	request, err := http.NewRequest(http.MethodPost, o.URL, strings.NewReader(listTools))
	if err != nil {
		o.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	response.Header.Del("Date")
	return fmt.Sprint(response.Status, response.Header, string(body))
}
