package e2enode

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// databaseName is also the user's name.
const databaseName = "mcp_e2e_node"

// shop is an endpoint over one database, with the relay that its pods reach the database by.
type shop struct {
	name, uri string
	db        *sql.DB
	relay     *relay
	// setPassword is the statement that changes the user's password.
	setPassword string
	// options are fields of the MCPEndpoint's database.
	options string
}

func newPostgres(ctx context.Context) *shop {
	GinkgoHelper()
	server, err := url.Parse(os.Getenv("MCP_TEST_POSTGRES"))
	Expect(err).NotTo(HaveOccurred())
	Expect(server.Host).NotTo(BeEmpty(), "MCP_TEST_POSTGRES is not set: make e2e sets it")
	outside := open("pgx", server.String())
	drop := []string{"DROP DATABASE IF EXISTS " + databaseName + " WITH (FORCE)", "DROP ROLE IF EXISTS " + databaseName}
	execute(ctx, outside, append(drop, "CREATE ROLE "+databaseName+" LOGIN PASSWORD 'first'", "CREATE DATABASE "+databaseName)...)
	DeferCleanup(func(ctx SpecContext) { execute(ctx, outside, drop...) })
	inside := *server
	inside.Path = "/" + databaseName
	s := &shop{name: "shop", db: open("pgx", inside.String()), setPassword: "ALTER ROLE " + databaseName + " PASSWORD '%s'", options: ", schemas: [stock]"}
	execute(ctx, s.db, "CREATE SCHEMA stock", "CREATE TABLE stock.item (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)",
		"INSERT INTO stock.item (name) VALUES ('lamp')", "GRANT USAGE ON SCHEMA stock TO "+databaseName,
		"GRANT SELECT, INSERT ON stock.item TO "+databaseName, "ALTER ROLE "+databaseName+" SET search_path = stock")
	s.relay = newRelay(server.Host)
	s.uri = "postgres://" + databaseName + ":%s@" + s.relay.address + "/" + databaseName + "?sslmode=disable"
	return s
}

func newMariaDB(ctx context.Context) *shop {
	GinkgoHelper()
	server, err := url.Parse(os.Getenv("MCP_TEST_MARIADB"))
	Expect(err).NotTo(HaveOccurred())
	Expect(server.Host).NotTo(BeEmpty(), "MCP_TEST_MARIADB is not set: make e2e sets it")
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = server.User.Username(), "tcp", server.Host
	config.Passwd, _ = server.User.Password()
	user := "'" + databaseName + "'@'127.0.0.1'"
	outside := open("mysql", config.FormatDSN())
	drop := []string{"DROP DATABASE IF EXISTS " + databaseName, "DROP USER IF EXISTS " + user}
	execute(ctx, outside, append(drop, "CREATE DATABASE "+databaseName,
		"CREATE USER "+user+" IDENTIFIED BY 'first'", "GRANT SELECT, INSERT ON "+databaseName+".* TO "+user)...)
	DeferCleanup(func(ctx SpecContext) { execute(ctx, outside, drop...) })
	config.DBName = databaseName
	s := &shop{name: "market", db: open("mysql", config.FormatDSN()), setPassword: "ALTER USER " + user + " IDENTIFIED BY '%s'"}
	execute(ctx, s.db, "CREATE TABLE item (id bigint AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL)", "INSERT INTO item (name) VALUES ('lamp')")
	s.relay = newRelay(server.Host)
	s.uri = "mysql://" + databaseName + ":%s@" + s.relay.address + "/" + databaseName
	return s
}

func open(driver, source string) *sql.DB {
	GinkgoHelper()
	db, err := sql.Open(driver, source)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(db.Close)
	return db
}

func execute(ctx context.Context, db *sql.DB, statements ...string) {
	GinkgoHelper()
	for _, statement := range statements {
		_, err := db.ExecContext(ctx, statement)
		Expect(err).NotTo(HaveOccurred(), statement)
	}
}

// rows is how many items there are.
func (s *shop) rows(ctx context.Context) (count int) {
	GinkgoHelper()
	table := "item"
	if s.options != "" {
		table = "stock.item"
	}
	Expect(s.db.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&count)).To(Succeed())
	return count
}

// relay leads from the node's address, which pods reach, to a database server that listens on this machine's own. It can be
// cut, which is for the pods as if the server had ended, and mended.
type relay struct {
	address, target string

	mu       sync.Mutex
	listener net.Listener
	// open are the pods' connections, with the time at which each was made.
	open map[net.Conn]time.Time
}

func newRelay(target string) *relay {
	GinkgoHelper()
	r := &relay{address: cluster.Address() + ":0", target: target, open: map[net.Conn]time.Time{}}
	r.mend()
	DeferCleanup(r.cut)
	return r
}

// mend listens again, at the same port as before.
func (r *relay) mend() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", r.address)
	Expect(err).NotTo(HaveOccurred())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.address, r.listener = listener.Addr().String(), listener
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go r.join(from)
		}
	}()
}

func (r *relay) join(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	r.mu.Lock()
	r.open[from] = time.Now()
	r.mu.Unlock()
	go func() {
		_, _ = io.Copy(to, from) // ends when either side does, which is all that matters
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	r.mu.Lock()
	delete(r.open, from)
	r.mu.Unlock()
}

// olderThan is how many connections are open that were made before a time.
func (r *relay) olderThan(limit time.Time) (count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, made := range r.open {
		if made.Before(limit) {
			count++
		}
	}
	return count
}

// cut refuses new connections and breaks open ones.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for conn := range r.open {
		_ = conn.Close()
	}
}

// secret is the Secret that leads to the database, with a password.
func (s *shop) secret(password string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: %s-db, namespace: shop}, stringData: {uri: %q}}`, s.name, fmt.Sprintf(s.uri, password))
}
