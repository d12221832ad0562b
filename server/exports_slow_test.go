package server_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The rows of a file that is larger than all that connections buffer on the way to a reader who reads nothing.
const (
	wideRows  = 800
	wideBytes = 16_000
)

// wide is an endpoint with a table of many bytes, whose tokens may export it.
type wide struct {
	*harness.Endpoint
	t     *testing.T
	plain *sql.DB
	// ahead is how far the server's clock is ahead.
	ahead *atomic.Int64
}

// token is the text of one of the endpoint's tokens.
func (w *wide) token(name string) string {
	return "mcp_" + strings.Repeat(name, 16)[:16] + "." + strings.Repeat("0", 43)
}

// serveWide serves the table on an engine, to readers who must take each piece within so long.
func serveWide(t *testing.T, engine harness.Engine, patience time.Duration, connections int) *wide {
	t.Helper()
	database, plain := engine.Open(t, "CREATE TABLE wide (id integer PRIMARY KEY, body text NOT NULL);")
	for from := 1; from <= wideRows; from += 100 {
		var values []string
		for i := from; i < from+100; i++ {
			values = append(values, fmt.Sprintf("(%d, '%0*d')", i, wideBytes, i))
		}
		if _, err := plain.Exec("INSERT INTO wide VALUES " + strings.Join(values, ",")); err != nil {
			t.Fatal(err)
		}
	}
	w := &wide{t: t, plain: plain, ahead: &atomic.Int64{}}
	began := time.Now()
	expires := began.Add(time.Hour)
	var tokens []contract.Token
	for _, name := range []string{"ann", "ben"} {
		tokens = append(tokens, contract.Token{Namespace: "test", Name: name, Expiry: &expires, Hashes: []string{contract.HashToken(w.token(name))},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view", contract.VerbExport}}}})
	}
	w.Endpoint = harness.ServeAs(t, func(s *server.Server) {
		s.LosePatience(time.Minute, patience)
		s.Now = func() time.Time { return began.Add(time.Duration(w.ahead.Load())) }
	}, database, []contract.Model{{Name: "wide", Table: "wide", Expose: true}}, tokens,
		func(c *contract.Config) { c.Endpoint.Database.MaxConnections = connections })
	return w
}

// link asks for an export of all rows.
func (w *wide) link(token string) string {
	w.t.Helper()
	text, isError := w.Call(w.token(token), "list_wide", `{"export":"csv"}`)
	var answer struct{ Export struct{ URI string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || isError {
		w.t.Fatalf("%v: %s", err, text)
	}
	return answer.Export.URI
}

// reader is a client that has the head of a file, and reads on when it wants to.
type reader struct {
	conn     net.Conn
	response *http.Response
}

// open opens a link, and returns once the file has begun.
func (w *wide) open(uri string) *reader {
	w.t.Helper()
	conn := w.send(uri)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &reader{conn, response}
}

// send asks for a link's file as a client that buffers little.
func (w *wide) send(uri string) net.Conn {
	w.t.Helper()
	at, err := url.Parse(uri)
	if err != nil {
		w.t.Fatal(err)
	}
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		if err := c.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }); err != nil {
			return err
		}
		return failed
	}}
	conn, err := dialer.DialContext(w.t.Context(), "tcp", at.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", at.Path, at.Host); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// isWhole reads the rest, and reports whether the file is whole.
func (r *reader) isWhole() bool {
	n, err := io.Copy(io.Discard, r.response.Body)
	return err == nil && n > wideRows*wideBytes && r.response.Trailer.Get("Export-Rows") == fmt.Sprint(wideRows)
}

// ended waits for the audit's line about the first file that ends from now on, and returns its outcome and how many rows it had.
func (w *wide) ended() (outcome string, rows int) {
	w.t.Helper()
	var end struct {
		Outcome string
		Rows    int
	}
	w.eventually("the end of a file", func() bool {
		for _, line := range w.Log.Lines(`"operation":"export:list"`) {
			if json.Unmarshal([]byte(line), &end) == nil && end.Outcome != "intent" {
				return true
			}
		}
		return false
	})
	return end.Outcome, end.Rows
}

// eventually waits until something is so.
func (w *wide) eventually(what string, so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not come; the log is %s", what, w.Log)
		}
	}
}

// reading waits until so many statements that read rows are under way.
func (w *wide) reading(engine harness.Engine, statements int) {
	w.t.Helper()
	query := map[string]string{
		harness.PostgreSQL: "select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle' and query like '%body%' and pid <> pg_backend_pid()",
		harness.MariaDB:    "select count(*) from information_schema.processlist where db = database() and command in ('Query', 'Execute') and id <> connection_id()",
	}[engine.Product]
	if query == "" {
		return // SQLite has no sessions
	}
	w.eventually(fmt.Sprint(statements, " statements under way"), func() bool {
		running := -1
		if err := w.plain.QueryRow(query).Scan(&running); err != nil {
			w.t.Fatal(err)
		}
		return running == statements
	})
}

func eachEngine(t *testing.T, test func(t *testing.T, engine harness.Engine)) {
	for _, engine := range harness.Engines {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			test(t, engine)
		})
	}
}

// A reader who does not take a piece in time ends the file, the statement and the place that they had.
func TestSlowReadersOfExportsAreCutOff(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*reader){
		"reads nothing": func(*reader) {},
		"reads a byte at a time": func(r *reader) {
			for one := make([]byte, 1); ; time.Sleep(time.Millisecond) { // slower than a piece in 100 ms
				if _, err := r.response.Body.Read(one); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, engine harness.Engine) {
				w := serveWide(t, engine, 100*time.Millisecond, 4) // one export at once
				go read(w.open(w.link("ann")))
				if outcome, rows := w.ended(); outcome != "reader_gone" || rows < 1 || rows >= wideRows {
					t.Errorf("the audit has %s and %d rows of %d, want reader_gone and some", outcome, rows, wideRows)
				}
				w.reading(engine, 0)
				w.eventually("a place for the next export", func() bool {
					response, err := http.Get(w.link("ben"))
					if err != nil {
						return false // a machine may be too slow for so little patience
					}
					r := reader{response: response}
					defer response.Body.Close()
					return response.StatusCode == http.StatusOK && r.isWhole()
				})
			})
		})
	}
}

// Readers who stall have the places that exports may have, and no others; who finds none keeps their link.
func TestStalledExportsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, engine harness.Engine) {
		w := serveWide(t, engine, time.Hour, 32) // eight exports at once, two of one token
		stalled := []*reader{w.open(w.link("ann")), w.open(w.link("ann"))}
		links := make([]string, 8)
		answers := make(chan *http.Response, len(links))
		for i := range links {
			links[i] = w.link("ann") // asking needs no place
			go func() {
				response, err := http.Get(links[i])
				if err != nil {
					t.Error(err)
				} else {
					response.Body.Close()
				}
				answers <- response
			}()
		}
		for range links {
			if response := <-answers; response == nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
				t.Errorf("an export beyond the token's two is answered by %+v, want 503 and when to come again", response)
			}
		}
		for _, token := range []string{"ann", "ben"} {
			if text, isError := w.Call(w.token(token), "get_wide", `{"id":1}`); isError {
				t.Errorf("%s cannot read a row meanwhile: %s", token, text)
			}
		}
		if !w.open(w.link("ben")).isWhole() {
			t.Error("ben has no whole file while ann's readers stall")
		}
		w.Log.Reset()
		stalled[0].conn.Close()
		if outcome, _ := w.ended(); outcome != "reader_gone" {
			t.Errorf("the file of a client that went away ends with %s, want reader_gone", outcome)
		}
		w.eventually("the file of a link that found no place", func() bool {
			r := w.open(links[0])
			if r.response.StatusCode == http.StatusServiceUnavailable {
				return false // the place of the client that went away is not free yet
			}
			if r.response.StatusCode != http.StatusOK || !r.isWhole() {
				t.Fatalf("a link that found no place is not good any more: %s", r.response.Status)
			}
			return true
		})
		if !stalled[1].isWhole() {
			t.Error("the file of the other reader, who reads on, is not whole")
		}
		w.reading(engine, 0)
	})
}

// MariaDB and MySQL hang up on who takes no rows for a minute. While an export is read they wait as long as its statement may take, and
// no longer after that.
func TestTheDatabaseWaitsForSlowReadersOfExports(t *testing.T) {
	t.Parallel()
	engine := harness.Engines[slices.IndexFunc(harness.Engines, func(e harness.Engine) bool { return e.Product == harness.MariaDB })]
	const script = `
CREATE FUNCTION waits() RETURNS INTEGER NOT DETERMINISTIC NO SQL RETURN @@session.net_write_timeout;
CREATE FUNCTION takes() RETURNS INTEGER NOT DETERMINISTIC NO SQL RETURN @@session.max_statement_time;
CREATE VIEW patience AS SELECT 1 AS id, waits() AS waits, takes() AS takes;`
	database, plain := engine.Open(t, script)
	w := &wide{t: t, plain: plain}
	token := contract.Token{Namespace: "test", Name: "ann", Hashes: []string{contract.HashToken(w.token("ann"))},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view", contract.VerbExport}}}}
	w.Endpoint = harness.Serve(t, database, []contract.Model{{Name: "patience", Table: "patience", Expose: true}}, []contract.Token{token}, func(c *contract.Config) {
		c.Endpoint.Database.MaxConnections = 2
		c.Endpoint.Database.StatementTimeout = contract.Duration(70 * time.Second)
	})
	var usual int
	if err := plain.QueryRow("SELECT waits()").Scan(&usual); err != nil {
		t.Fatal(err)
	}
	read := func(when string, waits, takes int) {
		t.Helper()
		want := fmt.Sprintf(`{"waits":%d,"takes":%d}`, waits, takes)
		if text, _ := w.Call(w.token("ann"), "list_patience", `{"fields":["waits","takes"]}`); !strings.Contains(text, want) {
			t.Errorf("%s the settings are %s, want %s", when, text, want)
		}
	}
	read("before", usual, 70)
	text, _ := w.Call(w.token("ann"), "list_patience", `{"export":"ndjson","fields":["waits","takes"]}`)
	var answer struct{ Export struct{ URI string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	response, err := http.Get(answer.Export.URI)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != `{"waits":300,"takes":300}`+"\n" {
		t.Errorf("while an export is read the settings are %s, %v", body, err)
	}
	read("after it", usual, 70)
}
