package monitoring

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	_ "github.com/mcp-admin/mcp-admin-operator/controllers" // registers the manager's metrics
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// known are the metrics of the programs, with the labels of each.
type known map[string][]string

// targetLabels are the labels that prometheus-operator gives each target, the one that the PodMonitor of an endpoint adds, and
// what Prometheus makes of a label of the metric's own that has the same name as one of these.
var targetLabels = []string{"namespace", "pod", "job", "instance", "container", "mcpadmin_dev_endpoint", "exported_namespace"}

var (
	typeLine    = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	sampleLine  = regexp.MustCompile(`(?m)^(\w+)\{([^}]*)\}`)
	sampleLabel = regexp.MustCompile(`(\w+)="`)
	description = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
)

// programs are the metrics of server and manager.
func programs(t *testing.T) known {
	t.Helper()
	all := known{}
	all.readServer()
	all.readManager(t)
	if len(all) < 60 {
		t.Fatalf("only %d metrics were found", len(all))
	}
	return all
}

func (k known) add(name string, labels ...string) {
	k[name] = append(k[name], labels...)
}

// addSamples adds the names that the samples of a metric have if it is a histogram.
func (k known) addSamples(name string, labels []string) {
	k.add(name, labels...)
	k.add(name+"_bucket", append(slices.Clone(labels), "le")...)
	k.add(name+"_count", labels...)
	k.add(name+"_sum", labels...)
}

// readServer reads what a server shows that has counted one of everything: a metric with labels is there from its first value.
func (k known) readServer() {
	m := telemetry.NewMetrics()
	m.NextExpiry(func(now time.Time) time.Time { return now.Add(time.Hour) })
	m.Request(telemetry.FormSimple, "tools/call", 200, time.Millisecond)
	m.ToolCall("list", telemetry.OutcomeOK)
	m.CallerRefused("unknown")
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text := answer.Body.String()
	for _, match := range typeLine.FindAllStringSubmatch(text, -1) {
		k.add(match[1])
	}
	for _, sample := range sampleLine.FindAllStringSubmatch(text, -1) {
		var labels []string
		for _, label := range sampleLabel.FindAllStringSubmatch(sample[2], -1) {
			labels = append(labels, label[1])
		}
		k.add(sample[1], labels...)
	}
}

// readManager reads the descriptions in controller-runtime's registry, and the names in the source of the program itself, which
// no test can import.
func (k known) readManager(t *testing.T) {
	t.Helper()
	registry, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatal("controller-runtime's registry does not describe its metrics")
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descriptions)
		close(descriptions)
	}()
	for d := range descriptions {
		match := description.FindStringSubmatch(d.String())
		if match == nil {
			t.Fatalf("this is no description of a metric: %s", d)
		}
		k.addSamples(match[1], strings.FieldsFunc(match[2], func(r rune) bool { return r == ',' || r == ' ' }))
	}
	files, err := filepath.Glob(root + "/cmd/manager/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, name := range optionNames(t, file) {
			k.add(name)
		}
	}
}

// optionNames are the names in a file's literals of prometheus.GaugeOpts and its like.
func optionNames(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		kind, ok := literal.Type.(*ast.SelectorExpr)
		if !ok || !strings.HasSuffix(kind.Sel.Name, "Opts") {
			return true
		}
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, isName := pair.Key.(*ast.Ident)
			value, isText := pair.Value.(*ast.BasicLit)
			if isName && isText && key.Name == "Name" {
				if name, err := strconv.Unquote(value.Value); err == nil {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

var (
	ofText     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	selector   = regexp.MustCompile(`([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	grouping   = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	window     = regexp.MustCompile(`\[[^\]]*\]|\boffset\s+\w+`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][\w:]*(\s*\()?`)
)

// operators are the words of PromQL that stand where a metric could.
var operators = []string{"and", "or", "unless", "bool", "offset", "by", "on"}

// named are the metrics that an expression names, with the labels that it asks each for. It reads what the rules and panels
// use of PromQL.
func named(expression string) map[string][]string {
	found := map[string][]string{}
	plain := ofText.ReplaceAllString(expression, `""`)
	for _, match := range selector.FindAllStringSubmatch(plain, -1) {
		for _, label := range matcher.FindAllStringSubmatch(match[2], -1) {
			found[match[1]] = append(found[match[1]], label[1])
		}
	}
	plain = selector.ReplaceAllString(plain, "$1")
	plain = window.ReplaceAllString(grouping.ReplaceAllString(plain, " "), " ")
	for _, word := range identifier.FindAllString(plain, -1) {
		if !strings.HasSuffix(word, "(") && !slices.Contains(operators, word) {
			found[word] = append(found[word], []string{}...)
		}
	}
	return found
}

func TestTheNamesInAnExpressionAreFound(t *testing.T) {
	for expression, want := range map[string]string{
		`max by (a) (x{b="y{z}", c=~"d|e"}) > 0`:                                  `x`,
		`histogram_quantile(0.9, sum by (le) (rate(h_bucket[$__rate_interval])))`: `h_bucket`,
		`a_b and on (c) time() - d < 3600 or vector(0)`:                           `a_b d`,
		`absent(q{name="n"}) or max_over_time(r[1d] offset 7d) unless s`:          `q r s`,
		`label_values(m{namespace="$namespace"}, other)`:                          `m other`,
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(named(expression))), " "); got != want {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// check holds an expression against what the programs have.
func (k known) check(t *testing.T, what, expression string) {
	t.Helper()
	metrics := named(expression)
	if len(metrics) == 0 {
		t.Errorf("%s names no metric: %s", what, expression)
	}
	var labels []string
	for name, asked := range metrics {
		if _, ok := k[name]; !ok {
			t.Errorf("%s names %s, which no program has", what, name)
			continue
		}
		has := append(slices.Clone(k[name]), targetLabels...)
		labels = append(labels, has...)
		for _, label := range asked {
			if !slices.Contains(has, label) {
				t.Errorf("%s asks for the label %s of %s, which has %q", what, label, name, k[name])
			}
		}
	}
	for _, match := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(strings.ReplaceAll(match[1], " ", ""), ",") {
			if !slices.Contains(labels, label) {
				t.Errorf("%s groups by the label %s, which none of its metrics has", what, label)
			}
		}
	}
}

// rowOfQuestion is a row of the tables of docs/operations.md: metric, meaning, question, alert.
var rowOfQuestion = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| [^|]+ \\| `([^|]+)` \\| [^|]*\\|$")

func TestEachQuestionOfThePageOfOperationsCanBeAsked(t *testing.T) {
	all := programs(t)
	rows := rowOfQuestion.FindAllStringSubmatch(read(t, root+"/docs/operations.md"), -1)
	for _, row := range rows {
		all.check(t, "the question about "+row[1], row[2])
	}
	if len(rows) < 20 {
		t.Errorf("only %d questions were found", len(rows))
	}
}

func TestEachMetricOfARuleExists(t *testing.T) {
	all := programs(t)
	_, rules := readRules(t)
	for _, r := range rules {
		all.check(t, r.Alert, r.Expr)
	}
}
