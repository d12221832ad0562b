// Command limit is the least that a Go server can do to answer the tools of an endpoint from a database: net/http, the engine's
// driver, prepared statements, and an answer written by hand. It has no tokens, rights, policies, schema or journal of its
// own; but it sends the same SQL. Package bench starts it, and measures the real server by it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/metrics"
	"time"
)

// engine answers tools from a database.
type engine interface {
	get(ctx context.Context, m *memory, id int64) error
	list(ctx context.Context, m *memory, author int64, counted bool) error
	aggregate(ctx context.Context, m *memory, author int64) error
	create(ctx context.Context, m *memory, data *book) error
	update(ctx context.Context, m *memory, id int64, data *book) error
}

func main() {
	name := flag.String("engine", "", "postgresql, mariadb or sqlite; the environment variable LIMIT_DATABASE has its data source name")
	listen := flag.String("listen", "", "address and port")
	pool := flag.Int("pool", 8, "connections to the database")
	answers := flag.String("answers", "", "`file` of a JSON object: bodies, and the answers to send back to them, in base64")
	flag.Parse()
	if err := run(*name, *listen, *answers, *pool); err != nil {
		fmt.Fprintln(os.Stderr, "limit:", err)
		os.Exit(1)
	}
}

func run(name, listen, answers string, pool int) error {
	open := map[string]func(source string, pool int) (engine, error){
		"postgresql": openPostgreSQL, "mariadb": openMariaDB, "sqlite": openSQLite,
	}[name]
	if open == nil {
		return fmt.Errorf("-engine: there is no %q", name)
	}
	e, err := open(os.Getenv("LIMIT_DATABASE"), pool)
	if err != nil {
		return err
	}
	given, err := readAnswers(answers)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /mcp/", &handler{e, given})
	mux.HandleFunc("GET /metrics", tellMemory)
	server := &http.Server{Addr: listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

// readAnswers reads the answers to bodies that need no database.
func readAnswers(file string) (answers map[string][]byte, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &answers)
	}
	return answers, err
}

// tellMemory tells how much memory was allocated so far, under the name that the real server has for it.
func tellMemory(w http.ResponseWriter, _ *http.Request) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	fmt.Fprintf(w, "go_memstats_alloc_bytes_total %d\n", sample[0].Value.Uint64())
}
