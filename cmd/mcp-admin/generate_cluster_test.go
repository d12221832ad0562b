package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// testGenerate has generate read the database of an endpoint by the Secret that it names.
func (w *world) testGenerate(t *testing.T) {
	c := databasetest.PostgreSQL(t)
	databasetest.Execute(t, databasetest.URI(c), "CREATE TABLE book (id int PRIMARY KEY, title text, owner_email text)")
	secret := &corev1.Secret{ObjectMeta: objectMeta("books-db"), StringData: map[string]string{"uri": databasetest.URI(c)}}
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("books")}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "books-db"}
	w.create(secret, e)
	out := w.expect(t, false, []string{"metadata: {name: book, namespace: shop}", "- {name: owner_email} # personal data, by its name", "endpointRef: {name: books}"},
		"generate", "--endpoint", "books", "-n", "shop")
	if strings.Contains(out, c.Password) && c.Password != "" || strings.Contains(out, "kind: MCPEndpoint") {
		t.Errorf("got %s, want no password and no MCPEndpoint", out)
	}
	w.expect(t, true, []string{"copy the file, and name it with --sqlite beside --endpoint"}, "generate", "--endpoint", "shop", "-n", "shop")
	files := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("files")}
	files.Spec.Database.DuckDB = &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: "parquet"}}
	w.check(w.k8s.Create(t.Context(), files))
	w.expect(t, true, []string{"which lie in its claim parquet; copy them, and name them with --duckdb beside --endpoint"}, "generate", "--endpoint", "files", "-n", "shop")
	w.check(w.k8s.Delete(t.Context(), files))
	w.expect(t, true, []string{`--endpoint: mcpendpoints.mcpadmin.dev "none" not found`}, "generate", "--endpoint", "none", "-n", "shop")
	w.check(w.k8s.Delete(t.Context(), e))
}
