package child

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The manifests of the manager and the policies of endpoints must agree on what its pods are.
func TestTheManagersPodsHaveTheLabelsThatPoliciesLetThrough(t *testing.T) {
	for key, value := range managerLabels {
		for _, file := range []string{"../../config/manager/deployment.yaml", "../../charts/mcp-admin-operator/templates/_helpers.tpl"} {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(content), key+": "+value+"\n") {
				t.Errorf("%s has no label %s: %s", file, key, value)
			}
		}
	}
}

func TestIntervalsAreWrittenAsPrometheusReadsThem(t *testing.T) {
	for d, want := range map[time.Duration]string{30 * time.Second: "30s", time.Hour: "3600s", 1500 * time.Millisecond: "1500ms"} {
		if got := prometheusDuration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
