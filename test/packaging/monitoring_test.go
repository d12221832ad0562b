package packaging

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The chart and config/monitoring bring the same alerts and dashboards. The chart must not take what Prometheus and Grafana
// find between braces for templates of its own.
func TestChartHasTheRulesAndDashboardsOfTheKustomization(t *testing.T) {
	want := monitoring(t, renderKustomization(t, root+"/config/monitoring"))
	got := monitoring(t, renderChart(t, "monitoring.rules.enabled=true", "monitoring.dashboards.enabled=true"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config/monitoring and the chart differ (-config +chart):\n%s", diff)
	}
	if len(want) != 4 {
		t.Errorf("%d objects, want a PrometheusRule and three dashboards", len(want))
	}
	if none := monitoring(t, renderChart(t)); len(none) != 0 {
		t.Errorf("without the values there are %v", none)
	}
}

// monitoring are the rules, by their kind, and the dashboards, by the names of their files.
func monitoring(t *testing.T, objects []object) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, o := range ofKind(objects, "PrometheusRule") {
		found[o.GetKind()] = nested(t, o, "spec")
	}
	for _, o := range ofKind(objects, "ConfigMap") {
		if o.GetLabels()["grafana_dashboard"] != "1" {
			continue
		}
		if o.GetNamespace() != namespace {
			t.Errorf("ConfigMap %s is in namespace %q", o.GetName(), o.GetNamespace())
		}
		for name, text := range nested(t, o, "data").(map[string]any) {
			found[name] = text
		}
	}
	return found
}

func TestChartPutsRulesAndDashboardsWhereTheyAreRead(t *testing.T) {
	objects := renderWith(t, "testdata/everything.yaml")
	rule := the(t, objects, "PrometheusRule")
	if rule.GetNamespace() != "monitoring" || rule.GetLabels()["release"] != "prometheus" {
		t.Errorf("the rules are in namespace %q with the labels %v", rule.GetNamespace(), rule.GetLabels())
	}
	dashboards := 0
	for _, o := range ofKind(objects, "ConfigMap") {
		if labels := o.GetLabels(); labels["grafana_dashboard"] == "1" {
			if dashboards++; o.GetNamespace() != "grafana" || labels["folder"] != "mcp" {
				t.Errorf("%s is in namespace %q with the labels %v", o.GetName(), o.GetNamespace(), labels)
			}
		}
	}
	if dashboards != 3 {
		t.Errorf("%d dashboards, want 3", dashboards)
	}
}
