package packaging

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// components are the folders below config/components, with the values by which the chart does the same.
var components = map[string][]string{
	"pod-monitor":     {"metrics.podMonitor.enabled=true"},
	"service-monitor": {"metrics.serviceMonitor.enabled=true"},
	"network-policy":  {"networkPolicy.enabled=true", "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.metrics=enabled"},
	"high-availability": {"replicas=2", "podDisruptionBudget.enabled=true", "topologySpreadConstraints[0].maxSkew=1",
		"topologySpreadConstraints[0].topologyKey=kubernetes.io/hostname", "topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway"},
	"secret-opt-in": {"requireSecretOptIn=true"},
}

// renderComponents renders a folder of config with some of the components.
func renderComponents(t *testing.T, base string, names ...string) []object {
	t.Helper()
	folder := t.TempDir()
	relative := func(path string) string {
		t.Helper()
		absolute, err := filepath.Abs(filepath.Join(root, "config", path))
		if err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Rel(folder, absolute)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	text := "resources: [" + relative(base) + "]\ncomponents:\n"
	for _, name := range names {
		text += "- " + relative("components/"+name) + "\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return renderKustomization(t, folder)
}

// Each component adds to config/default what the chart's values add to the chart: the same objects, the same manager.
func TestComponentsDoWhatTheChartDoes(t *testing.T) {
	entries, err := os.ReadDir(root + "/config/components")
	if err != nil || len(entries) != len(components) {
		t.Fatalf("%d folders below config/components, want %d: %v", len(entries), len(components), err)
	}
	for name, values := range components {
		t.Run(name, func(t *testing.T) {
			want := optional(t, renderChart(t, values...))
			for _, base := range []string{"default", "namespaced"} {
				got := optional(t, renderComponents(t, base, name))
				if base == "namespaced" { // its manager has one argument more
					got["args"] = slices.DeleteFunc(got["args"].([]any), func(a any) bool { return strings.HasPrefix(a.(string), "--namespace=") })
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("config/%s with the component, and the chart, differ (-chart +config):\n%s", base, diff)
				}
			}
			if diff := cmp.Diff(want, optional(t, renderChart(t))); diff == "" {
				t.Error("it adds nothing")
			}
		})
	}
}

// optional may be added to an installation: objects by their kinds, and what the Deployment says of its pods. The
// chart's labels name its release.
func optional(t *testing.T, objects []object) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, kind := range []string{"PodMonitor", "ServiceMonitor", "NetworkPolicy", "PodDisruptionBudget"} {
		for _, o := range ofKind(objects, kind) {
			if o.GetNamespace() != namespace {
				t.Errorf("%s %s is in namespace %q", kind, o.GetName(), o.GetNamespace())
			}
			found[kind] = nested(t, o, "spec")
		}
	}
	deployment := the(t, objects, "Deployment")
	found["replicas"] = nested(t, deployment, "spec", "replicas")
	found["args"] = managerContainer(t, objects)["args"]
	found["spread"], _, _ = unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "topologySpreadConstraints")
	return withoutRelease(found).(map[string]any)
}

// withoutRelease is a value without the label of a Helm release in it.
func withoutRelease(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "app.kubernetes.io/instance")
		for key, inner := range v {
			v[key] = withoutRelease(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withoutRelease(inner)
		}
	}
	return value
}
