package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// The token of agent n. Each connection is another agent, as places and connections are shared out among tokens.
func tokenOf(n int) string {
	return fmt.Sprintf("bench-token-of-agent-%03d-with-32-characters", n%agents)
}

// agents is how many tokens there are.
const agents = 100

// configOf is the Config of an endpoint, as the operator would give it with its defaults: agents who have their rights from a
// group, a row policy for that group with a value of each token, and the journal.
func configOf(e *engine, models []contract.Model, pool int) *contract.Config {
	config := &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: 1,
		Endpoint: contract.Endpoint{
			Namespace: "bench", Name: "books", URL: "http://books.example.com/mcp/", StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(),
			Database: contract.Database{MaxConnections: pool, StatementTimeout: contract.Duration(v1alpha1.DefaultStatementTimeout)},
			Limits: contract.Limits{
				MaxBodyBytes: v1alpha1.DefaultMaxBodyBytes, MaxConcurrentRequests: v1alpha1.DefaultMaxConcurrentRequests,
				MaxResultBytes: v1alpha1.DefaultMaxResultBytes,
			},
			Catalogue: contract.Catalogue{Style: contract.StylePerModel},
			Audit:     &contract.AuditTable{Name: "mcp_admin_log"},
		},
		Groups: []contract.Group{{Name: "sellers", Rules: []contract.Rule{
			{Models: []string{contract.Wildcard}, Verbs: []string{contract.VerbView, contract.VerbAdd, contract.VerbChange}},
		}}},
		Models: models,
	}
	if e.variable == "" {
		config.Endpoint.Database.Engine = contract.EngineSQLite
	}
	for n := range agents {
		config.Tokens = append(config.Tokens, contract.Token{
			Namespace: "bench", Name: fmt.Sprintf("agent-%03d", n), Hashes: []string{contract.HashToken(tokenOf(n))},
			Groups: []string{"sellers"}, Attributes: map[string]string{"budget": strconv.Itoa(budget)},
		})
	}
	return config
}

// budget is the highest price of a book that an agent sees. None has a higher one: the policy costs what it costs, and hides
// nothing.
const budget = 200

// shop are the models of the bookshop. The policy stands on books.
func shop() []contract.Model {
	models := []contract.Model{model("author"), model("book")}
	models[1].RowPolicies = []contract.RowPolicy{{
		Name: "affordable", Groups: []string{"sellers"}, Filters: []contract.Filter{{Field: "price", Lookup: "lte", TokenAttribute: "budget"}},
	}}
	return models
}

// model is an exposure of a table under its own name.
func model(table string) contract.Model {
	return contract.Model{
		Revision: 1, Exposure: table, Created: time.Unix(1, 0).UTC(), Name: table, Table: table, Expose: true,
		VerboseName: table, VerboseNamePlural: table + "s",
		DefaultPageSize: v1alpha1.DefaultPageSize, MaxPageSize: v1alpha1.DefaultMaxPageSize, MaxBulkItems: v1alpha1.DefaultMaxBulkItems,
	}
}

// writeConfig writes a Config as the server reads it from a folder, and returns the folder.
func writeConfig(config *contract.Config, into string) (string, error) {
	if err := config.Validate(); err != nil {
		return "", err
	}
	main, err := contract.EncodeMain(config)
	if err != nil {
		return "", err
	}
	tokens, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: config.Revision, Tokens: config.Tokens})
	if err != nil {
		return "", err
	}
	for name, part := range map[string]contract.Part{"main": main, "tokens-0": tokens} {
		if err := writeFiles(filepath.Join(into, name), part); err != nil {
			return "", err
		}
	}
	return into, nil
}

func writeFiles(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
