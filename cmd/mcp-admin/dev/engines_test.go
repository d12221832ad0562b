package dev

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// on are the manifests of notes in a database of a server, with an audit table.
func on(c contract.Connection) string {
	_, rest, _ := strings.Cut(notes, "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPModelExposure")
	return fmt.Sprintf(`apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: notes}
spec:
  database: {connectionSecretRef: {name: db}}
  audit: {table: {name: audit_log}}
---
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {uri: %q}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure%s`, databasetest.URI(c), rest)
}

const makeNotes = "CREATE TABLE note (id int PRIMARY KEY, text varchar(100)); INSERT INTO note VALUES (1, 'hello')"

func TestDevServesADatabaseServer(t *testing.T) {
	for _, engine := range []struct {
		name string
		make func(*testing.T) contract.Connection
		says string
	}{
		{"PostgreSQL", func(t *testing.T) contract.Connection {
			c := databasetest.PostgreSQL(t)
			databasetest.Execute(t, databasetest.URI(c), makeNotes)
			return c
		}, "database: PostgreSQL "},
		{"MariaDB", func(t *testing.T) contract.Connection {
			c := databasetest.MariaDB(t)
			databasetest.ExecuteMySQL(t, c, makeNotes)
			return c
		}, "database: MariaDB "},
	} {
		t.Run(engine.name, func(t *testing.T) {
			out, _ := start(t, "--state", t.TempDir(), "-f", write(t, map[string]string{"notes.yaml": on(engine.make(t))}))
			printed := out.waitFor(t, "claude mcp add")
			for _, says := range []string{engine.says, "audit: audit_log\n", ", bulk, history, autocomplete, aggregate\n"} {
				if !strings.Contains(printed, says) {
					t.Errorf("%q is not in what was printed:\n%s", says, printed)
				}
			}
			if status, body := ask(t, printed, bearerToken.FindStringSubmatch(printed)[1]); status != http.StatusOK || !strings.Contains(body, "hello") {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestDevShowsTheStatementForAMissingAuditTable(t *testing.T) {
	c := databasetest.PostgreSQL(t)
	owner, user := databasetest.URI(c), "clerk_"+c.Database
	databasetest.Execute(t, owner, makeNotes+"; REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE USER "+user+" PASSWORD 'x'; GRANT SELECT ON note TO "+user)
	t.Cleanup(func() { databasetest.Execute(t, owner, "DROP OWNED BY "+user+"; DROP USER "+user) })
	c.User, c.Password = user, "x"
	out, _ := start(t, "--state", t.TempDir(), "-f", write(t, map[string]string{"notes.yaml": on(c)}))
	printed := out.waitFor(t, "claude mcp add")
	for _, says := range []string{
		"audit: the audit table public.audit_log cannot be made: the user may not create tables there; make it with: CREATE TABLE",
		"note: Read-only: the endpoint's audit table cannot be used",
	} {
		if !strings.Contains(printed, says) {
			t.Errorf("%q is not in what was printed:\n%s", says, printed)
		}
	}
	if strings.Contains(printed, ", update,") {
		t.Errorf("a tool that writes is there:\n%s", printed)
	}
}

func TestDevCallsWebhooksOnThisMachineWhereItIsAllowedTo(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(out, "sent indeed")
	}))
	defer hook.Close()
	manifests := strings.Replace(notes, "table: {name: note}, expose: true}",
		fmt.Sprintf("table: {name: note}, expose: true, actions: [{name: send, requires: [view], webhook: {url: %q}}]}", hook.URL), 1)
	for name, tc := range map[string]struct {
		flags []string
		want  string
	}{
		"not allowed": {nil, "unavailable"},
		"allowed":     {[]string{"--allow-local-webhooks"}, "sent indeed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := start(t, append(tc.flags, "--state", t.TempDir(), "-f", write(t, map[string]string{"notes.yaml": manifests}))...)
			printed := out.waitFor(t, "claude mcp add")
			token := bearerToken.FindStringSubmatch(printed)[1]
			if status, body := call(t, printed, token, "action_note", `{"action": "send", "ids": [1]}`); status != http.StatusOK || !strings.Contains(body, tc.want) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}
