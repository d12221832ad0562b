package contract

import (
	"encoding/base64"
	"encoding/json"
	"errors"
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
		Version: Version, Revision: 7, Layout: Layout{Parts: 4, Before: 1},
		Endpoint: Endpoint{Namespace: "ns", Name: "shop", StatusKey: "key",
			SealKey:  base64.StdEncoding.EncodeToString(make([]byte, 32)),
			Database: Database{Engine: EngineSQLite, MaxConnections: 1, StatementTimeout: Duration(time.Second)},
			Limits:   Limits{MaxBodyBytes: 1, MaxConcurrentRequests: 1, MaxResultBytes: 1},
			Audit:    &AuditTable{Name: "log"}},
		Models: []Model{{Name: "book", Exposure: "book", Table: "book", DefaultPageSize: 1, MaxPageSize: 1, MaxBulkItems: 1,
			Actions:     []Action{{Name: "sell", SQL: &SQLAction{Statement: "update book set sold = true where id in (:ids)"}}},
			RowPolicies: []RowPolicy{{Name: "all", Everyone: true, AllRows: true}}}},
		Groups: []Group{{Name: "clerks", Rules: []Rule{{Models: []string{"book"}, Verbs: []string{VerbView}}}}},
		Tokens: []Token{{Namespace: "ns", Name: "a", Hashes: []string{HashToken("a")}, Expiry: &expiry, Rules: []Rule{{Models: []string{"*"}}}},
			{Namespace: "ns", Name: "gone"}},
	}
}

func TestAConfigReadsBackAsItWasWritten(t *testing.T) {
	whole := valid()
	part, err := EncodeMain(whole)
	if err != nil {
		t.Fatal(err)
	}
	main, err := DecodeMain(part)
	if err != nil || main.Tokens != nil {
		t.Fatalf("%v; the main part has the tokens %v", err, main.Tokens)
	}
	tokens := &TokenPart{Version: Version, Revision: 9, Index: 3, Tokens: whole.Tokens}
	if part, err = EncodeTokens(tokens); err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeTokens(part, 3); err != nil || !reflect.DeepEqual(got, tokens) {
		t.Errorf("read back as %+v, %v", got, err)
	}
	if main.Tokens = whole.Tokens; !reflect.DeepEqual(main, whole) {
		t.Errorf("read back as %+v", main)
	}
}

func TestAPartThatFitsNoSecretIsTooLarge(t *testing.T) {
	part := &TokenPart{Version: Version, Revision: 1}
	for i := range 40_000 {
		part.Tokens = append(part.Tokens, Token{Namespace: "ns", Name: fmt.Sprint(i), Hashes: []string{HashToken(fmt.Sprint(rand.Uint64()))}})
	}
	if _, err := EncodeTokens(part); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

func TestABrokenPartIsRefused(t *testing.T) {
	for name, change := range map[string]func(Part) Part{
		"nothing":          func(Part) Part { return Part{} },
		"no gzip":          func(p Part) Part { p[PartKeyConfig] = []byte("x"); return p },
		"cut short":        func(p Part) Part { p[PartKeyConfig] = p[PartKeyConfig][:40]; return p },
		"another revision": func(p Part) Part { p[PartKeyRevision] = []byte("8"); return p },
		"another part":     func(p Part) Part { p[PartKeyIndex] = []byte("1"); return p },
	} {
		t.Run(name, func(t *testing.T) {
			main, errMain := EncodeMain(valid())
			tokens, errTokens := EncodeTokens(&TokenPart{Version: Version, Revision: 9, Index: 3})
			if errMain != nil || errTokens != nil {
				t.Fatalf("encoding: %v, %v", errMain, errTokens)
			}
			if c, err := DecodeMain(change(main)); err == nil {
				t.Errorf("taken: %+v", c)
			}
			if part, err := DecodeTokens(change(tokens), 3); err == nil {
				t.Errorf("taken: %+v", part)
			}
		})
	}
	part, err := EncodeTokens(&TokenPart{Version: Version, Revision: 9, Index: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeTokens(part, 2); err == nil {
		t.Error("part 3 is taken for part 2")
	}
}

func TestATokenLiesInOnePartOfEachLayout(t *testing.T) {
	for _, layout := range []Layout{{Parts: 1}, {Parts: 4}, {Parts: 16, Before: 4}, {Parts: 64, Before: 1}} {
		if !layout.valid() {
			t.Errorf("%+v is no layout", layout)
		}
		held := map[int]int{}
		for i := range 1000 {
			name := fmt.Sprint("agent-", i)
			parts := map[int]bool{PartOf("ns", name, layout.Parts): true}
			if layout.Before > 0 {
				parts[PartOf("ns", name, layout.Before)] = true
			}
			for index := range layout.Parts {
				if layout.Holds(index, NameHash("ns", name)) != parts[index] {
					t.Fatalf("%s in part %d of %+v", name, index, layout)
				}
			}
			held[PartOf("ns", name, layout.Parts)]++
		}
		for index, tokens := range held {
			if fair := 1000 / layout.Parts; tokens > 3*fair+10 {
				t.Errorf("part %d of %d has %d of 1000 tokens", index, layout.Parts, tokens)
			}
		}
	}
	for tokens, parts := range map[int]int{0: 1, 256: 1, 257: 4, 1024: 4, 10_000: 64, 50_000: 256, 1 << 30: MaxTokenParts} {
		if got := PartsFor(tokens); got != parts {
			t.Errorf("%d tokens need %d parts, not %d", tokens, got, parts)
		}
	}
}

func TestAConfigThatNoServerCouldWorkWithIsNotValid(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*Config){
		"requires":                         func(c *Config) { c.Requires = []string{"more"} },
		"layout":                           func(c *Config) { c.Layout.Parts = 3 },
		"layout: 4 parts after 4":          func(c *Config) { c.Layout.Before = 4 },
		"groups[0].name":                   func(c *Config) { c.Groups[0].Name = "" },
		"groups[0].rules[0].models":        func(c *Config) { c.Groups[0].Rules[0].Models = nil },
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
		"models[0].searchMode":             func(c *Config) { c.Models[0].SearchMode = "Auto" },
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
	main, err := EncodeMain(valid())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(main[PartKeyConfig], "7", "main")
	f.Fuzz(func(_ *testing.T, packed []byte, revision, index string) {
		// No input may panic or take the memory; what is taken has been validated.
		part := Part{PartKeyRevision: []byte(revision), PartKeyIndex: []byte(index), PartKeyConfig: packed}
		_, _ = DecodeMain(part)
		_, _ = DecodeTokens(part, 0)
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
