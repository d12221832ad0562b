package snapshot

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// large is an endpoint of 500 models and 10,000 tokens, and its database.
func large() (*contract.Config, []*contract.TokenPart, *database.Schema) {
	c := &contract.Config{Version: contract.Version, Revision: 1}
	c.Endpoint.Limits.MaxResultBytes = 1 << 20
	s := &database.Schema{Engine: "PostgreSQL", HasSchemas: true, SearchPath: []string{"public"}}
	for i := range 500 {
		name := fmt.Sprintf("table_%03d", i)
		t := &database.Table{Schema: "public", Name: name, Kind: database.BaseTable, Writable: true}
		for j := range 20 {
			t.Columns = append(t.Columns, &database.Column{Name: fmt.Sprintf("column_%d", j), Kind: database.Text})
		}
		t.PrimaryKey = t.Columns[:1]
		s.Tables = append(s.Tables, t)
		c.Models = append(c.Models, contract.Model{
			Name: name, Exposure: name, Table: name, Expose: true, DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000,
		})
	}
	for i := range 10 {
		c.Groups = append(c.Groups, contract.Group{Name: fmt.Sprint("group-", i), Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}})
	}
	const tokens = 10_000
	parts := make([]*contract.TokenPart, contract.PartsFor(tokens))
	for i := range parts {
		parts[i] = &contract.TokenPart{Version: contract.Version, Revision: 1, Index: i}
	}
	for i := range tokens {
		t := contract.Token{Namespace: "agents", Name: fmt.Sprint("agent-", i), Hashes: []string{contract.HashToken(fmt.Sprint(i))}, Groups: []string{fmt.Sprint("group-", i%10)}}
		p := parts[contract.PartOf(t.Namespace, t.Name, len(parts))]
		p.Tokens = append(p.Tokens, t)
	}
	return c, parts, s.GrantAll()
}

// BenchmarkMainPart applies a changed main part of a large endpoint.
func BenchmarkMainPart(b *testing.B) {
	c, parts, schema := large()
	tokens := access.NewDirectory().With(parts)
	b.ReportAllocs()
	for b.Loop() {
		Build(c, tokens, schema, nil, nil, nil, nil, nil, nil)
	}
}

// BenchmarkGroups applies a main part of the same endpoint in which a group has changed.
func BenchmarkGroups(b *testing.B) {
	c, parts, schema := large()
	tokens := access.NewDirectory().With(parts)
	s := Build(c, tokens, schema, nil, nil, nil, nil, nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		changed := *c
		s = s.With(&changed, tokens)
	}
}

// BenchmarkTokenPart applies a changed token part of the same endpoint.
func BenchmarkTokenPart(b *testing.B) {
	c, parts, schema := large()
	tokens := access.NewDirectory().With(parts)
	s := Build(c, tokens, schema, nil, nil, nil, nil, nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		parts = slices.Clone(parts)
		changed := *parts[0]
		changed.Revision++
		parts[0] = &changed
		tokens = tokens.With(parts)
		s = s.With(c, tokens)
	}
}
