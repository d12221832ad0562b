package e2e

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("bad input", Ordered, func() {
	var b bench
	BeforeAll(func(ctx SpecContext) { b = newBench(ctx, "mistakes") })

	exposure := func(name, spec string) string {
		return fmt.Sprintf(`{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPModelExposure, metadata: {name: %s, namespace: %s},
  spec: {endpointRef: {name: bookshop}, %s}}`, name, b.namespace, spec)
	}
	othersStillWork := func(ctx SpecContext) {
		GinkgoHelper()
		text := b.refused(b.token(ctx, "owner"), "get_book", `{"id":4,"columns":["title"]}`, "invalid_argument")
		Expect(text).To(ContainSubstring("the arguments are id")) // the message says which there are
		b.must(b.token(ctx, "owner"), "get_book", `{"id":4}`)
	}

	It("says that a table does not exist, and which is the nearest", func(ctx SpecContext) {
		apply(ctx, exposure("authors", "table: {name: authr}"))
		Eventually(func() string { return b.condition(ctx, "mcpm/authors", "Resolved") }).
			Should(HavePrefix("False TableNotFound: table authr does not exist in database"))
		Expect(b.condition(ctx, "mcpm/authors", "Resolved")).To(HaveSuffix("the nearest is author"))
		Expect(b.condition(ctx, "mcpm/authors", "Ready")).To(HavePrefix("False "))
		othersStillWork(ctx)
	})

	It("shows nothing of a model whose exclude names no column", func(ctx SpecContext) {
		apply(ctx, `{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPModelExposure, metadata: {name: customer, namespace: `+b.namespace+`},
  spec: {endpointRef: {name: bookshop}, table: {name: customer}, expose: true, fields: {exclude: [emial]}}}`)
		Eventually(func() string { return b.condition(ctx, "mcpm/customer", "Accepted") }).
			Should(Equal("False FieldNotFound: fields.exclude: customer has no column emial; the nearest is email"))
		b.refused(b.token(ctx, "owner"), "list_customer", `{}`, "unavailable")
		othersStillWork(ctx)
	})

	It("keeps the older of two exposures of one model or table", func(ctx SpecContext) {
		apply(ctx, exposure("titles", "table: {name: book}"))
		apply(ctx, exposure("writers", "model: author, table: {name: purchase}"))
		for _, name := range []string{"titles", "writers"} {
			Eventually(func() string { return b.condition(ctx, "mcpm/"+name, "Accepted") }).Should(HavePrefix("False Conflicted: "))
		}
		Expect(b.condition(ctx, "mcpm/book", "Ready")).To(HavePrefix("True "))
		othersStillWork(ctx)
	})

	It("refuses an unknown field, by kubectl apply and by server-side apply", func(ctx SpecContext) {
		for _, way := range []string{"--server-side=false", "--server-side=true"} {
			_, err := cluster.KubectlInput(ctx, exposure("odd", "table: {name: book}, tabel: {name: book}"), "apply", way, "-f", "-")
			Expect(err).To(MatchError(ContainSubstring("tabel")), way)
		}
	})

	It("lets a token wait for its Secret and its group, and refuses it meanwhile", func(ctx SpecContext) {
		const text = "a text of my own that is long enough, 0123456789"
		apply(ctx, `{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPToken, metadata: {name: own, namespace: `+b.namespace+`},
  spec: {endpointRef: {name: bookshop}, groups: [nightshift], tokenSecretRef: {name: own-token, key: token}}}`)
		Eventually(func() string { return b.condition(ctx, "mcptoken/own", "Accepted") }).Should(HavePrefix("False GroupNotFound: "))
		b.kubectl(ctx, "patch", "mcpe", "bookshop", "--type=json", "-p",
			`[{"op":"add","path":"/spec/groups/-","value":{"name":"nightshift","permissions":[{"models":["book"],"verbs":["view"]}]}}]`)
		Eventually(func() string { return b.condition(ctx, "mcptoken/own", "Issued") }).Should(HavePrefix("False SecretNotFound: "))
		Expect(b.answers(text)).To(Equal(http.StatusUnauthorized))
		b.kubectl(ctx, "create", "secret", "generic", "own-token", "--from-literal=token="+text)
		b.wait(ctx, "Ready", "mcptoken/own")
		Expect(b.answers(text)).To(Equal(http.StatusOK))
	})
})
