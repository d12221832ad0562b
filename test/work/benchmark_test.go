package work

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// What writes cost: five calls by themselves and as the steps of one, and a call with an idempotency key and without
// (docs/design/transact.md, "What it costs"):
//
//	go test ./test/work -run XXX -bench . -benchtime 300x

const benchmarked = `
create table account (id int primary key, owner varchar(50) not null, balance int not null);
create table entry (id int primary key, account_id int not null, note varchar(50), foreign key (account_id) references account (id));
insert into account values (1, 'Ann', 100), (2, 'Bob', 200);
`

const writer = "mcp_writerwriterwrite.0000000000000000000000000000000000000000000"

// workshop is an endpoint whose calls are counted.
type workshop struct {
	*testing.B
	endpoint *harness.Endpoint
	// trips counts the round trips to the database; nil if that is a file.
	trips *atomic.Int64
	n     int
}

// bench runs a benchmark on each engine, with a journal and a table of answers.
func bench(b *testing.B, name string, do func(*workshop)) {
	for _, engine := range harness.Engines {
		b.Run(engine.Title+"/"+name, func(b *testing.B) {
			database, _ := engine.Open(b, benchmarked)
			w := &workshop{B: b}
			if database.Connection != nil {
				w.trips = countTrips(b, &database)
			}
			token := contract.Token{Namespace: "test", Name: "writer", Hashes: []string{contract.HashToken(writer)},
				Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
			w.endpoint = harness.Serve(b, database, []contract.Model{{Name: "account", Table: "account"}, {Name: "entry", Table: "entry"}}, []contract.Token{token},
				func(c *contract.Config) {
					c.Endpoint.Audit, c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_log"}, &contract.AuditTable{Name: "mcp_answers"}
					c.Endpoint.Catalogue.StructuredContent = false
				})
			do(w) // connections, statements and schemas are there from then on
			w.measure(do)
		})
	}
}

// measure runs the benchmark's loop, and reports beside its time and allocations the processor's time and the round trips.
// The client, which runs in the same process, is included.
func (w *workshop) measure(do func(*workshop)) {
	w.ReportAllocs()
	var before int64
	if w.trips != nil {
		before = w.trips.Load()
	}
	spent := processorTime(w.B)
	for w.Loop() {
		do(w)
	}
	w.ReportMetric(float64((processorTime(w.B)-spent).Microseconds())/float64(w.N), "cpu-µs/op")
	if w.trips != nil {
		w.ReportMetric(float64(w.trips.Load()-before)/float64(w.N), "trips/op")
	}
}

// processorTime is the processors' time that this process has taken.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// call makes a call that must succeed.
func (w *workshop) call(tool, arguments string) {
	w.Helper()
	status, answer := w.endpoint.Post(writer, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments))
	if status != http.StatusOK || strings.Contains(answer, `"isError":true`) {
		w.Fatalf("%s %s: %d %s", tool, arguments, status, answer)
	}
}

// payment has the writes of one customer's request: a look, two balances and two notes.
func (w *workshop) payment() [][2]string {
	w.n += 2
	return [][2]string{
		{"get_account", `{"id":1}`},
		{"update_account", fmt.Sprintf(`{"id":1,"data":{"balance":%d}}`, w.n)},
		{"create_entry", fmt.Sprintf(`{"data":{"id":%d,"account_id":1,"note":"paid"}}`, w.n)},
		{"update_account", fmt.Sprintf(`{"id":2,"data":{"balance":%d}}`, w.n)},
		{"create_entry", fmt.Sprintf(`{"data":{"id":%d,"account_id":2,"note":"got"}}`, w.n+1)},
	}
}

// asSteps are the arguments of transact for some calls.
func asSteps(calls [][2]string) string {
	var steps []string
	for _, c := range calls {
		steps = append(steps, fmt.Sprintf(`{"tool":%q,"arguments":%s}`, c[0], c[1]))
	}
	return `"steps":[` + strings.Join(steps, ",") + `]`
}

func BenchmarkPayment(b *testing.B) {
	bench(b, "five calls", func(w *workshop) {
		for _, c := range w.payment() {
			w.call(c[0], c[1])
		}
	})
	bench(b, "five steps", func(w *workshop) { w.call("transact", "{"+asSteps(w.payment())+"}") })
	bench(b, "five steps with a key", func(w *workshop) {
		steps := asSteps(w.payment())
		w.call("transact", fmt.Sprintf(`{%s,"idempotency_key":"payment %d"}`, steps, w.n))
	})
}

func BenchmarkUpdate(b *testing.B) {
	bench(b, "without a key", func(w *workshop) {
		w.n++
		w.call("update_account", fmt.Sprintf(`{"id":1,"data":{"balance":%d}}`, w.n))
	})
	bench(b, "with a key", func(w *workshop) {
		w.n++
		w.call("update_account", fmt.Sprintf(`{"id":1,"data":{"balance":%d},"idempotency_key":"update %[1]d"}`, w.n))
	})
	bench(b, "again with its key", func(w *workshop) {
		w.call("update_account", `{"id":1,"data":{"balance":7},"idempotency_key":"update"}`)
	})
}

// countTrips has a database reached through a proxy that counts: what a client sends after it was answered is a round trip.
func countTrips(b testing.TB, database *harness.Database) *atomic.Int64 {
	b.Helper()
	c, err := contract.ResolveConnection(database.Connection, "")
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	trips := &atomic.Int64{}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", c.Address())
			if err != nil {
				_ = client.Close()
				continue
			}
			answered := &atomic.Bool{}
			answered.Store(true)
			go pass(server, client, func() {
				if answered.CompareAndSwap(true, false) {
					trips.Add(1)
				}
			})
			go pass(client, server, func() { answered.Store(true) })
		}
	}()
	uri := strings.Replace(string(database.Connection["uri"]), c.Address(), listener.Addr().String(), 1)
	database.Connection = map[string][]byte{"uri": []byte(uri)}
	return trips
}

// pass passes on what it reads, until either side ends.
func pass(to io.WriteCloser, from io.Reader, each func()) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		each()
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
