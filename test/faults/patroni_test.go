package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// cluster is three PostgreSQL servers that Patroni looks after.
type cluster struct {
	*testing.T
	data string
	// direct leads to all servers, balanced through HAProxy to the one that takes changes.
	direct, balanced string
	// apis are the addresses by which Patroni tells of the servers.
	apis []string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	data := folder(t)
	said := strings.Fields(install(t, "Patroni", "start", "-engine", "patroni", "-data", data))
	t.Cleanup(func() { control(t, "stop", "-engine", "patroni", "-data", data) })
	c := &cluster{t, data, said[0], said[1], said[2:]}
	c.ready()
	return c
}

// member is a server as Patroni tells of it.
type member struct {
	Name, Role, State, Host string
	Port                    int
}

// members are the servers as the members that answer tell of them.
func (c *cluster) members() []member {
	client := http.Client{Timeout: 2 * time.Second}
	for _, api := range c.apis {
		answer, err := client.Get(api + "/cluster")
		if err != nil {
			continue
		}
		var told struct{ Members []member }
		err = json.NewDecoder(answer.Body).Decode(&told)
		_ = answer.Body.Close()
		if err == nil {
			return told.Members
		}
	}
	return nil
}

// await waits until the servers are as a test wants them, and returns what it wants of them.
func (c *cluster) await(what string, wanted func(map[string]member) string) string {
	c.Helper()
	var all []member
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		byRole := map[string]member{}
		all = c.members()
		for _, m := range all {
			if m.State == "running" || m.State == "streaming" {
				byRole[m.Role] = m
			}
		}
		if found := wanted(byRole); found != "" {
			return found
		}
	}
	said, _ := os.ReadFile(filepath.Join(c.data, "error.log"))
	c.Fatalf("%s: never, but %v\n%s", what, all, said[max(0, len(said)-4000):])
	return ""
}

// ready waits until a standby has what the leader commits, so that it can take over, and returns the leader's name.
func (c *cluster) ready() string {
	c.Helper()
	return c.await("a leader with a synchronous standby and another one", func(byRole map[string]member) string {
		if byRole["sync_standby"].Name == "" || byRole["replica"].Name == "" {
			return ""
		}
		return byRole["leader"].Name
	})
}

// follows waits until another server is the leader.
func (c *cluster) follows(before string) {
	c.Helper()
	c.await("another leader than "+before, func(byRole map[string]member) string {
		if byRole["leader"].Name == before {
			return ""
		}
		return byRole["leader"].Name
	})
}

// signal sends a signal to a member's Patroni.
func (c *cluster) signal(name string, signal syscall.Signal) {
	c.Helper()
	c.send("pid-"+name, signal)
}

// send sends a signal to the process whose number is in the first line of a file, and returns the number.
func (c *cluster) send(file string, signal syscall.Signal) int {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.data, file))
	if err != nil {
		c.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		c.Fatalf("%s: %v", file, err)
	}
	return pid
}

// kill ends a member's Patroni and its PostgreSQL as if its machine had lost power.
func (c *cluster) kill(name string) {
	c.Helper()
	for _, file := range []string{"pid-" + name, "cluster" + strings.TrimPrefix(name, "member") + "/postmaster.pid"} {
		ended := c.send(file, syscall.SIGKILL)
		for deadline := time.Now().Add(time.Minute); syscall.Kill(ended, 0) == nil; time.Sleep(10 * time.Millisecond) { // restart looks whether it runs
			if time.Now().After(deadline) {
				c.Fatalf("%s: process %d does not end", file, ended)
			}
		}
	}
}

// restart starts the members that do not run.
func (c *cluster) restart() {
	c.Helper()
	control(c.T, "start", "-engine", "patroni", "-data", c.data)
	c.ready()
}

func (c *cluster) switchover() {
	c.Helper()
	command := exec.Command(filepath.Join(c.data, "patronictl"), "switchover", "--force", "tests")
	if said, err := command.CombinedOutput(); err != nil {
		c.Fatalf("patronictl: %v: %s", err, said)
	}
}

// Agents write while servers of a Patroni cluster fail, over all hosts and through HAProxy. Each sends its call again until it is
// answered. What was answered is there afterwards, and once.
func TestAFailoverByPatroni(t *testing.T) {
	if os.Getenv("MCP_TEST_FAILOVERS") == "" {
		t.Skip("MCP_TEST_FAILOVERS is not set: make test-failovers sets it")
	}
	c := startCluster(t)
	database, plain := harness.On(t, c.direct, script)
	s := &served{T: t, engine: "PostgreSQL, Patroni", plain: plain}
	s.start(database, withTransfers)
	m := newMovers(s)
	m.url.Store(&s.endpoint.URL)
	m.pace = 400 * time.Millisecond
	c.killedWhileItCommits(m)
	short := func(config *contract.Config) {
		config.Endpoint.Database.StatementTimeout = contract.Duration(time.Second)
	}
	s.start(database, withTransfers, short)
	m.url.Store(&s.endpoint.URL)
	m.begin()
	// refused does something to the leader, and tells how long no call succeeded.
	refused := func(what string, do func(leader string)) {
		t.Helper()
		before := c.ready()
		m.awaitSome()
		m.pause()
		do(before)
		m.awaitSome()
		s.held(fmt.Sprintf("%s: 0 changes lost, 0 made twice; writes were refused for %.1f s", what, m.pause().Seconds()))
	}
	refused("patronictl switchover", func(leader string) {
		c.switchover()
		c.follows(leader)
	})
	refused("the leader killed (kill -9 of PostgreSQL and Patroni)", func(leader string) {
		c.kill(leader)
		c.follows(leader)
	})
	c.restart()
	refused("the leader's Patroni cut off, while its PostgreSQL goes on", func(leader string) {
		c.signal(leader, syscall.SIGSTOP)
		c.follows(leader)
		// The old leader takes changes, which no standby gets any more: none of them may be acknowledged.
		for cut, done := m.cut.Load(), m.next.Load(); m.cut.Load() < cut+2*moversAtOnce && m.next.Load() < done+2*moversAtOnce; {
			time.Sleep(10 * time.Millisecond)
		}
		c.kill(leader) // resumed, it may keep Patroni 3.0 from ever choosing a synchronous standby again
	})
	c.restart()
	s.start(harness.Database{Connection: map[string][]byte{"uri": []byte(c.balanced)}}, withTransfers, short)
	m.url.Store(&s.endpoint.URL)
	refused("behind HAProxy, the leader killed", func(leader string) {
		c.kill(leader)
		c.follows(leader)
	})
	_, s.plain = harness.On(t, c.direct, "")
	m.end()
	s.held(fmt.Sprintf("fail-overs by Patroni: %d changes acknowledged, 0 lost, 0 doubled", len(m.answers)))
}

// killedWhileItCommits kills the leader while a call's commit waits for the standby.
func (c *cluster) killedWhileItCommits(m *movers) {
	c.Helper()
	n := int(m.next.Add(1)) - 1
	_, leader := harness.On(c.T, c.direct, "")
	onLeader := &served{T: c.T, plain: leader}
	var receivers []int
	name := c.ready()
	anyOf := strings.Replace(c.direct, "read-write", "any", 1)
	for _, one := range c.members() {
		if one.Name == name {
			continue
		}
		_, standby := harness.On(c.T, strings.Replace(anyOf, hostsIn(anyOf), fmt.Sprintf("%s:%d", one.Host, one.Port), 1), "")
		following := &served{T: c.T, plain: standby}
		following.settles("select count(*) from pg_stat_wal_receiver", "1")
		var receiver int
		if err := standby.QueryRowContext(context.Background(), "select pid from pg_stat_wal_receiver").Scan(&receiver); err != nil {
			c.Fatal(err)
		}
		receivers = append(receivers, receiver)
	}
	signal := func(signal syscall.Signal) {
		for _, receiver := range receivers {
			_ = syscall.Kill(receiver, signal) // it may have ended
		}
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)
	var calling sync.WaitGroup
	calling.Go(func() {
		told, err := callTransact(*m.url.Load(), m.arguments(n))
		if err != nil || told["code"] != "unavailable" || !strings.Contains(fmt.Sprint(told["error"]), "not known whether it took hold; if this call has an idempotency_key, send it again as it is") {
			c.Errorf("got %v, %v", told, err)
		}
	})
	onLeader.settles("select count(*) > 0 from pg_stat_activity where wait_event = 'SyncRep'", "true")
	c.kill(name)
	calling.Wait()
	signal(syscall.SIGCONT)
	c.follows(name)
	m.finished(n, m.move(n))
	c.restart()
	(&served{T: c.T, engine: m.engine}).held("the leader killed while a commit waits for its standby: said not to be known, and made once by a repetition with its key")
}

// hostsIn is what a URI has between its user and its path.
func hostsIn(uri string) string {
	_, rest, _ := strings.Cut(uri, "@")
	hosts, _, _ := strings.Cut(rest, "/")
	return hosts
}
