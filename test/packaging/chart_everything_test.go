package packaging

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// renderWith renders the chart and its test with a file of values, and more of them.
func renderWith(t *testing.T, file string, values ...string) []object {
	t.Helper()
	args := []string{"template", "mcp-admin", chart, "--namespace", namespace, "--values", file}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	out, failure := run(tool(t, "helm"), args...)
	if failure != "" {
		t.Fatal(failure)
	}
	return decode(t, out)
}

func TestChartHasWhatAdministratorsAskFor(t *testing.T) {
	objects := renderWith(t, "testdata/everything.yaml")
	manager := ofKind(objects, "Deployment")[0]
	container := managerContainer(t, objects)
	if got, want := container["image"], "r.example.com/mirror/manager@sha256:"; len(got.(string)) != len(want)+64 || got.(string)[:len(want)] != want {
		t.Errorf("the image is %v", got)
	}
	for _, want := range []any{
		"--zap-log-level=3", "--zap-encoder=console", "--server-image-pull-policy=IfNotPresent", "--server-image-pull-secret=mirror",
		"--allow-server-image=r.example.com/*", "--require-secret-opt-in", "--leader-elect-retry-period=200ms",
	} {
		if !slices.Contains(container["args"].([]any), want) {
			t.Errorf("the arguments lack %v: %v", want, container["args"])
		}
	}
	if got := environment(container); got["HTTPS_PROXY"] != "http://proxy.example.com:3128" || got["MCP_ADMIN_SERVER_IMAGE"] != "r.example.com/mirror/server:v9" ||
		got["MCP_ADMIN_DUCKDB_SERVER_IMAGE"] != "r.example.com/mirror/server-duckdb:v9" {
		t.Errorf("the variables are %v", got)
	}
	if mounts := container["volumeMounts"].([]any); len(mounts) != 1 {
		t.Errorf("the mounts are %v", mounts)
	}

	selected := nested(t, manager, "spec", "selector", "matchLabels")
	spread := nested(t, manager, "spec", "template", "spec", "topologySpreadConstraints").([]any)
	if diff := cmp.Diff(selected, spread[0].(map[string]any)["labelSelector"].(map[string]any)["matchLabels"]); diff != "" {
		t.Errorf("a constraint without a selector does not count the manager's pods:\n%s", diff)
	}
	if own := spread[1].(map[string]any)["labelSelector"].(map[string]any)["matchLabels"].(map[string]any); own["team"] != "data" || len(own) != 1 {
		t.Errorf("a constraint's own selector became %v", own)
	}
	for kind, path := range map[string][]string{
		"PodDisruptionBudget": {"spec", "selector", "matchLabels"}, "NetworkPolicy": {"spec", "podSelector", "matchLabels"},
		"PodMonitor": {"spec", "selector", "matchLabels"}, "ServiceMonitor": {"spec", "selector", "matchLabels"},
	} {
		if diff := cmp.Diff(selected, nested(t, the(t, objects, kind), path...)); diff != "" {
			t.Errorf("the %s selects others than the manager's pods:\n%s", kind, diff)
		}
	}
	monitor := the(t, objects, "PodMonitor")
	if labels := monitor.GetLabels(); labels["release"] != "prometheus" {
		t.Errorf("the PodMonitor's labels are %v", labels)
	}
	var names []string
	for _, o := range ofKind(objects, "ConfigMap") {
		if o.GetLabels()["grafana_dashboard"] == "" {
			names = append(names, o.GetName())
		}
	}
	if want := []string{"mcp-admin-one", "mcp-admin-mcp-admin-operator-two"}; !slices.Equal(names, want) {
		t.Errorf("the extra objects are %v, want %v", names, want)
	}
}

// The test's pod must not be one of the manager's, for a Service, a monitor or a budget; and its rights are one Lease.
func TestTheChartsTestHasNoRightsButOne(t *testing.T) {
	objects := renderWith(t, "testdata/everything.yaml")
	pod := the(t, objects, "Pod")
	for _, o := range objects {
		want := "before-hook-creation,hook-succeeded"
		if o.GetKind() == "Pod" {
			want = "before-hook-creation"
		}
		if o.GetAnnotations()["helm.sh/hook"] == "test" && o.GetAnnotations()["helm.sh/hook-delete-policy"] != want {
			t.Errorf("%s %s would be there when a second test begins, or when the release is gone", o.GetKind(), o.GetName())
		}
	}
	selected := nested(t, the(t, objects, "Deployment"), "spec", "selector", "matchLabels").(map[string]any)
	if pod.GetLabels()["app.kubernetes.io/component"] == selected["app.kubernetes.io/component"] {
		t.Error("the manager's Deployment selects the test's pod")
	}
	account := nested(t, pod, "spec", "serviceAccountName")
	var rules []rbacv1.PolicyRule
	for _, role := range ofKind(objects, "Role") {
		if role.GetName() == account {
			var parsed rbacv1.Role
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &parsed); err != nil {
				t.Fatal(err)
			}
			rules = append(rules, parsed.Rules...)
		}
	}
	want := []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"mcp-admin-manager.mcpadmin.dev"}, Verbs: []string{"get"},
	}}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("its rights (-want +got):\n%s", diff)
	}
}
