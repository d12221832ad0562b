package faults

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// rotations is how often the credentials change under load, and rotationCallers how many call all the while: fewer than the connections
// that one token may have, so that none is refused for want of one on a slow machine.
const (
	rotations       = 24
	rotationCallers = 6
)

// TestCredentialsThatRotateUnderLoad changes the password, the user, and both, wrongly at times, while many callers list,
// get and create: none of them is refused.
func TestCredentialsThatRotateUnderLoad(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		database, plain := engine.Open(t, script)
		s := &served{T: t, engine: engine.Name, plain: plain}
		c := newCredentials(s, string(database.Connection["uri"]))
		database.Connection = c.secret()
		s.start(database, func(config *contract.Config) {
			config.Endpoint.Catalogue.StructuredContent = false
			config.Endpoint.Audit = nil
			config.Endpoint.Database.StatementTimeout = contract.Duration(time.Minute)
		})
		load := s.load()
		for i := range rotations {
			before := c.user
			switch i % 4 {
			case 0: // the password first, and the Secret some time after
				c.alter()
				time.Sleep(50 * time.Millisecond)
			case 1: // another user
				c.other()
			case 2: // a wrong password in between
				c.alter()
				s.rejects(c)
			case 3: // another user, whose password is wrong at first
				c.other()
				s.rejects(c)
			}
			s.program(c.secret())
			s.connects()
			if before != c.user {
				s.settles(c.connections(before), "0")
			}
			time.Sleep(20 * time.Millisecond)
		}
		sent, refused := load()
		t.Logf("%s: %d rotations, %d calls, %d refused", engine.Title, rotations, sent, refused)
		if refused > 0 || sent < 10*rotations {
			t.Errorf("of %d calls %d were refused", sent, refused)
		}
		s.held(fmt.Sprintf("credentials that change (%d times, wrong ones in between) under load: no call is refused", rotations))
	})
}

// program writes the connection Secret.
func (s *served) program(secret source.Secret) {
	s.endpoint.Update(func(u *source.Update) { u.Connection = secret })
}

// rejects writes a wrong password, and waits until the status says so.
func (s *served) rejects(c *credentials) {
	s.Helper()
	wrong := *c
	wrong.password = "wrong-" + wrong.password
	s.program(wrong.secret())
	s.reports(contract.ReasonAuthenticationFailed, "connections from before")
}

func (s *served) connects() {
	s.Helper()
	s.reports(contract.ReasonConnected, "")
}

// reports waits until the status has a reason, and a text in its message.
func (s *served) reports(reason, text string) {
	s.Helper()
	var status contract.DatabaseStatus
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		status = s.endpoint.Status().Database
		if status.Reason == reason && strings.Contains(status.Message, text) {
			return
		}
	}
	s.Fatalf("the status is %+v", status)
}

// load calls until the function that it returns is called, which tells how many calls there were, and how many of them
// failed.
func (s *served) load() func() (sent, refused int64) {
	var calls, failures, ids atomic.Int64
	ids.Store(1000)
	ctx, stop := context.WithCancel(s.Context())
	var workers sync.WaitGroup
	for i := range rotationCallers {
		workers.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				tool, arguments := "list_account", `{}`
				switch n % 3 {
				case 1:
					tool, arguments = "get_account", `{"id":2}`
				case 2:
					tool, arguments = "create_entry", fmt.Sprintf(`{"data":{"id":%d,"account_id":1,"note":"x"}}`, ids.Add(1))
				}
				text, isError := s.endpoint.Call(root, tool, arguments)
				if calls.Add(1); isError && failures.Add(1) < 5 {
					s.Errorf("%s: %s", tool, text)
				}
			}
		})
	}
	return func() (int64, int64) {
		stop()
		workers.Wait()
		return calls.Load(), failures.Load()
	}
}

// credentials are two users of a database, of whom one is in its Secret.
type credentials struct {
	*served
	uri            url.URL
	user, password string
}

// newCredentials makes the users, and removes them in the end.
func newCredentials(s *served, uri string) *credentials {
	s.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		s.Fatal(err)
	}
	c := &credentials{served: s, uri: *u, user: "rotate_" + strings.ToLower(rand.Text()[:8]) + "_a"}
	for _, user := range []string{c.twin(), c.user} {
		c.password = rand.Text()
		if s.engine == contract.EnginePostgreSQL {
			s.exec("create role " + user + " login password '" + c.password + "'")
			s.exec("grant usage on schema public to " + user)
			s.exec("grant all on all tables in schema public to " + user)
			s.Cleanup(func() { s.exec("drop owned by " + user + "; drop role " + user) })
			continue
		}
		s.exec("create user " + user + " identified by '" + c.password + "'")
		s.exec("grant all on `" + strings.TrimPrefix(u.Path, "/") + "`.* to " + user)
		s.Cleanup(func() { s.exec("drop user " + user) })
	}
	return c
}

// twin is the other user.
func (c *credentials) twin() string {
	if name, ok := strings.CutSuffix(c.user, "_a"); ok {
		return name + "_b"
	}
	return strings.TrimSuffix(c.user, "_b") + "_a"
}

// alter gives the user another password.
func (c *credentials) alter() {
	c.Helper()
	c.password = rand.Text()
	if c.engine == contract.EnginePostgreSQL {
		c.exec("alter role " + c.user + " password '" + c.password + "'")
		return
	}
	c.exec("alter user " + c.user + " identified by '" + c.password + "'")
}

// other takes the other user, with another password.
func (c *credentials) other() {
	c.Helper()
	c.user = c.twin()
	c.alter()
}

func (c *credentials) secret() source.Secret {
	u := c.uri
	u.User = url.UserPassword(c.user, c.password)
	return source.Secret{"uri": []byte(u.String())}
}

// connections is a query of how many connections a user has.
func (c *credentials) connections(user string) string {
	if c.engine == contract.EnginePostgreSQL {
		return "select count(*) from pg_stat_activity where usename = '" + user + "'"
	}
	return "select count(*) from information_schema.processlist where user = '" + user + "'"
}
