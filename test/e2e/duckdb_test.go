package e2e

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// duckDBImage is the image of the server with DuckDB, and duckDBServer its program, which "make duckdb" builds.
const (
	duckDBImage  = "registry.example.com/mcp/server-duckdb:e2e"
	duckDBServer = "../../bin/mcp-admin-server-duckdb"
)

// needsDuckDB skips a spec if there is no server with DuckDB.
func needsDuckDB() {
	GinkgoHelper()
	if _, err := os.Stat(duckDBServer); err != nil {
		Skip("SKIPPED: no endpoint over DuckDB was tried, as bin/mcp-admin-server-duckdb is not there: make duckdb builds it, and needs a C++ compiler")
	}
}

var _ = Describe("files that DuckDB reads", Ordered, func() {
	var b bench
	var program string
	BeforeAll(func(ctx SpecContext) {
		built, err := filepath.Abs(duckDBServer)
		Expect(err).NotTo(HaveOccurred())
		program = filepath.Join(GinkgoT().TempDir(), "mcp-admin-server") // which is its name in the image
		Expect(os.Symlink(built, program)).To(Succeed())
		b = newShop(ctx, "files", `{database: {duckdb: {claim: {name: sales-files}, path: item.csv}}}`, "view")
	})

	It("says that no image of a server with DuckDB is named", func(ctx SpecContext) {
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "WorkloadAvailable") }).
			Should(And(HavePrefix("False DuckDBImageMissing: "), ContainSubstring("spec.server.image")))
	})

	It("names the claim that is missing", func(ctx SpecContext) {
		needsDuckDB()
		Expect(cluster.SetImage(duckDBImage, program)).To(Succeed())
		b.kubectl(ctx, "patch", "mcpe", "shop", "--type=merge", "-p", `{"spec":{"server":{"image":"`+duckDBImage+`"}}}`)
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "WorkloadAvailable") }).
			Should(And(HavePrefix("False "), ContainSubstring("spec.database.duckdb.claim"), ContainSubstring("sales-files")))
	})

	It("answers an agent from the claim's file, and from the one that takes its place", func(ctx SpecContext) {
		needsDuckDB()
		apply(ctx, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: sales-files, namespace: files},
  spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}`)
		_, err := cluster.Kubectl(ctx, "-n", b.namespace, "wait", "--timeout=10m", "--for=jsonpath={.status.phase}=Bound", "pvc/sales-files")
		Expect(err).NotTo(HaveOccurred())
		volume := b.kubectl(ctx, "get", "pvc", "sales-files", "-o", "jsonpath={.spec.volumeName}")
		folder := kubectl(ctx, "get", "pv", volume, "-o", "jsonpath={.spec.hostPath.path}")
		put := func(content string) {
			GinkgoHelper()
			Expect(os.WriteFile(filepath.Join(folder, "next"), []byte(content), 0o600)).To(Succeed())
			Expect(os.Rename(filepath.Join(folder, "next"), filepath.Join(folder, "item.csv"))).To(Succeed())
		}
		put("id,name,price\n1,nail,0.25\n2,lamp,12.5\n")
		b.wait(ctx, "Ready", "mcpe/shop", "mcpm/item", "mcptoken/agent")
		Expect(b.kubectl(ctx, "get", "mcpe", "shop")).To(MatchRegexp(`DuckDB \d+`))
		agent := b.token(ctx, "agent")
		Expect(b.must(agent, "aggregate_item", `{"measures":{"n":{"count":"*"},"sum":{"sum":"price"}}}`)).To(ContainSubstring(`"results":[{"n":2,"sum":12.75}]`))
		b.refused(agent, "create_item", `{"data":{"name":"rope"}}`, "permission_denied")
		put("id,name,price\n1,nail,0.25\n2,lamp,12.5\n3,rope,3.25\n")
		Eventually(func() string { return b.must(agent, "list_item", `{"order_by":["-id"],"limit":1}`) }).Should(ContainSubstring(`"rope"`))
	})
})
