package doctor

import (
	"regexp"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var placeholder = regexp.MustCompile(`NAME|KIND|WORKLOAD`)

func TestCommandsAreWhole(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "books"}
	endpoint := subject{kind: "MCPEndpoint", object: &v1alpha1.MCPEndpoint{ObjectMeta: meta}, workload: "books-mcp"}
	token := subject{kind: "MCPToken", object: &v1alpha1.MCPToken{ObjectMeta: meta}}
	for reason := range commands {
		for _, s := range []subject{endpoint, token} {
			if c := command(s, reason); placeholder.MatchString(c) {
				t.Errorf("%s of %s: %s", reason, s.kind, c)
			}
		}
	}
	for reason, wants := range map[string][2]string{
		v1alpha1.ReasonRollingOut:    {"kubectl rollout status deployment/books-mcp -n shop", "kubectl describe mcptoken books -n shop"},
		v1alpha1.ReasonGroupNotFound: {"kubectl edit mcpendpoint books -n shop", "kubectl edit mcptoken books -n shop"},
		"SomethingNew":               {"kubectl describe mcpendpoint books -n shop", "kubectl describe mcptoken books -n shop"},
	} {
		if got := [2]string{command(endpoint, reason), command(token, reason)}; got != wants {
			t.Errorf("%s: %q, want %q", reason, got, wants)
		}
	}
}
