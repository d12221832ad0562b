package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
)

// podMemory is a pod's memory limit.
const podMemory = 256 << 20

// victimVariable tells the test's own program to be the server that is attacked.
const victimVariable = "MCP_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		beVictim()
		return
	}
	os.Exit(m.Run())
}

// wideRows fill a table with 1,000 rows of 16 KiB, and another table with 4,000 rows of five times 4 KiB that are
// deleted together with one row of the first.
const wideRows = bookshop + `
create table wide (id integer primary key, body text not null, body2 text not null);
insert into wide with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
select i, hex(zeroblob(4096)), hex(zeroblob(4096)) from n;
create table part (id integer primary key, wide_id integer references wide (id) on delete cascade, a text, b text, c text, d text, e text);
insert into part with recursive n (i) as (select 1 union all select i + 1 from n where i < 4000)
select i, 1, hex(zeroblob(2048)), hex(zeroblob(2048)), hex(zeroblob(2048)), hex(zeroblob(2048)), hex(zeroblob(2048)) from n;
`

// beVictim serves an endpoint with a pod's default limits until its input ends. It prints its address.
func beVictim() {
	memlimit.Set(os.Getenv) // as the program does
	memlimit.PreferSpeed(os.Getenv)
	dir, err := os.MkdirTemp("", "victim")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "init.sql"), []byte(wideRows), 0o600); err != nil {
		panic(err)
	}
	c := config()
	c.Endpoint.Database.MaxConnections = 8
	c.Endpoint.Limits.MaxBodyBytes, c.Endpoint.Limits.MaxConcurrentRequests = 4<<20, 200
	for name, column := range map[string]string{"wide": "body", "part": "a"} {
		m := c.Models[0]
		m.Exposure, m.Name, m.Table, m.VerboseName, m.VerboseNamePlural = name, name, name, name, name+"s"
		m.Actions = []contract.Action{{
			Name: "touch", Requires: []string{"change"}, Confirm: &contract.Confirmation{},
			Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: column, Source: contract.SourceValue, Value: "x"}}},
		}}
		c.Models = append(c.Models, m)
	}
	c.Endpoint.Audit = &contract.AuditTable{Name: "audit"}
	c.Tokens[2].Rules[0].Verbs = []string{"*"} // the reader's grant, which all other tokens have, too
	db := sqlite.Open(database.Settings{Database: c.Endpoint.Database, Audit: c.Endpoint.Audit, SQLitePath: filepath.Join(dir, "db.sqlite"), SQLiteInitDir: dir})
	defer db.Close()
	server := httptest.NewServer(newEndpointOver(&testing.T{}, c, db))
	_, _ = fmt.Fprintln(os.Stdout, server.Listener.Addr()) // the parent process reads it
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// victim is a server in a process of its own.
type victim struct {
	t       *testing.T
	address string
	pid     int
}

func startVictim(t *testing.T) *victim {
	t.Helper()
	if os.Getenv("MCP_TEST_ATTACKS") == "" {
		t.Skip("MCP_TEST_ATTACKS is not set: make test-attacks sets it")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is read from /proc")
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), victimVariable+"=yes", memlimit.Variable+"="+strconv.Itoa(podMemory))
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &victim{t, strings.TrimSpace(address), command.Process.Pid}
}

// peak is the most memory, in bytes, that the process has had.
func (v *victim) peak() int64 {
	v.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.pid))
	if err != nil {
		v.t.Fatalf("the server has died: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		v.t.Fatalf("the server has died: %v", err)
	}
	return kilobytes << 10
}

// open sends a request with the reader's token, or the beginning of one, and leaves the connection open.
func (v *victim) open(length int, body string) net.Conn {
	conn, err := net.Dial("tcp", v.address)
	if err != nil {
		v.t.Error(err)
		return nil
	}
	v.t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, _ = fmt.Fprintf(conn, "POST /mcp/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", readerToken, length, body)
	return conn
}

// survives checks that another token gets its answer, and that the memory stayed below the pod's limit.
func (v *victim) survives() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for range 5 {
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+"/mcp/", strings.NewReader(`{"method":"tools/call","name":"list_author","arguments":{}}`))
		r.Header.Set("Authorization", "Bearer "+limitedToken)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			v.t.Fatalf("another token is not answered: %v", err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != 200 || strings.Contains(string(body), "isError") {
			v.t.Errorf("another token: %d %.200s", response.StatusCode, body)
		}
	}
	peak := v.peak()
	v.t.Logf("peak memory: %d MiB", peak>>20)
	if peak >= podMemory {
		v.t.Errorf("the process had %d MiB", peak>>20)
	}
}

// atOnce runs n at once and waits for all.
func atOnce(n int, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(do)
	}
	all.Wait()
}

const listWide = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_wide","arguments":{"limit":1000}}}`

func TestAttackByBatchesThatAreNotRead(t *testing.T) {
	v := startVictim(t)
	batch := "[" + strings.Repeat(listWide+",", 49) + listWide + "]"
	atOnce(16, func() { v.open(len(batch), batch) })
	time.Sleep(2 * time.Second)
	v.survives()
}

func TestAttackByAnswersThatAreNotRead(t *testing.T) {
	v := startVictim(t)
	atOnce(200, func() { v.open(len(listWide), listWide) })
	time.Sleep(3 * time.Second)
	v.survives()
}

func TestAttackByBodiesThatDoNotEnd(t *testing.T) {
	v := startVictim(t)
	part := strings.Repeat(" ", 4<<20-100)
	atOnce(100, func() { v.open(4<<20, part) })
	time.Sleep(time.Second)
	v.survives()
}

func TestAttackByBodiesOfManyValues(t *testing.T) {
	v := startVictim(t)
	many := strings.Repeat("1,", 2<<20-1000)
	var members strings.Builder
	for i := 0; members.Len() < 4<<20-1000; i++ {
		fmt.Fprintf(&members, `"%x":1,`, i)
	}
	for _, body := range []string{
		`{"method":"tools/call","name":"bulk_author","arguments":{"operation":"create","items":[` + many + `1]}}`,
		`{"method":"tools/call","name":"list_author","arguments":{` + members.String() + `"z":1}}`,
		`{"method":"tools/call","name":"list_author","arguments":{"filters":{"name__in":[` + many + `1]}}}`,
	} {
		atOnce(20, func() { v.open(len(body), body) })
		time.Sleep(2 * time.Second)
		v.survives()
	}
}

func TestAttackByCallsOverManyWideRows(t *testing.T) {
	v := startVictim(t)
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	all := "[" + strings.Join(ids, ",") + "]"
	for _, c := range []struct{ tool, arguments, says string }{
		{"action_wide", `{"action":"touch","ids":` + all + `}`, "call it with fewer ids"},
		{"action_part", `{"action":"touch","ids":[` + strings.Join(ids[:100], ",") + `]}`, "requires_confirmation"},
		{"action_wide", `{"action":"delete_selected","ids":` + all + `}`, "too large for one call"},
		{"delete_wide", `{"id":1,"dry_run":true}`, "too large for one call"},
	} {
		body := `{"method":"tools/call","name":"` + c.tool + `","arguments":` + c.arguments + `}`
		var said atomic.Bool
		var other atomic.Value
		atOnce(12, func() {
			answer, err := io.ReadAll(v.open(len(body), body))
			if err == nil && strings.Contains(string(answer), c.says) {
				said.Store(true)
			} else {
				other.Store(string(answer))
			}
		})
		if !said.Load() {
			t.Errorf("%s: %.600s", c.tool, other.Load())
		}
		v.survives()
	}
}
