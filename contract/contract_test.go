package contract

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

func valid() *Config {
	expiry := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Config{
		Version: Version, MinReader: 1, Revision: 7,
		Endpoint: Endpoint{Namespace: "ns", Name: "shop", StatusKey: "key",
			SealKey:  base64.StdEncoding.EncodeToString(make([]byte, 32)),
			Database: Database{Engine: EngineSQLite, MaxConnections: 1, StatementTimeout: Duration(time.Second)},
			Limits:   Limits{MaxBodyBytes: 1, MaxConcurrentRequests: 1, MaxResultBytes: 1},
			Audit:    &AuditTable{Name: "log"}},
		Models: []Model{{Name: "book", Exposure: "book", Table: "book", DefaultPageSize: 1, MaxPageSize: 1, MaxBulkItems: 1,
			Actions:     []Action{{Name: "sell", SQL: &SQLAction{Statement: "update book set sold = true where id in (:ids)"}}},
			RowPolicies: []RowPolicy{{Name: "all", Everyone: true, AllRows: true}}}},
		Tokens: []Token{{Namespace: "ns", Name: "a", Hashes: []string{HashToken("a")}, Expiry: &expiry, Rules: []Rule{{Models: []string{"*"}}}},
			{Namespace: "ns", Name: "gone"}},
	}
}

func TestAConfigReadsBackAsItWasWritten(t *testing.T) {
	for _, tokens := range []int{0, 40_000} { // 40,000 random hashes do not fit in one part
		c := valid()
		for i := range tokens {
			c.Tokens = append(c.Tokens, Token{Namespace: "ns", Name: fmt.Sprint(i), Hashes: []string{HashToken(fmt.Sprint(rand.Uint64()))}})
		}
		parts, err := Encode(c, 16)
		if err != nil {
			t.Fatal(err)
		}
		if tokens > 0 && len(parts) < 2 {
			t.Fatalf("%d tokens take %d part: the case is too small", tokens, len(parts))
		}
		got, err := Decode(parts)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("read back with error %v, equal: %v", err, reflect.DeepEqual(got, c))
		}
		if _, err := Encode(c, len(parts)-1); err == nil {
			t.Error("a Config is encoded into fewer parts than it needs")
		}
	}
}

func TestABrokenConfigIsRefused(t *testing.T) {
	for name, change := range map[string]func([]Part) []Part{
		"no part":             func([]Part) []Part { return nil },
		"an empty part":       func([]Part) []Part { return []Part{{}} },
		"a part too many":     func(p []Part) []Part { return append(p, p[0]) },
		"no gzip":             func(p []Part) []Part { p[0][PartKeyConfig] = []byte("x"); return p },
		"cut short":           func(p []Part) []Part { p[0][PartKeyConfig] = p[0][PartKeyConfig][:40]; return p },
		"another revision":    func(p []Part) []Part { p[0][PartKeyRevision] = []byte("8"); return p },
		"another part's turn": func(p []Part) []Part { p[0][PartKeyIndex] = []byte("1"); return p },
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := Encode(valid(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := Decode(change(parts)); err == nil {
				t.Errorf("taken: %+v", c)
			}
		})
	}
}

func TestAConfigThatNoServerCouldWorkWithIsNotValid(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*Config){
		"minReader":                        func(c *Config) { c.MinReader = Version + 1 },
		"version":                          func(c *Config) { c.Version = 0 },
		"revision":                         func(c *Config) { c.Revision = 0 },
		"endpoint.statusKey":               func(c *Config) { c.Endpoint.StatusKey = "" },
		"endpoint.sealKey":                 func(c *Config) { c.Endpoint.SealKey = "a2V5" },
		"endpoint.audit.name":              func(c *Config) { c.Endpoint.Audit = &AuditTable{Schema: "public"} },
		"endpoint.database.engine":         func(c *Config) { c.Endpoint.Database.Engine = "Oracle" },
		"endpoint.database.maxConnections": func(c *Config) { c.Endpoint.Database.MaxConnections = 0 },
		"endpoint.catalogue":               func(c *Config) { c.Endpoint.Catalogue.Style = "Short" },
		"endpoint.catalogue: style":        func(c *Config) { c.Endpoint.Catalogue.MaxTools = -1 },
		"endpoint.limits":                  func(c *Config) { c.Endpoint.Limits.MaxResultBytes = 0 },
		"models[0].name":                   func(c *Config) { c.Models[0].Name = "Book" },
		"models[1].name":                   func(c *Config) { c.Models = append(c.Models, c.Models[0]) },
		"models[0].table":                  func(c *Config) { c.Models[0].Table = "" },
		"models[0]: page sizes":            func(c *Config) { c.Models[0].DefaultPageSize = 2 },
		"models[0].maxBulkItems":           func(c *Config) { c.Models[0].MaxBulkItems = 0 },
		"models[0].totalCount":             func(c *Config) { c.Models[0].TotalCount = "Roughly" },
		"models[0].actions[0].name":        func(c *Config) { c.Models[0].Actions[0].Name = "Sell" },
		"models[0].actions[1].name":        func(c *Config) { c.Models[0].Actions = append(c.Models[0].Actions, c.Models[0].Actions[0]) },
		"models[0].actions[0]: must":       func(c *Config) { c.Models[0].Actions[0].SQL = nil },
		"is 2 of them":                     func(c *Config) { c.Models[0].Actions[0].Update = &UpdateAction{} },
		"models[0].rowPolicies[0]":         func(c *Config) { c.Models[0].RowPolicies[0].AllRows = false },
		"each filter must have either": func(c *Config) {
			c.Models[0].RowPolicies[0] = RowPolicy{Name: "p", Everyone: true, Filters: []Filter{{Field: "a", Any: []Filter{{Field: "b"}}}}}
		},
		"tokens[0].hashes":          func(c *Config) { c.Tokens[0].Hashes = []string{"abc"} },
		"tokens[1].hashes":          func(c *Config) { c.Tokens[1].Hashes = c.Tokens[0].Hashes },
		"tokens[0].rules[0].models": func(c *Config) { c.Tokens[0].Rules = []Rule{{}} },
	} {
		c := valid()
		change(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	parts, err := Encode(valid(), 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0][PartKeyConfig], "7")
	f.Fuzz(func(_ *testing.T, packed []byte, revision string) {
		// No input may panic or take the memory; what is taken has been validated.
		_, _ = Decode([]Part{{PartKeyRevision: []byte(revision), PartKeyIndex: []byte("0"), PartKeyCount: []byte("1"), PartKeyConfig: packed}})
	})
}

func TestTokens(t *testing.T) {
	a, b := NewToken(), NewToken()
	if a == b || len(a) != 4+16+1+43 || PublicTokenID(a) != a[:20] {
		t.Errorf("generated %q and %q, public %q", a, b, PublicTokenID(a))
	}
	if id := PublicTokenID("a text of one's own, which shows nothing of itself"); id != "" {
		t.Errorf("public part %q of a text that was not generated", id)
	}
	var client struct {
		MCPServers map[string]struct {
			URL     string
			Headers map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(ClientConfiguration("shop", "http://x/mcp/", a), &client); err != nil {
		t.Fatal(err)
	}
	if s := client.MCPServers["shop"]; s.URL != "http://x/mcp/" || s.Headers["Authorization"] != "Bearer "+a {
		t.Errorf("%+v", client)
	}
}

func TestValidateTellsAFewProblemsOfMany(t *testing.T) {
	c := &Config{Version: Version, Models: make([]Model, 100000)}
	if said := c.Validate().Error(); len(said) > 2000 {
		t.Errorf("%d bytes are said of a Config in which everything is wrong", len(said))
	}
}
