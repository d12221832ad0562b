package faults

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// contentionTime is how long a statement may take if many wait for each other.
const contentionTime = 20 * time.Second

// TestAStandbyThatIsPromoted serves a PostgreSQL that only follows another one, until it takes over.
func TestAStandbyThatIsPromoted(t *testing.T) {
	primary, standby := folder(t), folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", primary)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
	database, _ := harness.On(t, uri, script)
	s := &served{T: t, engine: contract.EnginePostgreSQL}
	s.start(database) // which makes the audit table
	s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)

	following := control(t, "start", "-engine", "standby", "-data", standby, "-primary", uri)
	t.Cleanup(func() { control(t, "stop", "-engine", "standby", "-data", standby) })
	database, s.plain = harness.On(t, following, "")
	s.settles("select balance from account where id = 1", "1000")
	s.start(database)
	if payload := s.ok("get_account", `{"id":1}`); payload["owner"] != "Ann" {
		t.Fatalf("the standby shows %v", payload)
	}
	s.fails("update_account", `{"id":2,"data":{"balance":2000}}`, "unavailable")
	s.fails("create_account", `{"data":{"id":4,"owner":"Di","balance":0}}`, "unavailable")

	control(t, "stop", "-engine", "postgres", "-data", primary)
	s.exec("select pg_promote()")
	s.recovers("update_account", `{"id":2,"data":{"balance":2000}}`)
	s.holds("select balance from account where id = 2", "2000")
	s.whole()
	s.held("a standby: reads are answered, writes are \"unavailable\"; once it is promoted both go on")
}

// TestAServerThatBecomesReadOnly is a switchover: the server of an address takes no more writes, and the address leads to
// another one. Connections to the old server are still open.
func TestAServerThatBecomesReadOnly(t *testing.T) {
	for _, name := range []string{"mariadb", "mysql"} {
		t.Run(name, func(t *testing.T) {
			var uris, addresses [2]string
			for i := range uris {
				data := folder(t)
				uris[i] = install(t, name, "start", "-engine", name, "-data", data)
				t.Cleanup(func() { control(t, "stop", "-engine", name, "-data", data) })
				harness.On(t, uris[i]+"mysql", `create database accounts; create user 'app'@'127.0.0.1' identified by 'app'; grant all on accounts.* to 'app'@'127.0.0.1'`)
				u, err := url.Parse(uris[i])
				if err != nil {
					t.Fatal(err)
				}
				addresses[i] = u.Host
			}
			_, before := harness.On(t, uris[0]+"accounts", script)
			_, after := harness.On(t, uris[1]+"accounts", script)
			s := &served{T: t, engine: name, plain: after, proxy: newProxy(t, addresses[0])}
			through := harness.Database{Connection: map[string][]byte{"uri": []byte("mysql://app:app@" + addresses[1] + "/accounts")}}
			s.start(through) // which makes the audit table there
			through.Connection = map[string][]byte{"uri": []byte("mysql://app:app@" + s.proxy.listener.Addr().String() + "/accounts")}
			s.start(through)
			s.ok("list_account", `{}`)
			if _, err := before.Exec("set global read_only = on"); err != nil {
				t.Fatal(err)
			}
			s.fails("update_account", `{"id":1,"data":{"balance":1000}}`, "unavailable")
			s.ok("get_account", `{"id":1}`)
			s.proxy.lead(addresses[1])
			s.recovers("update_account", `{"id":1,"data":{"balance":1000}}`)
			s.holds("select balance from account where id = 1", "1000")
			s.whole()
			s.held("the server becomes read-only and its address leads to another: writes are \"unavailable\" until then, and go on there")
		})
	}
}

// lead makes new connections lead to another address; existing ones stay.
func (p *proxy) lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// install is control for an engine that need not be there: without it, the test is skipped, and the last lines say so.
func install(t *testing.T, engine string, arguments ...string) string {
	t.Helper()
	needServers(t)
	c := exec.Command("go", append([]string{"run", "../databases"}, arguments...)...)
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	switch {
	case err == nil:
		return strings.TrimSpace(string(text))
	case strings.Contains(said.String(), " is not installed: "):
		why, _, _ := strings.Cut(said.String(), "\n")
		s := &served{T: t, engine: engine}
		s.held(t.Name() + " NOT RUN: " + why)
		t.Skip(why)
	}
	t.Fatalf("%v: %v: %s", arguments, err, said.String())
	return ""
}

// needServers skips a test that starts servers of its own if nobody asked for that: it takes long.
func needServers(t *testing.T) {
	t.Helper()
	if os.Getenv("MCP_TEST_FAULTS") == "" {
		t.Skip("MCP_TEST_FAULTS is not set: make test-faults sets it")
	}
}

// waitFor waits until a query of the MySQL or MariaDB of a URI gives "1".
func waitFor(t *testing.T, uri, query string) {
	t.Helper()
	_, plain := harness.On(t, uri, "")
	s := &served{T: t, plain: plain}
	s.settles(query, "1")
}
