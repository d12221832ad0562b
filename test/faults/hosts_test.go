package faults

import (
	"net/url"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// dead is an address at which nothing listens.
const dead = "127.0.0.1:1"

// hostOf is the host and port of a URI.
func hostOf(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// over serves the accounts over several hosts, tried in their order.
func (s *served) over(uri, hosts, parameters string) {
	s.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		s.Fatal(err)
	}
	text := u.Scheme + "://" + u.User.String() + "@" + hosts + u.Path + parameters
	s.start(harness.Database{Connection: map[string][]byte{"uri": []byte(text)}}, func(c *contract.Config) { c.Endpoint.Audit = nil })
}

func TestAFirstHostThatIsDead(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		database, plain := engine.Open(t, script)
		uri := string(database.Connection["uri"])
		parameters := ""
		if engine.Name == contract.EnginePostgreSQL {
			parameters = "?sslmode=disable"
		}
		s := &served{T: t, engine: engine.Name, plain: plain}
		s.over(uri, dead+","+hostOf(t, uri), parameters)
		s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
		s.holds("select balance from account where id = 1", "1000")
		s.held("the first of several hosts is dead: the next one answers")
	})
}

// TestAFirstHostThatTakesNoWrites lists a standby before the primary: writes go to the primary, unless a standby is asked for.
func TestAFirstHostThatTakesNoWrites(t *testing.T) {
	t.Run("PostgreSQL", func(t *testing.T) {
		primary, standby := folder(t), folder(t)
		uri := control(t, "start", "-engine", "postgres", "-data", primary)
		t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
		_, plain := harness.On(t, uri, script)
		following := control(t, "start", "-engine", "standby", "-data", standby, "-primary", uri)
		t.Cleanup(func() { control(t, "stop", "-engine", "standby", "-data", standby) })
		s := &served{T: t, engine: contract.EnginePostgreSQL, plain: plain}
		s.over(uri, hostOf(t, following)+","+hostOf(t, uri), "?sslmode=disable")
		s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
		s.holds("select balance from account where id = 1", "1000")
		s.over(uri, hostOf(t, uri)+","+hostOf(t, following), "?sslmode=disable&target_session_attrs=prefer-standby")
		s.ok("get_account", `{"id":1}`)
		s.fails("update_account", `{"id":2,"data":{"balance":2000}}`, "unavailable")
		control(t, "stop", "-engine", "standby", "-data", standby)
		s.recovers("update_account", `{"id":2,"data":{"balance":2000}}`)
		s.holds("select balance from account where id = 2", "2000")
		s.held("of several hosts the one that takes writes is found, or, if asked for, the standby")
	})
	t.Run("MariaDB", func(t *testing.T) {
		var uris [2]string
		var plain [2]*served
		for i := range uris {
			data := folder(t)
			uris[i] = control(t, "start", "-engine", "mariadb", "-data", data)
			t.Cleanup(func() { control(t, "stop", "-engine", "mariadb", "-data", data) })
			harness.On(t, uris[i]+"mysql", `create database accounts; create user 'app'@'127.0.0.1' identified by 'app'; grant all on accounts.* to 'app'@'127.0.0.1'`)
			_, client := harness.On(t, uris[i]+"accounts", script)
			plain[i] = &served{T: t, engine: contract.EngineMySQL, plain: client}
		}
		plain[0].exec("set global read_only = on")
		s := plain[1]
		s.over("mysql://app:app@x/accounts", dead+","+hostOf(t, uris[0])+","+hostOf(t, uris[1]), "")
		s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
		s.holds("select balance from account where id = 1", "1000")
		// A switchover: the other one takes the writes now.
		plain[0].exec("set global read_only = off")
		s.exec("set global read_only = on")
		s.recovers("update_account", `{"id":2,"data":{"balance":2000}}`)
		plain[0].holds("select balance from account where id = 2", "2000")
		s.held("of several hosts the one that takes writes is found, or, if asked for, the standby")
	})
}
