package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Pgpool-II gives reads to a standby that is behind, but for the applications that it is told of: endpoints read what they wrote. It
// cannot read a table whose name has a quotation mark.
func TestReadsThroughPgpool(t *testing.T) {
	primary, data := folder(t), folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", primary)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
	_, plain := harness.On(t, uri, script+`; create table "a""b" (id int primary key, v int); insert into "a""b" values (1, 1)`)
	through := install(t, "Pgpool-II", "start", "-engine", "pgpool-standby", "-data", data, "-primary", uri)
	t.Cleanup(func() { control(t, "stop", "-engine", "pgpool-standby", "-data", data) })
	port, err := os.ReadFile(filepath.Join(data, "port-standby"))
	if err != nil {
		t.Fatal(err)
	}
	_, standby := harness.On(t, strings.Replace(uri, hostOf(t, uri), "127.0.0.1:"+string(port), 1), "")
	onStandby := &served{T: t, plain: standby}

	s := &served{T: t, engine: "PostgreSQL, Pgpool-II", plain: plain}
	s.start(harness.Database{Connection: map[string][]byte{"uri": []byte(through)}}, func(c *contract.Config) {
		c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
		c.Endpoint.Database.MaxConnections = 8
		quoted := c.Models[1]
		quoted.Name, quoted.Table = "quoted", `a"b`
		c.Models = append(c.Models, quoted)
	})
	// Its own look at such a table fails, and then the read that it was for.
	s.fails("get_quoted", `{"id":1}`, "internal")
	s.fails("list_quoted", `{}`, "internal")
	s.ok("get_account", `{"id":1}`)
	onStandby.settles("select count(*) from mcp_admin_log", "0")
	onStandby.exec("select pg_wal_replay_pause()")
	t.Cleanup(func() { onStandby.exec("select pg_wal_replay_resume()") })
	for n := 4; n < 24; n++ {
		row := fmt.Sprintf(`{"data":{"id":%d,"owner":"new","balance":0},"idempotency_key":"key %[1]d"}`, n)
		s.ok("create_account", row)
		if got := s.ok("list_account", `{"filters":{"owner":"new"}}`)["count"]; got != float64(n-3) {
			t.Fatalf("after %d changes %v are listed", n-3, got)
		}
		s.ok("get_account", fmt.Sprintf(`{"id":%d}`, n))
		if again := s.ok("create_account", row); again["replayed"] != true {
			t.Fatalf("got %v, want the first answer again", again)
		}
	}
	onStandby.holds("select count(*) from account where owner = 'new'", "0")
	s.ok("history_account", `{"id":4}`)
	s.held("Pgpool-II that balances reads, and a standby that is behind: an endpoint reads what it wrote")
}
