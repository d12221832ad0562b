package can

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// can runs the command over a file of manifests, and returns what it printed and its error.
func can(t *testing.T, manifests string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command := Command()
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs(append(args, "-f", file))
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

const shop = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: shop}
spec:
  database: {sqlite: {emptyDir: {}}}
  groups:
  - name: readers
    permissions: [{models: ["*"], verbs: [view]}]
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order, namespace: shop}
spec: {endpointRef: {name: shop}, table: {name: orders}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order-again, namespace: shop}
spec: {endpointRef: {name: shop}, table: {name: orders}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent, namespace: shop}
spec: {endpointRef: {name: shop}, groups: [readers]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: old, namespace: shop}
spec: {endpointRef: {name: shop}, groups: [readers], expiry: "2020-01-01T00:00:00Z"}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: outsider, namespace: other}
spec: {endpointRef: {name: shop, namespace: shop}, groups: [readers]}
`

func TestRightsAreShownWithoutACluster(t *testing.T) {
	for args, wants := range map[string][]string{
		"agent":                 {"MCPToken shop/agent of MCPEndpoint shop/shop (groups readers)\n\nMODEL", "order   yes    -     -        -        -        -         -         all\n", `order-again is not served: table "orders" belongs to`},
		"agent order --explain": {"  view: yes, by group readers\n", "  add: no: no rule of the token or its groups grants add on order\n"},
		"old":                   {"It lets nobody in now: the token expired at 2020-01-01T00:00:00Z", "order   yes"},
		"outsider":              {"does not allow tokens of namespace other (spec.allowedTokens)"},
		"agent -o json":         {`"inForce": true`, `"model": "order"`, `"all": true`},
		"agent -n shop order":   {"order   yes"},
	} {
		out, err := can(t, shop, strings.Fields(args)...)
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", args, want, out)
			}
		}
	}
}

func TestUnknownTokensAndModelsAreReported(t *testing.T) {
	for args, want := range map[string]string{
		"agnt":              `the files hold no MCPToken "agnt"`,
		"agent -n other":    `the files hold no MCPToken "agent"`,
		"agent ordr":        `the endpoint has no model "ordr"; the nearest is "order"`,
		"agent customers":   `the endpoint has no model "customers"`,
		"outsider -n shop":  `the files hold no MCPToken "outsider"`,
		"agent order-again": `model "order-again" is not served: `,
	} {
		if out, err := can(t, shop, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}
