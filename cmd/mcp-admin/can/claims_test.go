package can

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const corp = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: shop}
spec:
  database: {sqlite: {emptyDir: {}}}
  network: {externalURL: "https://shop.example"}
  authentication: {oidc: [{name: corp, url: "https://id.example", algorithms: [ES256]}]}
  groups:
  - {name: readers, permissions: [{models: ["*"], verbs: [view]}]}
  - {name: clerks, permissions: [{models: ["*"], verbs: [view, change]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order, namespace: shop}
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  expose: true
  rowPolicies:
  - {name: own-region, groups: [readers, clerks], filters: [{field: region, tokenAttribute: region}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: staff, namespace: shop}
spec:
  endpointRef: {name: shop}
  groups: [readers]
  oidc:
    issuer: corp
    claims: {org: shop}
    attributes: {region: claims.region}
    groups: {expression: claims.roles, among: [clerks]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: night, namespace: shop}
spec: {endpointRef: {name: shop}, groups: [readers], oidc: {issuer: corp, claims: {shift: night}}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: gone, namespace: shop}
spec: {endpointRef: {name: shop}, groups: [readers], oidc: {issuer: corp, subject: eve}, active: false}
`

func TestACallersClaimsGiveGroupsAttributesAndRows(t *testing.T) {
	for claims, wants := range map[string][]string{
		`{"sub": "anna", "org": "shop", "roles": ["clerks", "owners"], "region": "north"}`: {
			"Caller anna of issuer corp", "Taken as good, as not given: iss, exp, aud", "MCPToken shop/staff of MCPEndpoint shop/shop (groups readers, clerks)",
			"attribute region: north", "order   yes    -     yes", "policy own-region", "tools/list has at most",
		},
		`{"sub": "ben", "org": ["x", "shop"]}`:             {"(groups readers)", "order   yes    -     -", "none"},
		`{"sub": "anna", "org": "shop", "shift": "night"}`: {"does not let the caller in: MCPTokens shop/", "are both for the caller"},
		`{"sub": "eve"}`:  {"does not let the caller in: no MCPToken in force is for the caller"},
		`{"org": "shop"}`: {"the claim sub must be a text"},
		`{"sub": "anna", "org": "shop", "exp": 1}`:                   {"the token has expired (exp)"},
		`{"sub": "anna", "org": "shop", "aud": "https://x.example"}`: {"issued for others (aud): the endpoint takes https://shop.example/mcp"},
		`{"sub": "a\u202eb\u001b[2J", "org": "shop"}`:                {`Caller a\u202eb\x1b[2J of issuer corp`},
	} {
		out, err := can(t, corp, "--claims", claimsFile(t, claims))
		if err != nil {
			t.Errorf("%s: %v", claims, err)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", claims, want, out)
			}
		}
	}
	if out, err := can(t, corp, "--claims", claimsFile(t, `{"sub": "anna", "org": "shop"}`), "order", "-o", "json"); err != nil || !strings.Contains(out, `"subject": "anna"`) || !strings.Contains(out, `"token": "shop/staff"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func claimsFile(t *testing.T, claims string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(file, []byte(claims), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrongClaimsAndIssuersAreToldInWords(t *testing.T) {
	for _, row := range []struct {
		claims, want string
		args         []string
	}{
		{`[]`, "the claims must be a JSON object", nil},
		{`{"sub": "anna"`, "the claims must be a JSON object", nil},
		{`aaaa.bbbb.cccc`, "this is a whole token", nil},
		{`{"sub": "` + strings.Repeat("x", 17<<10) + `"}`, "more than 16384 bytes", nil},
		{`{"iss": "https://other.example"}`, `no issuer with the URL "https://other.example"`, nil},
		{`{"sub": "anna"}`, `has no issuer "crop"; the nearest is "corp"`, []string{"--issuer", "crop"}},
		{`{"iss": "https://other.example"}`, "knows the issuer corp by the URL https://id.example", []string{"--issuer", "corp"}},
	} {
		if out, err := can(t, corp, append(row.args, "--claims", claimsFile(t, row.claims))...); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.40s: %v, want %q\n%s", row.claims, err, row.want, out)
		}
	}
	if _, err := can(t, shop, "--claims", claimsFile(t, `{"sub": "anna"}`)); err == nil || !strings.Contains(err.Error(), "lets in no callers of identity providers") {
		t.Error(err)
	}
	if _, err := can(t, corp, "staff", "--issuer", "corp"); err == nil || !strings.Contains(err.Error(), "are for --claims") {
		t.Error(err)
	}
}
