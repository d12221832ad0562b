package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"

	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

// ofTheReader are the objects that the documents' commands name, as if the reader had made them.
const ofTheReader = `
apiVersion: v1
kind: Namespace
metadata: {name: sales}
---
apiVersion: v1
kind: Secret
metadata: {name: shop-db, namespace: default}
---
apiVersion: v1
kind: Secret
metadata: {name: my-agent, namespace: default}
stringData: {mcp.json: "{}"}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: default}
spec: {database: {connectionSecretRef: {name: shop-db}}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: my-agent, namespace: default}
spec: {endpointRef: {name: shop}}
---
apiVersion: v1
kind: Secret
metadata: {name: support-agent, namespace: sales}
stringData: {token: mcp_text}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: sales}
spec: {database: {connectionSecretRef: {name: shop-db}}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: support-agent, namespace: sales}
spec: {endpointRef: {name: shop}}
`

// ready is a condition as the manager would have written it.
const ready = `{"status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "",
  "lastTransitionTime": "2026-11-22T10:00:00Z"}]}}`

func TestEveryCommandAboutObjectsOfTheReaderIsUnderstood(t *testing.T) {
	environment, _ := apiserver.Start(t, filepath.Join(root, "config/crd/bases"))
	assets, err := filepath.Abs(environment.BinaryAssetsDirectory)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", assets) // where the blocks find kubectl
	admin, err := environment.AddUser(envtest.User{Name: "reader", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := admin.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	built := programs(t)
	for _, path := range documents(t) {
		blocks := slices.DeleteFunc(blocksOf(t, path), func(b pages.Block) bool { return b.Needs != "objects" })
		for i := range blocks {
			s := pages.NewSession(t.TempDir(), checkout, built)
			s.Environment = append(s.Environment, "KUBECONFIG="+file)
			makeObjects(t, s)
			output, err := s.Run(t.Context(), &blocks[i])
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			done.ran++
			t.Logf("%s, line %d:\n%s", path, blocks[i].Line, output)
		}
	}
}

// makeObjects makes what the reader has, once more if a block before has changed it.
func makeObjects(t *testing.T, s *pages.Session) {
	t.Helper()
	run := func(input string, args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
		command.Env, command.Stdin = s.Environment, strings.NewReader(input)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, output)
		}
	}
	run(ofTheReader, "apply", "--server-side", "--force-conflicts", "-f", "-")
	run("", "patch", "mcptoken", "my-agent", "--subresource=status", "--type=merge", "-p", ready)
}
