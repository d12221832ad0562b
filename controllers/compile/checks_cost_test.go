package compile_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/admission"
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// BenchmarkStart compiles 50,000 tokens, as a manager does that starts: relying on the API server's check of the objects, and with
// each object checked by its schema once more. The difference is why the compile step relies on it
// (docs/design/decisions/0010-one-schema.md).
//
//	go test -run - -bench Start -benchtime 1x -benchmem ./controllers/compile
func BenchmarkStart(b *testing.B) {
	const tokens = 50_000
	in := large(10, tokens)
	perToken := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
	}
	b.Run("relying", func(b *testing.B) {
		for b.Loop() {
			c, objects := compiler(in)
			c.Update(objects)
		}
		perToken(b)
	})
	b.Run("checking", func(b *testing.B) {
		for b.Loop() {
			for i := range in.Tokens {
				t := in.Tokens[i].DeepCopy()
				t.APIVersion, t.Kind = v1alpha1.GroupVersion.String(), "MCPToken"
				encoded, err := json.Marshal(t)
				if err != nil {
					b.Fatal(err)
				}
				if errs, err := admission.Read(b.Context(), encoded, t.Namespace, new(v1alpha1.MCPToken)); err != nil || len(errs) > 0 {
					b.Fatalf("it is refused: %v, %v", errs, err)
				}
			}
			c, objects := compiler(in)
			c.Update(objects)
		}
		perToken(b)
	})
	b.Run("entries alone", func(b *testing.B) {
		c, objects := compiler(in)
		c.Update(objects)
		entries := c.Whole().Tokens
		b.ResetTimer()
		for b.Loop() {
			for i := range entries {
				if err := entries[i].Validate(); err != nil {
					b.Fatal(err)
				}
			}
		}
		perToken(b)
	})
}
