package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// plainRules writes the rules as a file of Prometheus itself, into a folder of the test's own.
func plainRules(t *testing.T, spec ruleSpec) (folder string) {
	t.Helper()
	folder = t.TempDir()
	text, err := yaml.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "rules.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestPrometheusReadsTheRules(t *testing.T) {
	program := prometheusProgram(t, "promtool")
	spec, rules := readRules(t)
	out, err := exec.Command(program, "check", "rules", "--lint-fatal", filepath.Join(plainRules(t, spec), "rules.yaml")).CombinedOutput()
	if want := fmt.Sprintf("%d rules found", len(rules)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("promtool does not say %q: %v\n%s", want, err, out)
	}
}

// cases is a file of promtool's unit tests.
type cases struct {
	RuleFiles          []string  `json:"rule_files"`
	EvaluationInterval string    `json:"evaluation_interval"`
	Tests              []oneCase `json:"tests"`
}

type oneCase struct {
	Name        string `json:"name"`
	Interval    string `json:"interval"`
	InputSeries []struct {
		Series string `json:"series"`
		Values string `json:"values"`
	} `json:"input_series"`
	PromqlExprTest []question `json:"promql_expr_test"`
	AlertRuleTest  []any      `json:"alert_rule_test,omitempty"`
}

// question is asked of what the rules made of the series.
type question struct {
	Expr       string `json:"expr"`
	EvalTime   string `json:"eval_time"`
	ExpSamples []struct {
		Labels string  `json:"labels"`
		Value  float64 `json:"value"`
	} `json:"exp_samples"`
}

// The questions that a file of an alert asks. Prometheus keeps what fires in a series, so that one question at the end tells
// whether an alert fired at any time.
func firing(alert string) string {
	return fmt.Sprintf(`group by (alertname) (ALERTS{alertname=%q,alertstate="firing"})`, alert)
}

func ever(alert, state string) string {
	return fmt.Sprintf(`group by (alertname) (count_over_time(ALERTS{alertname=%q,alertstate=%q}[30d]))`, alert, state)
}

// Each alert has a file with a case in which it fires and ends, and one in which it must not.
func TestEachAlertFiresAndEndsAndStaysSilent(t *testing.T) {
	_, rules := readRules(t)
	files, err := filepath.Glob("testdata/MCP*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.Alert == name }) {
			t.Errorf("%s is about no alert", file)
		}
	}
	for _, r := range rules {
		checkCases(t, r.Alert)
	}
}

// checkCases holds the file of an alert against its form: promtool would be content with a file that asks nothing.
func checkCases(t *testing.T, alert string) {
	t.Helper()
	file := filepath.Join("testdata", alert+".yaml")
	var all cases
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), &all); err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if !slices.Equal(all.RuleFiles, []string{"rules.yaml"}) || len(all.Tests) == 0 || all.Tests[0].Name != "fires and ends" {
		t.Errorf(`%s does not begin with "fires and ends" of rules.yaml: %v, %d tests`, file, all.RuleFiles, len(all.Tests))
		return
	}
	for _, test := range all.Tests {
		where := fmt.Sprintf("%s, %q", file, test.Name)
		if len(test.InputSeries) == 0 {
			t.Errorf("%s has no series", where)
		}
		switch {
		case strings.HasPrefix(test.Name, "fires"):
			first := slices.IndexFunc(test.PromqlExprTest, func(q question) bool { return q.Expr == firing(alert) && len(q.ExpSamples) == 1 })
			last := len(test.PromqlExprTest) - 1
			if first < 0 || first == last || test.PromqlExprTest[last].Expr != firing(alert) || len(test.PromqlExprTest[last].ExpSamples) != 0 {
				t.Errorf("%s: the alert does not fire first and end last", where)
			}
		case strings.HasPrefix(test.Name, "silent: "):
			if !slices.ContainsFunc(test.PromqlExprTest, func(q question) bool { return q.Expr == ever(alert, "firing") && len(q.ExpSamples) == 0 }) {
				t.Errorf("%s does not ask %s", where, ever(alert, "firing"))
			}
		default:
			t.Errorf("%s says neither that it fires nor that it is silent", where)
		}
	}
	if !slices.ContainsFunc(all.Tests, func(test oneCase) bool { return strings.HasPrefix(test.Name, "silent: ") }) {
		t.Errorf("%s has no near miss", file)
	}
}

func TestPrometheusMakesOfTheSeriesWhatTheCasesSay(t *testing.T) {
	program := prometheusProgram(t, "promtool")
	spec, rules := readRules(t)
	folder := plainRules(t, spec)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fired, wrong := 0, 0
	for _, file := range files {
		path := filepath.Join(folder, filepath.Base(file))
		if err := os.WriteFile(path, []byte(read(t, file)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "test", "rules", path).CombinedOutput()
		switch name := strings.TrimSuffix(filepath.Base(file), ".yaml"); {
		case err != nil:
			wrong++
			t.Errorf("%s: %v\n%s", file, err, out)
		case slices.ContainsFunc(rules, func(r rule) bool { return r.Alert == name }):
			fired++
		}
	}
	if fired != len(rules) && wrong == 0 {
		t.Errorf("%d of %d alerts fired and ended", fired, len(rules))
	}
	tally.rules, tally.fired, tally.wrong = len(rules), fired, tally.wrong+wrong
}
