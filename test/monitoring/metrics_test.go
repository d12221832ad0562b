package monitoring

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
	_ "github.com/mcp-admin/mcp-admin-operator/controllers" // registers the manager's metrics
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// known are the metrics of the programs, with the labels of each.
type known map[string][]string

// targetLabels are the labels that prometheus-operator gives each target, the one that the PodMonitor of an endpoint adds, and
// what Prometheus makes of a label of the metric's own that has the same name as one of these.
var targetLabels = []string{"namespace", "pod", "job", "instance", "container", "mcpadmin_dev_endpoint", "exported_namespace"}

var (
	description = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	// optionsOf is where a program names a metric of the list.
	optionsOf = regexp.MustCompile(`metric\.\w+Opts\("(\w+)"`)
)

// programs are the metrics of server and manager.
func programs(t *testing.T) known {
	t.Helper()
	all := known{}
	all.readServer(t)
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

// readServer reads the descriptions in a server's registry.
func (k known) readServer(t *testing.T) {
	m := telemetry.NewMetrics()
	m.ReadFrom(func(time.Time) telemetry.Reading { return telemetry.Reading{} })
	k.readDescriptions(t, m)
}

// readManager reads the descriptions in controller-runtime's registry, and the names in the source of the program itself, which
// no test can import.
func (k known) readManager(t *testing.T) {
	t.Helper()
	registry, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatal("controller-runtime's registry does not describe its metrics")
	}
	k.readDescriptions(t, registry)
	files, err := filepath.Glob(root + "/cmd/manager/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, match := range optionsOf.FindAllStringSubmatch(read(t, file), -1) {
			k.add(match[1])
		}
	}
}

// readDescriptions reads what a collector describes, whether it has values or not.
func (k known) readDescriptions(t *testing.T, of prometheus.Collector) {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		of.Describe(descriptions)
		close(descriptions)
	}()
	for d := range descriptions {
		match := description.FindStringSubmatch(d.String())
		if match == nil {
			t.Fatalf("this is no description of a metric: %s", d)
		}
		k.addSamples(match[1], strings.FieldsFunc(match[2], func(r rune) bool { return r == ',' || r == ' ' }))
	}
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

// list are all metrics that the documents tell of.
func list() []metric.Metric { return slices.Concat(metric.Server, metric.Manager) }

func TestEachQuestionOfTheListCanBeAsked(t *testing.T) {
	all := programs(t)
	for _, m := range list() {
		all.check(t, "the question about "+m.Name, m.Question)
		if !strings.Contains(m.Question, m.Name) {
			t.Errorf("the question about %s does not name it: %s", m.Name, m.Question)
		}
	}
}

func TestTheListHasEachMetricOfOursAndNoOther(t *testing.T) {
	server, manager := known{}, known{}
	server.readServer(t)
	manager.readManager(t)
	for program, of := range map[string]struct {
		has  known
		list []metric.Metric
	}{"server": {server, metric.Server}, "manager": {manager, metric.Manager}} {
		listed := map[string]bool{}
		for _, m := range of.list {
			labels, ok := of.has[m.Name]
			if !ok || listed[m.Name] {
				t.Errorf("the list has %s, which the %s does not have, or the list has it twice", m.Name, program)
			}
			listed[m.Name] = true
			for _, label := range labels {
				if !m.Foreign && !strings.Contains(m.Meaning, "`"+label+"`") {
					t.Errorf("the meaning of %s does not name its label `%s`: %s", m.Name, label, m.Meaning)
				}
			}
		}
		for name := range of.has {
			base := name
			for _, end := range []string{"_bucket", "_count", "_sum"} {
				base = strings.TrimSuffix(base, end)
			}
			if strings.HasPrefix(name, "mcp_") && !listed[name] && !listed[base] {
				t.Errorf("the list has no entry for %s of the %s", name, program)
			}
		}
	}
}

func TestTheListNamesTheAlertsThatAskEachMetric(t *testing.T) {
	_, rules := readRules(t)
	asked := map[string][]string{}
	for _, r := range rules {
		for name := range named(r.Expr) {
			for _, end := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, end)
			}
			if !slices.Contains(asked[name], r.Alert) {
				asked[name] = append(asked[name], r.Alert)
			}
		}
	}
	for _, m := range list() {
		got, want := slices.Sorted(slices.Values(m.Alerts)), slices.Sorted(slices.Values(asked[m.Name]))
		if !slices.Equal(got, want) {
			t.Errorf("the list says that %q ask %s, and it is %q", got, m.Name, want)
		}
	}
}

func TestEachMetricOfARuleExists(t *testing.T) {
	all := programs(t)
	_, rules := readRules(t)
	for _, r := range rules {
		all.check(t, r.Alert, r.Expr)
	}
}
