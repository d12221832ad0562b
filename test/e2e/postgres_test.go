package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const postgresManifests = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent, namespace: shop}
spec: {endpointRef: {name: shop}, permissions: [{models: ["*"], verbs: [view]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: item, namespace: shop}
spec: {endpointRef: {name: shop}, table: {schema: stock, name: item}, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: shop}
spec:
  database:
    connectionSecretRef: {name: shop-db}
    schemas: [stock]
    access: ReadOnly
    statementTimeout: 5s
`

var _ = Describe("a PostgreSQL database", Ordered, func() {
	b := bench{namespace: "shop"}
	var wire *proxy
	secret := func(ctx context.Context, keys string) {
		GinkgoHelper()
		apply(ctx, "{apiVersion: v1, kind: Secret, metadata: {name: shop-db, namespace: shop}, stringData: {"+keys+"}}")
	}
	connection := func(password string) string {
		return fmt.Sprintf(`host: 127.0.0.1, port: "%d", dbname: mcp_e2e, user: mcp_e2e, password: %s`, wire.port, password)
	}
	BeforeAll(func(ctx SpecContext) {
		server := os.Getenv("MCP_TEST_POSTGRES")
		if server == "" {
			Skip("MCP_TEST_POSTGRES is not set: make test sets it to a PostgreSQL server of its own")
		}
		makeDatabase(ctx, server, "mcp_e2e")
		at, err := url.Parse(server)
		Expect(err).NotTo(HaveOccurred())
		wire = newProxy(at.Host)
		DeferCleanup(wire.cut)
		address, err := cluster.Forward("shop/shop-mcp:80", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		b.url = "http://" + address + "/mcp/"
		apply(ctx, postgresManifests)
		DeferCleanup(func(ctx SpecContext) { kubectl(ctx, "delete", "namespace", "shop", "--wait=false") })
	})

	It("may lack its Secret: the endpoint says so, and what waits for what", func(ctx SpecContext) {
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(MatchRegexp(`^False Secret\w+: .*shop-db|^False Secret\w+: .*Secret`))
		Expect(b.condition(ctx, "mcpe/shop", "Ready")).To(HavePrefix("False "))
	})

	It("may have a Secret that lacks a key: the message names it", func(ctx SpecContext) {
		secret(ctx, "host: 127.0.0.1, dbname: mcp_e2e, user: mcp_e2e")
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(MatchRegexp(`^False SecretIncomplete: .*password`))
	})

	It("may refuse a wrong password, which is never repeated", func(ctx SpecContext) {
		secret(ctx, connection("not-the-password"))
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(HavePrefix("False AuthenticationFailed: "))
		Expect(b.kubectl(ctx, "get", "mcp,events", "-o", "yaml")).NotTo(ContainSubstring("not-the-password"))
	})

	It("works as soon as the password is right, with no pod restarted", func(ctx SpecContext) {
		secret(ctx, connection("right-password"))
		b.wait(ctx, "Ready", "mcpe/shop", "mcpm/item", "mcptoken/agent")
		text, isError := b.call(b.token(ctx, "agent"), "list_item", `{"filters":{"price__gt":"1.10"}}`)
		Expect(isError).To(BeFalse(), text)
		Expect(text).To(MatchJSON(`{"count":1,"total_count":1,"results":[{"id":"9007199254740993","name":"lamp","price":"12.50","added":"2026-01-02T02:04:05Z"}]}`))
		Expect(b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}")).To(Equal("0"))
		Expect(b.kubectl(ctx, "get", "mcpe", "shop")).To(MatchRegexp(`PostgreSQL \d+`))
	})

	It("may go away: calls say unavailable, no token is touched, and all is well when it is back", func(ctx SpecContext) {
		agent := b.token(ctx, "agent")
		wire.cut()
		Eventually(func() string {
			text, _ := b.call(agent, "list_item", `{}`)
			return text
		}).Should(ContainSubstring(`"code":"unavailable"`))
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).
			Should(MatchRegexp(`^False Unreachable: .*127\.0\.0\.1:%d`, wire.port))
		Expect(b.answers(agent)).To(Equal(http.StatusOK))
		Expect(b.condition(ctx, "mcptoken/agent", "Ready")).To(HavePrefix("True "))

		// A revocation is not delayed by a dead database.
		leaver := b.newTokenOf(ctx, "shop", "leaver")
		Expect(newRevoker(ctx).remove(ctx, "shop", "leaver")).To(Succeed())
		Eventually(func() int { return b.answers(leaver) }).Should(Equal(http.StatusUnauthorized))

		wire.mend()
		Eventually(func() bool {
			_, isError := b.call(agent, "list_item", `{}`)
			return isError
		}).Should(BeFalse())
		b.wait(ctx, "Ready", "mcpe/shop")
	})
})

// makeDatabase makes a database with one table, and a user of the same name that may read it.
func makeDatabase(ctx context.Context, server, name string) {
	GinkgoHelper()
	run := func(uri string, statements ...string) {
		GinkgoHelper()
		conn, err := pgx.Connect(ctx, uri)
		Expect(err).NotTo(HaveOccurred())
		defer func() { _ = conn.Close(ctx) }()
		for _, statement := range statements {
			_, err := conn.Exec(ctx, statement)
			Expect(err).NotTo(HaveOccurred(), statement)
		}
	}
	run(server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "DROP ROLE IF EXISTS "+name,
		"CREATE ROLE "+name+" LOGIN PASSWORD 'right-password'", "CREATE DATABASE "+name)
	at, err := url.Parse(server)
	Expect(err).NotTo(HaveOccurred())
	at.Path = "/" + name
	run(at.String(), "CREATE SCHEMA stock",
		"CREATE TABLE stock.item (id bigint PRIMARY KEY, name text, price numeric(8,2), added timestamptz)",
		"INSERT INTO stock.item VALUES (1, 'nail', 0.10, now()), (9007199254740993, 'lamp', 12.50, '2026-01-02 03:04:05+01')",
		"GRANT USAGE ON SCHEMA stock TO "+name, "GRANT SELECT ON stock.item TO "+name)
}

// proxy is a wire to a server that can be cut and mended.
type proxy struct {
	target string
	port   int

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newProxy(target string) *proxy {
	GinkgoHelper()
	p := &proxy{target: target}
	p.mend()
	return p
}

// mend listens again, at the same port as before.
func (p *proxy) mend() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.port))
	Expect(err).NotTo(HaveOccurred())
	p.port = listener.Addr().(*net.TCPAddr).Port
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", p.target)
			if err != nil {
				_ = from.Close()
				continue
			}
			p.mu.Lock()
			p.open = append(p.open, from, to)
			p.mu.Unlock()
			go pipe(from, to)
			go pipe(to, from)
		}
	}()
}

func pipe(from, to net.Conn) {
	_, _ = io.Copy(to, from) // ends when either side does, which is all that matters
	_ = to.Close()
}

// cut refuses new connections and breaks those that are open.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	for _, conn := range p.open {
		_ = conn.Close()
	}
	p.open = nil
}
