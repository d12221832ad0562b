package controllers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// The table of docs/design/conditions.md, "Reasons and outcomes", names every reason once, with the outcome that it has.
func TestTheTableOfReasons(t *testing.T) {
	documented := reasonTable(t)
	for _, reason := range definedReasons(t) {
		outcome, ok := documented[reason]
		switch {
		case !ok:
			t.Errorf("the table lacks %s, which is %s", reason, controllers.OutcomeOf(reason))
		case outcome != "fine" && outcome != "plan" && outcome != controllers.OutcomeOf(reason):
			t.Errorf("%s is %s, and the table says %s", reason, controllers.OutcomeOf(reason), outcome)
		}
		delete(documented, reason)
	}
	for reason := range documented {
		t.Errorf("the table has %s, which no condition has", reason)
	}
}

// Whatever condition fails for whatever reason, kstatus, Argo CD and Flux say what the table says.
func TestVerdictsOfReasons(t *testing.T) {
	judge, err := newJudge()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]status.Status{
		"final": status.FailedStatus, "trouble": status.InProgressStatus, "interruption": status.InProgressStatus,
		"waiting": status.InProgressStatus, "plan": status.CurrentStatus,
	}
	for kind, table := range controllers.Tables {
		for reason, outcome := range reasonTable(t) {
			for _, failing := range table {
				want, wrong := verdicts[outcome]
				if !wrong {
					continue
				}
				if outcome == "plan" {
					failing = ""
				}
				for _, paused := range []string{"", "true"} {
					obj := &metav1.ObjectMeta{Generation: 2, Annotations: map[string]string{v1alpha1.PausedAnnotation: paused}}
					o := observed(t, kind, obj, controllers.SummariseFailing(kind, obj, failing, reason))
					got, err := judge.verdict(o)
					if err != nil || got != want {
						t.Errorf("%s, %s %s: %s, want %s (%v)", kind, failing, reason, got, want, err)
					}
					if breach := brokenRule(o, got, -1, false); breach != "" && outcome != "plan" {
						t.Errorf("%s, %s %s: %s", kind, failing, reason, breach)
					}
				}
			}
		}
	}
}

func observed(t *testing.T, kind string, obj *metav1.ObjectMeta, conditions []metav1.Condition) *unstructured.Unstructured {
	t.Helper()
	token := &v1alpha1.MCPToken{ObjectMeta: *obj}
	token.Status.ObservedGeneration, token.Status.Conditions = obj.Generation, conditions
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(token)
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: content}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return o
}

var named = regexp.MustCompile("`([A-Z][A-Za-z]+)`")

// reasonTable is the documented outcome of each reason.
func reasonTable(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "design", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !regexp.MustCompile(`^ (fine|plan|waiting|interruption|trouble|final) $`).MatchString(cells[1]) {
			continue
		}
		for _, reason := range named.FindAllStringSubmatch(cells[4], -1) {
			if before, twice := outcomes[reason[1]]; twice {
				t.Errorf("%s is both %s and %s", reason[1], before, strings.TrimSpace(cells[1]))
			}
			outcomes[reason[1]] = strings.TrimSpace(cells[1])
		}
	}
	if len(outcomes) == 0 {
		t.Fatal("no table was found")
	}
	return outcomes
}

// definedReasons are the values of all constants Reason… of the API and the contract.
func definedReasons(t *testing.T) []string {
	t.Helper()
	reasons := map[string]bool{}
	for _, folder := range []string{filepath.Join("..", "api", "v1alpha1"), filepath.Join("..", "contract")} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) == 0 {
					return true
				}
				if value, ok := spec.Values[0].(*ast.BasicLit); ok {
					if text, err := strconv.Unquote(value.Value); err == nil {
						reasons[text] = true
					}
				}
				return true
			})
		}
	}
	if len(reasons) < 30 {
		t.Fatalf("only %d reasons were found", len(reasons))
	}
	return slices.Sorted(maps.Keys(reasons))
}
