package monitoring

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
)

const (
	root     = "../.."
	ruleFile = root + "/config/monitoring/rules.yaml"
	runbooks = root + "/docs/runbooks"
	// runbookURL is where the pages are read by a person on call.
	runbookURL = "https://github.com/mcp-admin/mcp-admin-operator/blob/main/docs/runbooks/"
)

// rule is an alert, as Prometheus reads it.
type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// ruleSpec is the spec of a PrometheusRule, which is also the form of a file of rules for Prometheus itself.
type ruleSpec struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

// readRules returns the spec of the PrometheusRule and all of its alerts.
func readRules(t *testing.T) (ruleSpec, []rule) {
	t.Helper()
	var object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       ruleSpec       `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, ruleFile)), &object); err != nil {
		t.Fatal(err)
	}
	if object.Kind != "PrometheusRule" || object.APIVersion != "monitoring.coreos.com/v1" {
		t.Fatalf("%s holds a %s of %s", ruleFile, object.Kind, object.APIVersion)
	}
	var all []rule
	for _, group := range object.Spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return object.Spec, all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachAlertSaysWhatAPersonOnCallNeeds(t *testing.T) {
	_, rules := readRules(t)
	names := map[string]bool{}
	for _, r := range rules {
		if names[r.Alert] || !strings.HasPrefix(r.Alert, "MCP") {
			t.Errorf("%s is there twice, or does not begin with MCP", r.Alert)
		}
		names[r.Alert] = true
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s has the severity %q", r.Alert, r.Labels["severity"])
		}
		for _, name := range []string{"summary", "description"} {
			if len(strings.Fields(r.Annotations[name])) < 4 {
				t.Errorf("%s has the %s %q", r.Alert, name, r.Annotations[name])
			}
		}
		if got, want := r.Annotations["runbook_url"], runbookURL+r.Alert+".md"; got != want {
			t.Errorf("%s has the runbook %s, want %s", r.Alert, got, want)
		}
	}
}

// reasonOfFor is a comment before an alert that says why its "for" is as long as it is.
var reasonOfFor = regexp.MustCompile(`(?m)^    # for: .+\n(?:    # .+\n)*    - alert: (\w+)$`)

func TestEachAlertSaysWhyItWaitsSoLong(t *testing.T) {
	_, rules := readRules(t)
	told := map[string]bool{}
	for _, match := range reasonOfFor.FindAllStringSubmatch(read(t, ruleFile), -1) {
		told[match[1]] = true
	}
	for _, r := range rules {
		if !told[r.Alert] {
			t.Errorf("no comment before %s begins with \"for:\" and says why it waits for %q", r.Alert, r.For)
		}
	}
}

// usedLabel is a label that an annotation shows.
var usedLabel = regexp.MustCompile(`\$labels\.(\w+)`)

// An expression that leaves a label out would leave a hole in the text.
func TestAnAnnotationShowsOnlyLabelsThatTheExpressionKeeps(t *testing.T) {
	_, rules := readRules(t)
	for _, r := range rules {
		for name, text := range r.Annotations {
			for _, match := range usedLabel.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(keptLabels(r.Expr), match[1]) {
					t.Errorf("the %s of %s shows the label %s, and the expression keeps %q", name, r.Alert, match[1], keptLabels(r.Expr))
				}
			}
		}
	}
}

// firstBy is the list of labels that the first aggregation of an expression keeps.
var firstBy = regexp.MustCompile(`\bby \(([^)]*)\)`)

func keptLabels(expression string) []string {
	match := firstBy.FindStringSubmatch(expression)
	if match == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(match[1], " ", ""), ",")
}

// pageParts are the parts that each page has, in this order.
var pageParts = []string{"## What it means", "## How to see it", "## What to do", "## Is it over?"}

func TestEachAlertHasAPageAndEachPageAnAlert(t *testing.T) {
	_, rules := readRules(t)
	index := read(t, runbooks+"/README.md")
	files, err := filepath.Glob(runbooks + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, file := range files {
		pages[strings.TrimSuffix(filepath.Base(file), ".md")] = true
	}
	delete(pages, "README")
	for _, r := range rules {
		if !pages[r.Alert] {
			t.Errorf("docs/runbooks has no page %s.md", r.Alert)
			continue
		}
		delete(pages, r.Alert)
		if row := fmt.Sprintf("| [%s](%s.md) | %s | %s |\n", r.Alert, r.Alert, r.Labels["severity"], cmp.Or(r.For, "at once")); !strings.Contains(index, row) {
			t.Errorf("docs/runbooks/README.md has no row %s", row)
		}
		checkPage(t, r)
	}
	for name := range pages {
		t.Errorf("docs/runbooks/%s.md is about no alert", name)
	}
}

// checkPage holds a page against its form: a person on call reads it at night.
func checkPage(t *testing.T, r rule) {
	t.Helper()
	page := read(t, filepath.Join(runbooks, r.Alert+".md"))
	if !strings.HasPrefix(page, "# "+r.Alert+"\n") {
		t.Errorf("the page of %s does not begin with its name", r.Alert)
	}
	at := 0
	for _, part := range pageParts {
		next := strings.Index(page, "\n"+part+"\n")
		if next < at {
			t.Errorf("the page of %s lacks %q, or has it in another place", r.Alert, part)
		}
		at = next
	}
	if words := len(strings.Fields(page)); words > 250 {
		t.Errorf("the page of %s has %d words, want 250 at most", r.Alert, words)
	}
}

func TestThePageOfMetricsNamesEachAlert(t *testing.T) {
	_, rules := readRules(t)
	page := read(t, root+"/docs/metrics.md")
	for _, r := range rules {
		if !strings.Contains(page, "["+r.Alert+"](runbooks/"+r.Alert+".md)") {
			t.Errorf("docs/metrics.md has no link to the page of %s", r.Alert)
		}
	}
}

// reasonsOf is the list of reasons in an expression.
var reasonsOf = regexp.MustCompile(`reason[!=]~"([^"]+)"`)

// A reason through which every change passes must not page after ten minutes, and none may be left out of both alerts.
func TestTheAlertsOfEndpointsKnowTheReasonsThatPass(t *testing.T) {
	_, rules := readRules(t)
	listed := func(alert string) []string {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.Alert == alert })
		return slices.Sorted(slices.Values(strings.Split(reasonsOf.FindStringSubmatch(rules[i].Expr)[1], "|")))
	}
	passing := []string{"None"} // before the first status
	for reason, outcome := range condition.Outcomes {
		if outcome == condition.Waiting && reason != v1alpha1.ReasonPaused {
			passing = append(passing, reason)
		}
	}
	slices.Sort(passing)
	if got := listed("MCPEndpointStuck"); !slices.Equal(got, passing) {
		t.Errorf("MCPEndpointStuck has the reasons %q, want %q", got, passing)
	}
	chosen := slices.Sorted(slices.Values(append(passing, v1alpha1.ReasonPaused, v1alpha1.ReasonScaledToZero)))
	if got := listed("MCPEndpointNotReady"); !slices.Equal(got, chosen) {
		t.Errorf("MCPEndpointNotReady leaves the reasons %q out, want %q", got, chosen)
	}
}
