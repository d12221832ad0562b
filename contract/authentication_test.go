package contract

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// issuer is one that every rule is met by.
func issuer() Issuer {
	return Issuer{Name: "corp", URL: "https://login.example.com/realms/corp", Audiences: []string{"https://shop.example.com/mcp/"},
		Algorithms: []string{"RS256", "EdDSA"}, ClockSkew: Duration(30 * time.Second), SubjectClaim: "sub", Listed: true, Scopes: []string{"openid"}}
}

// withIdentities is a valid Config whose tokens are for a ServiceAccount, a subject, and callers with claims.
func withIdentities() *Config {
	c := valid()
	c.Endpoint.Authentication = Authentication{
		ServiceAccounts: ServiceAccounts{Check: CheckTokenReview, Audiences: []string{"shop"}}, Issuers: []Issuer{issuer()},
	}
	token := func(name string, i Identity) Token {
		return Token{Revision: 1, Namespace: "ns", Name: name, Identity: &i}
	}
	c.Tokens = []Token{
		token("clerk", Identity{ServiceAccount: "shop/clerk"}),
		token("ann", Identity{Issuer: "corp", Subject: "ann", Attributes: map[string]string{"mail": "claims.email"}}),
		token("staff", Identity{Issuer: "corp", Claims: map[string]string{"/realm/roles": "staff"}, Groups: "claims.groups", Among: []string{"clerks"}}),
	}
	return c
}

func TestTokensWithIdentitiesComeThroughTheirPart(t *testing.T) {
	c := withIdentities()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	part, err := EncodeTokens(&TokenPart{Version: Version, Revision: 3, Tokens: c.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeTokens(part, 0)
	if err != nil || !reflect.DeepEqual(got.Tokens, c.Tokens) {
		t.Errorf("%v: %+v, want %+v", err, got, c.Tokens)
	}
	for i := range got.Tokens {
		if !got.Tokens[i].InForce() {
			t.Errorf("%s is not in force", got.Tokens[i].Name)
		}
	}
	main, err := EncodeMain(c)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := DecodeMain(main); err != nil || !reflect.DeepEqual(read.Endpoint.Authentication, c.Endpoint.Authentication) {
		t.Errorf("%v: %+v", err, read)
	}
}

func TestIdentitiesThatNoServerCouldCheckAreNotValid(t *testing.T) {
	of := func(change func(*Issuer)) func(*Config) {
		return func(c *Config) { change(&c.Endpoint.Authentication.Issuers[0]) }
	}
	identity := func(i Identity) func(*Config) { return func(c *Config) { c.Tokens[0].Identity = &i } }
	claims := map[string]string{"a": "b"}
	for _, tc := range []struct {
		says   string
		change func(*Config)
	}{
		{`serviceAccounts.check: "Never"`, func(c *Config) { c.Endpoint.Authentication.ServiceAccounts.Check = "Never" }},
		{"issuers[0].name", of(func(i *Issuer) { i.Name = "" })},
		{"issuers[1].name", func(c *Config) {
			second := issuer()
			second.URL += "/other"
			c.Endpoint.Authentication.Issuers = append(c.Endpoint.Authentication.Issuers, second)
		}},
		{"issuers[1].url", func(c *Config) {
			second := issuer()
			second.Name = "other"
			c.Endpoint.Authentication.Issuers = append(c.Endpoint.Authentication.Issuers, second)
		}},
		{"issuers[0].url", of(func(i *Issuer) { i.URL = "http://login.example.com" })},
		{"issuers[0].url", of(func(i *Issuer) { i.URL = "https://login.example.com/?tenant=1" })},
		{"issuers[0].url", of(func(i *Issuer) { i.URL = "https://me@login.example.com" })},
		{"issuers[0].url", of(func(i *Issuer) { i.URL = "https:///realms" })},
		{"issuers[0].discoveryURL", of(func(i *Issuer) { i.DiscoveryURL = "file:///etc/passwd" })},
		{"issuers[0].keysURL", of(func(i *Issuer) { i.KeysURL = "http://login.example.com/keys" })},
		{"issuers[0].keysURL: must not", of(func(i *Issuer) { i.KeysURL, i.DiscoveryURL = "https://a/keys", "https://a/configuration" })},
		{"issuers[0].algorithms: is missing", of(func(i *Issuer) { i.Algorithms = nil })},
		{`issuers[0].algorithms: "HS256"`, of(func(i *Issuer) { i.Algorithms = []string{"RS256", "HS256"} })},
		{`issuers[0].algorithms: "none"`, of(func(i *Issuer) { i.Algorithms = []string{"none"} })},
		{"issuers[0].clockSkew", of(func(i *Issuer) { i.ClockSkew = -1 })},
		{"issuers[0].clockSkew", of(func(i *Issuer) { i.ClockSkew = Duration(6 * time.Minute) })},
		{"issuers[0].subjectClaim", of(func(i *Issuer) { i.SubjectClaim = "" })},
		{"either a serviceAccount or an issuer", identity(Identity{})},
		{"either a serviceAccount or an issuer", identity(Identity{ServiceAccount: "a/b", Issuer: "corp", Subject: "x"})},
		{"namespace/name", identity(Identity{ServiceAccount: "clerk"})},
		{"namespace/name", identity(Identity{ServiceAccount: "/clerk"})},
		{"namespace/name", identity(Identity{ServiceAccount: "a/b/c"})},
		{"a serviceAccount has no", identity(Identity{ServiceAccount: "a/b", Claims: claims})},
		{"a serviceAccount has no", identity(Identity{ServiceAccount: "a/b", Groups: "claims.groups", Among: []string{"g"}})},
		{"either a subject or claims", identity(Identity{Issuer: "corp"})},
		{"either a subject or claims", identity(Identity{Issuer: "corp", Subject: "x", Claims: claims})},
		{"name of a claim", identity(Identity{Issuer: "corp", Claims: map[string]string{"": "x"}})},
		{"groups and among", identity(Identity{Issuer: "corp", Subject: "x", Groups: "claims.groups"})},
		{"groups and among", identity(Identity{Issuer: "corp", Subject: "x", Among: []string{"g"}})},
		{"beside hashes", func(c *Config) { c.Tokens[0].Hashes = []string{HashToken("a")} }},
		{"tokens[1].identity: another token", func(c *Config) { c.Tokens[1].Identity = c.Tokens[0].Identity }},
	} {
		c := withIdentities()
		tc.change(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.says, err)
		}
	}
}

func TestKeysOfIdentitiesTellCallersApart(t *testing.T) {
	all := []Identity{
		{ServiceAccount: "shop/clerk"},
		{Issuer: "shop", Subject: "clerk"},
		{Issuer: "shop", Claims: map[string]string{"clerk": ""}},
		{Issuer: "shop", Claims: map[string]string{"": "clerk"}},
		{Issuer: "shop", Claims: map[string]string{"a": `b"c`}},
		{Issuer: "shop", Claims: map[string]string{"a": "b", "c": ""}},
		{Issuer: "shop", Claims: map[string]string{`a""b`: ""}},
	}
	seen := map[string]int{}
	for i := range all {
		key := all[i].Key()
		if other, twice := seen[key]; twice {
			t.Errorf("%+v and %+v have the same key", all[i], all[other])
		}
		seen[key] = i
		mapped := all[i]
		mapped.Attributes, mapped.Groups, mapped.Among = map[string]string{"x": "claims.x"}, "claims.groups", []string{"g"}
		if mapped.Key() != key {
			t.Errorf("what %+v gives its callers is part of the key", all[i])
		}
	}
}
