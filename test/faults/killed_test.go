package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// killedVariable tells the test's own program to be the server of a database, which a test kills.
const killedVariable = "MCP_TEST_KILLED"

// betweenKills is the longest time between that a server serves and its end.
const betweenKills = 600 * time.Millisecond

// TestServeUntilKilled is the server that is killed: it serves until its input ends.
func TestServeUntilKilled(t *testing.T) {
	text := os.Getenv(killedVariable)
	if text == "" {
		t.Skip("this is what a test kills")
	}
	var database harness.Database
	if err := json.Unmarshal([]byte(text), &database); err != nil {
		t.Fatal(err)
	}
	s := &served{T: t}
	s.start(database, withTransfers)
	_, _ = fmt.Fprintln(os.Stdout, "\nserving", s.endpoint.URL) // the parent process reads it
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A server that is killed within transactions of several steps leaves all of each or nothing. Another server answers what is
// sent again with its key: once, and as the first would have. MCP_TEST_KILLED_SERVERS is how often.
func TestAServerThatIsKilled(t *testing.T) {
	rounds := number(t, "MCP_TEST_KILLED_SERVERS", 3)
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		database, plain := engine.Open(t, script)
		s := &served{T: t, engine: engine.Name, plain: plain}
		m := newMovers(s)
		process := serveApart(t, database)
		m.url.Store(&process.url)
		m.begin()
		for range rounds {
			m.awaitSome()
			time.Sleep(rand.N(betweenKills))
			if err := process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = process.Wait()
			process = serveApart(t, database)
			m.url.Store(&process.url)
		}
		m.end()
		s.held(fmt.Sprintf("server killed within transactions of several steps, %d times: all of each or nothing, and once, journal and kept answers agree", rounds))
	})
}

// A database that is killed within transactions of several steps has all of each or nothing once it is back.
// MCP_TEST_KILLED_DATABASES is how often.
func TestADatabaseThatIsKilled(t *testing.T) {
	rounds := number(t, "MCP_TEST_KILLED_DATABASES", 2)
	for name, engine := range map[string]struct{ name, durably string }{
		// What is committed is with the operating system by then: these servers do not wait for the disk, which is not what fails.
		"postgres": {contract.EnginePostgreSQL, "alter role all set synchronous_commit = on"},
		"mariadb":  {contract.EngineMySQL, "set global innodb_flush_log_at_trx_commit = 2"},
	} {
		t.Run(name, func(t *testing.T) {
			data := folder(t)
			uri := control(t, "start", "-engine", name, "-data", data)
			t.Cleanup(func() { control(t, "stop", "-engine", name, "-data", data) })
			address, err := url.Parse(uri)
			if err != nil {
				t.Fatal(err)
			}
			if name == "mariadb" { // whose URI leads to no database yet
				harness.On(t, uri+"mysql", "create database accounts")
				uri += "accounts"
			}
			database, plain := harness.On(t, uri, script)
			s := &served{T: t, engine: engine.name, plain: plain}
			s.exec(engine.durably)
			s.start(database, withTransfers)
			m := newMovers(s)
			m.url.Store(&s.endpoint.URL)
			m.begin()
			for range rounds {
				m.awaitSome()
				time.Sleep(rand.N(betweenKills))
				control(t, "kill", "-engine", name, "-data", data)
				control(t, "start", "-engine", name, "-data", data, "-port", address.Port())
				s.comesBack(engine.durably)
			}
			m.end()
			s.held(fmt.Sprintf("database server killed within transactions of several steps, %d times: all of each or nothing, and once, journal and kept answers agree", rounds))
		})
	}
}

// comesBack runs a statement as soon as the database takes one.
func (s *served) comesBack(statement string) {
	s.Helper()
	var err error
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err = s.plain.Exec(statement); err == nil {
			return
		}
	}
	s.Fatalf("%s: %v", statement, err)
}

// apart is a server in a process of its own.
type apart struct {
	*exec.Cmd
	url string
}

// serveApart serves a database in another process, and returns once that answers.
func serveApart(t *testing.T, database harness.Database) *apart {
	t.Helper()
	text, err := json.Marshal(database)
	if err != nil {
		t.Fatal(err)
	}
	process, url := harness.Apart(t, []string{killedVariable + "=" + string(text)}, "-test.run", "^TestServeUntilKilled$")
	return &apart{process, url}
}

// movers are agents that make one transfer after the other, each until it is answered, whatever happens meanwhile.
type movers struct {
	*served
	// url is the server's; it may be another one from call to call.
	url  atomic.Pointer[string]
	done atomic.Bool
	// pace is the time between two transfers of an agent: each is asked for again in the end.
	pace time.Duration
	// next is the number of the next transfer, cut how many calls failed for a while, repeated how many had happened all the
	// same.
	next, cut, repeated atomic.Int64
	calling             sync.WaitGroup
	mu                  sync.Mutex
	// answers are the answers of finished transfers, last is when one was finished, and longest the longest time between two.
	answers map[int]object
	last    time.Time
	longest time.Duration
}

func newMovers(s *served) *movers { return &movers{served: s, answers: map[int]object{}} }

// moversAtOnce is how many agents make transfers at once.
const moversAtOnce = 4

func (m *movers) begin() {
	for range moversAtOnce {
		m.calling.Go(func() {
			for !m.done.Load() && !m.Failed() {
				n := int(m.next.Add(1)) - 1
				answer := m.move(n)
				m.finished(n, answer)
				time.Sleep(m.pace)
			}
		})
	}
}

// finished keeps the answer of a transfer.
func (m *movers) finished(n int, answer object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[n] = answer
	now := time.Now()
	if !m.last.IsZero() {
		m.longest = max(m.longest, now.Sub(m.last))
	}
	m.last = now
}

// pause returns the longest time between two finished transfers since it was last asked for.
func (m *movers) pause() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	longest := m.longest
	m.longest = 0
	return longest
}

// arguments returns the arguments of a transfer.
func (m *movers) arguments(n int) string {
	return transfer(fmt.Sprint("transfer ", n), 1+n%3, 1+(n+1)%3, 100+n)
}

// move makes a transfer. Whatever is answered before it is done must say that it may be tried again.
func (m *movers) move(n int) object {
	m.Helper()
	var answer object
	var err error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(rand.N(20 * time.Millisecond)) {
		if answer, err = callTransact(*m.url.Load(), m.arguments(n)); err != nil {
			if !errors.Is(err, syscall.ECONNREFUSED) { // no server is there yet
				m.cut.Add(1)
			}
			continue
		}
		switch answer["code"] {
		case nil:
			if answer["replayed"] == true {
				m.repeated.Add(1)
			}
			return answer
		case "unavailable", "conflict", "timeout":
			m.cut.Add(1)
		default:
			m.Errorf("%v", answer)
			return answer
		}
	}
	m.Errorf("it was never done: %v, %v", answer, err)
	return answer
}

// client keeps a connection for each of many agents.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// errTooMany is the server's answer to more calls than it takes at once.
var errTooMany = errors.New("the server has no place for the call now")

// callTransact calls transact, and fails if the server does not answer.
func callTransact(address, arguments string) (object, error) {
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{"method":"tools/call","name":"transact","arguments":`+arguments+`}`))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+root)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable {
		return nil, errTooMany
	}
	var answer struct{ Content []struct{ Text string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if len(answer.Content) != 1 {
		return nil, errors.New("no content: " + response.Status)
	}
	var told object
	return told, json.Unmarshal([]byte(answer.Content[0].Text), &told)
}

// awaitSome waits until each agent has made a transfer more or less.
func (m *movers) awaitSome() {
	m.Helper()
	for from, deadline := m.next.Load(), time.Now().Add(2*time.Minute); m.next.Load() < from+moversAtOnce; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.Fatal("nothing is done any more")
		}
	}
}

// end waits for the agents, asks for each transfer again, and compares rows, journal and answers.
func (m *movers) end() {
	m.Helper()
	m.awaitSome()
	m.done.Store(true)
	m.calling.Wait()
	for n, first := range m.answers {
		again, err := callTransact(*m.url.Load(), m.arguments(n))
		if err != nil {
			m.Fatal(err)
		}
		if again["replayed"] != true || fmt.Sprint(again["results"], again["call"]) != fmt.Sprint(first["results"], first["call"]) {
			m.Errorf("transfer %d: %v, then %v", n, first, again)
		}
	}
	m.agree(len(m.answers))
	m.Logf("%d transfers, %d calls cut short or told to try again, of which %d had happened all the same", len(m.answers), m.cut.Load(), m.repeated.Load())
	if m.cut.Load() == 0 {
		m.Error("no call was cut short")
	}
}
