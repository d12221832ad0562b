package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/jackc/pgx/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// shopManifests are an endpoint on a database server, for which only the Secret shop-db is missing: its namespace, what
// its spec says beside the connection, and the verbs of the token agent.
const shopManifests = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent, namespace: %[1]s}
spec: {endpointRef: {name: shop}, permissions: [{models: ["*"], verbs: [%[3]s]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: item, namespace: %[1]s}
spec: {endpointRef: {name: shop}, table: {name: item}, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: %[1]s}
spec: %[2]s
`

// newShop applies the manifests into a new namespace; the endpoint waits for connect then.
func newShop(ctx context.Context, namespace, spec, verbs string) bench {
	GinkgoHelper()
	b := newNamespace(namespace, "shop")
	apply(ctx, fmt.Sprintf(shopManifests, namespace, spec, verbs))
	return b
}

// connect writes the Secret with the connection of a shop.
func (b bench) connect(ctx context.Context, keys string) {
	GinkgoHelper()
	apply(ctx, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: shop-db, namespace: %s}, stringData: {%s}}", b.namespace, keys))
}

// postgresKeys are a Secret's keys for the database that makeDatabase makes.
func postgresKeys(host, port, database, password string) string {
	return fmt.Sprintf("host: %q, port: %q, dbname: %[3]s, user: %[3]s, password: %[4]s", host, port, database, password)
}

// makeDatabase makes a PostgreSQL database with one table, and a user of the same name that may read it, and returns where
// the server is. Without a server for tests the spec is skipped.
func makeDatabase(ctx context.Context, name string) *url.URL {
	GinkgoHelper()
	server := os.Getenv("MCP_TEST_POSTGRES")
	if server == "" {
		Skip("MCP_TEST_POSTGRES is not set: make test sets it to a PostgreSQL server of its own")
	}
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
	return at
}
