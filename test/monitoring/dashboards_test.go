package monitoring

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// dashboard is what a test looks at of Grafana's JSON.
type dashboard struct {
	UID, Title string
	Templating struct{ List []variable }
	Panels     []panel
}

type variable struct {
	Name, Type string
	// Query is a text, or an object with one.
	Query      any
	Datasource source
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		Expr, RefID, LegendFormat string
		Datasource                source
	}
}

// readDashboards returns the dashboards by their files' names.
func readDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(root + "/config/monitoring/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dashboards: %v", err)
	}
	all := map[string]dashboard{}
	for _, file := range files {
		var d dashboard
		if err := json.Unmarshal([]byte(read(t, file)), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = d
	}
	return all
}

// The data sources that a reader chooses at the top of the page: asked is the one of metrics, loki that of audit lines.
var (
	asked = source{"prometheus", "${datasource}"}
	loki  = source{"loki", "${datasource}"}
)

// asks is the data source of a dashboard, by the variable with which it is chosen.
func (d dashboard) asks() source {
	for _, v := range d.Templating.List {
		if kind, _ := v.Query.(string); v.Name == "datasource" && v.Type == "datasource" && (kind == asked.Type || kind == loki.Type) {
			return source{kind, "${datasource}"}
		}
	}
	return source{}
}

// readMetricDashboards are the dashboards that ask for metrics.
func readMetricDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	all := readDashboards(t)
	maps.DeleteFunc(all, func(_ string, d dashboard) bool { return d.asks() != asked })
	return all
}

func TestEachPanelSaysWhatItShowsAndInWhichUnit(t *testing.T) {
	uids := map[string]string{}
	for file, d := range readDashboards(t) {
		if d.UID == "" || d.Title == "" || uids[d.UID] != "" {
			t.Errorf("%s has the uid %q and the title %q; %q has the same uid", file, d.UID, d.Title, uids[d.UID])
		}
		uids[d.UID] = file
		if d.asks() == (source{}) {
			t.Errorf("%s lets nobody choose the data source", file)
		}
		if len(d.Panels) < 10 {
			t.Errorf("%s has only %d panels", file, len(d.Panels))
		}
		ids := map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.ID == 0 {
				t.Errorf("%s has the id %d twice", file, p.ID)
			}
			ids[p.ID] = true
			p.check(t, file+", "+p.Title, d.asks())
		}
	}
}

func (p panel) check(t *testing.T, where string, asked source) {
	t.Helper()
	if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" {
		t.Errorf("%s has the description %q and the unit %q", where, p.Description, p.FieldConfig.Defaults.Unit)
	}
	if p.Datasource != asked || len(p.Targets) == 0 {
		t.Errorf("%s asks %v with %d queries", where, p.Datasource, len(p.Targets))
	}
	for _, target := range p.Targets {
		if target.Datasource != asked || target.Expr == "" || target.RefID == "" || target.LegendFormat == "" {
			t.Errorf("%s has the query %q of %v with the legend %q", where, target.Expr, target.Datasource, target.LegendFormat)
		}
	}
}

func TestNoPanelLiesOverAnother(t *testing.T) {
	for file, d := range readDashboards(t) {
		for i, p := range d.Panels {
			if p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s, %s is wider than the page", file, p.Title)
			}
			for _, q := range d.Panels[:i] {
				a, b := p.GridPos, q.GridPos
				if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
					t.Errorf("%s: %s lies over %s", file, p.Title, q.Title)
				}
			}
		}
	}
}

func TestEachMetricOfAPanelExists(t *testing.T) {
	all := programs(t)
	for file, d := range readMetricDashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all.check(t, file+", "+p.Title, target.Expr)
			}
		}
		for _, v := range d.Templating.List {
			query, ok := v.Query.(map[string]any)
			if !ok {
				continue
			}
			text, _ := query["query"].(string)
			metric, _, ok := strings.Cut(strings.TrimPrefix(text, "label_values("), ",")
			if !ok || v.Datasource != asked {
				t.Errorf("%s: the variable %s asks %q of %v", file, v.Name, text, v.Datasource)
			}
			all.check(t, file+", the variable "+v.Name, metric)
		}
	}
}

// A file that nobody names in the kustomization would reach nobody.
func TestTheKustomizationDeliversEachDashboard(t *testing.T) {
	var k struct {
		ConfigMapGenerator []struct{ Files []string }
		GeneratorOptions   struct {
			DisableNameSuffixHash bool
			Labels                map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, root+"/config/monitoring/kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	var delivered []string
	for _, generator := range k.ConfigMapGenerator {
		delivered = append(delivered, generator.Files...)
	}
	for file := range readDashboards(t) {
		if !slices.Contains(delivered, "dashboards/"+file) {
			t.Errorf("config/monitoring/kustomization.yaml delivers %q, and not %s", delivered, file)
		}
	}
	if !k.GeneratorOptions.DisableNameSuffixHash || k.GeneratorOptions.Labels["grafana_dashboard"] != "1" {
		t.Errorf("the generator's options are %+v", k.GeneratorOptions)
	}
}
