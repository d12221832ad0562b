package monitoring

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
)

// The rules and dashboards meet the series that real managers and servers have, while all is well, and while it is not.
func TestAStoryOfRealServersIsTold(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	t.Cleanup(func() {
		if t.Failed() {
			tally.wrong++
		}
	})
	w.allIsWell()
	w.theDatabaseGoesAndComes()
	w.aCallerIsHasty()
	w.aConfigIsRefused()
	w.aNamespaceIsDeleted()
	ended := time.Now()
	w.nothingFired(began, ended)
	w.eachNameIsScraped(began, ended)
	w.eachPanelHasData(began, ended)
	w.eachEndpointIsTraced()
}

// alert is an expression that has a series while an alert waits or fires.
func alert(names ...string) string {
	return fmt.Sprintf(`ALERTS{alertname=~%q}`, strings.Join(names, "|"))
}

// all waits until each of some alerts waits or fires.
func (w *world) all(alerts ...string) {
	w.t.Helper()
	for _, name := range alerts {
		w.holds(alert(name))
	}
}

// allIsWell is the quiet part: agents ask, make mistakes, and come and go. No alert may so much as wait for its time.
func (w *world) allIsWell() {
	w.t.Helper()
	w.ends("ALERTS")
	from := time.Now()
	reader := w.text("shop", "reader")
	for range 20 {
		w.call("books", reader, "list_book", `{"order_by":["id"]}`, "Dune")
		w.call("books", reader, "update_book", `{"id":2,"data":{"title":"Emma"}}`, "Emma")
		w.call("books", reader, "get_book", `{"id":3}`, "not_found")
	}
	if status, text := w.post("books", reader, `{"method":"tools/list"}`); status != http.StatusOK {
		w.t.Fatal(text)
	}
	if status, text := w.post("books", "mcp_nobody", `{"method":"tools/list"}`); status != http.StatusUnauthorized {
		w.t.Fatal(text)
	}
	for visits := range 2 { // a counter that appears with its first value shows no increase of it
		w.aVisitorComesAndGoes()
		w.holds(fmt.Sprintf(`sum(mcp_admin_manager_tokens_revoked_total) >= %d`, visits+1))
	}
	for _, expression := range []string{
		`sum(mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",error_type=""}) >= 41`, `sum(mcp_server_operation_duration_seconds_count{error_type="not_found"}) >= 20`,
		`sum(mcp_admin_server_callers_refused_total) >= 2`,
		`sum(mcp_admin_manager_removal_duration_seconds_count) >= 1`,
	} {
		w.holds(expression)
	}
	for _, s := range w.over("ALERTS", from, time.Now()) {
		w.t.Errorf("while all is well, an alert is %s: %v", s.Metric["alertstate"], s.Metric)
	}
}

// aVisitorComesAndGoes makes a token, calls with it, and revokes it.
func (w *world) aVisitorComesAndGoes() {
	w.t.Helper()
	_, err := w.cluster.KubectlInput(w.t.Context(), `{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPToken, metadata: {name: visitor, namespace: shop},
		spec: {endpointRef: {name: books}, permissions: [{models: ["*"], verbs: [view]}]}}`, "apply", "--server-side", "-f", "-")
	w.check(err)
	w.kubectl("wait", "-n", "shop", "--timeout=10m", "--for=condition=Ready", "mcptoken/visitor")
	visitor := w.text("shop", "visitor")
	w.call("books", visitor, "list_book", `{}`, "Dune")
	w.kubectl("delete", "-n", "shop", "mcptoken/visitor")
	w.until("the visitor is refused", func() bool {
		status, _ := w.post("books", visitor, `{"method":"tools/list"}`)
		return status == http.StatusUnauthorized
	})
}

func (w *world) theDatabaseGoesAndComes() {
	w.t.Helper()
	reader := w.text("shop", "reader")
	w.database.Cut()
	w.until(alert("MCPToolErrorsUnavailable"), func() bool {
		w.post("books", reader, `{"method":"tools/call","name":"list_book","arguments":{}}`)
		return len(w.ask(alert("MCPToolErrorsUnavailable"))) > 0
	})
	w.all("MCPDatabaseDown", "MCPEndpointNotReady")
	w.check(w.database.Mend())
	w.ends(alert("MCPDatabaseDown", "MCPEndpointNotReady", "MCPEndpointStuck"))
	w.until("the database answers", func() bool {
		_, text := w.post("books", reader, `{"method":"tools/call","name":"list_book","arguments":{}}`)
		return strings.Contains(text, "Dune")
	})
}

// aCallerIsHasty has a token call more often than it may.
func (w *world) aCallerIsHasty() {
	w.t.Helper()
	clerk := w.text("desk", "clerk")
	w.until(alert("MCPRateLimited"), func() bool {
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() { w.post("notes", clerk, `{"method":"tools/list"}`) })
		}
		calls.Wait()
		return len(w.ask(alert("MCPRateLimited"))) > 0
	})
}

// aConfigIsRefused has somebody else write a Config while no manager is there, and ends when one has written it anew.
func (w *world) aConfigIsRefused() {
	w.t.Helper()
	const manager = "deployment/mcp-admin-manager"
	w.kubectl("scale", "-n", "mcp-admin-system", manager, "--replicas=0")
	w.all("MCPManagerHasNoLeader")
	w.kubectl("patch", "secret", "-n", "shop", configSecret("books"), "--type=merge", "-p", `{"data":{"config.json.gz":"YnJva2Vu"}}`)
	w.all("MCPConfigRefused")
	reader := w.text("shop", "reader")
	w.until(alert("MCPServerErrors"), func() bool {
		w.post("books", reader, `{"method":"tools/list"}`)
		return len(w.ask(alert("MCPServerErrors"))) > 0
	})
	w.kubectl("scale", "-n", "mcp-admin-system", manager, "--replicas=1")
	w.ends(alert("MCPManagerHasNoLeader", "MCPConfigRefused"))
}

func (w *world) aNamespaceIsDeleted() {
	w.t.Helper()
	w.kubectl("delete", "namespace", "desk", "--timeout=10m")
	w.ends(`up{namespace="desk"}`)
}

// nothingFired holds the alerts' states against the story: its troubles end before an alert has waited long enough.
func (w *world) nothingFired(from, to time.Time) {
	w.t.Helper()
	for _, s := range w.over(`ALERTS{alertstate="firing"}`, from, to) {
		w.t.Errorf("an alert fired: %v", s.Metric)
	}
}

// eachEndpointIsTraced holds what the Collector got against the pods that were asked.
func (w *world) eachEndpointIsTraced() {
	w.t.Helper()
	w.traces.until("a statement of books", func(s span) bool {
		return s.service == "books" && strings.HasPrefix(s.instance, "books-mcp-") && s.name == "SELECT book" && s.attributes["db.system.name"] == "postgresql"
	})
	w.traces.until("a change of books", func(s span) bool { return s.service == "books" && s.name == "tools/call update_book" })
	w.traces.until("an error of books", func(s span) bool { return s.service == "books" && s.attributes["error.type"] == "tool_error" })
	w.traces.until("a change on its way to every pod of books", func(s span) bool {
		return s.service == "mcp-admin-manager" && s.name == "change of a Config" && s.attributes["mcp_admin.endpoint"] == "shop/books" && s.attributes["mcp_admin.pods"] == "3"
	})
	w.traces.until("a request to notes", func(s span) bool {
		return s.service == "notes" && s.name == "tools/list" && s.attributes["mcp_admin.token"] == "desk/clerk"
	})
}

// notInTheStory are the metrics that no process of the story has, with the reason.
var notInTheStory = map[string]string{
	"mcp_admin_manager_yielded_namespaces":           "there is one installation",
	"mcp_admin_manager_approvals_waiting":            "no endpoint has policies of approvals",
	"mcp_admin_replicas_up":                          "the database has no replicas",
	"mcp_admin_replica_lag_seconds":                  "the database has no replicas",
	"mcp_admin_certificate_expiry_timestamp_seconds": "the endpoints speak plain HTTP",
}

// eachNameIsScraped holds the metrics that rules, dashboards, questions and cases name against those that were scraped, with their labels.
func (w *world) eachNameIsScraped(from, to time.Time) {
	w.t.Helper()
	var all []map[string]string
	w.check(w.get("series", url.Values{"match[]": {`{__name__!~"ALERTS.*",job!=""}`}, "start": {stamp(from)}, "end": {stamp(to)}}, &all))
	tally.series = len(all)
	scraped := known{}
	for _, s := range all {
		scraped.add(s["__name__"], slices.Collect(maps.Keys(s))...)
	}
	for name, why := range notInTheStory {
		if _, ok := scraped[name]; ok {
			w.t.Errorf("%s is in the story, though %s", name, why)
		}
		for label := range strings.SplitSeq("installation namespace exported_namespace pod endpoint", " ") {
			scraped.add(name, label)
		}
	}
	_, rules := readRules(w.t)
	for _, r := range rules {
		scraped.check(w.t, "in the story, "+r.Alert, r.Expr)
	}
	for file, d := range readMetricDashboards(w.t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				scraped.check(w.t, "in the story, "+file+", "+p.Title, target.Expr)
			}
		}
	}
	for _, m := range slices.Concat(metric.Server, metric.Manager) {
		scraped.check(w.t, "in the story, the question about "+m.Name, m.Question)
	}
	for _, r := range rules {
		var c cases
		w.check(yaml.UnmarshalStrict([]byte(read(w.t, "testdata/"+r.Alert+".yaml")), &c))
		for _, test := range c.Tests {
			for _, input := range test.InputSeries {
				scraped.check(w.t, fmt.Sprintf("in the story, %s, %q", r.Alert, test.Name), input.Series)
			}
		}
	}
}

// zeroInTheStory are the panels whose lines stay at zero, by dashboard and title, with the reason.
var zeroInTheStory = map[string]string{
	"fleet.json, Late removals":                       "no removal takes longer than ten seconds",
	"fleet.json, Rollouts that wait":                  "the manager is not a new release",
	"fleet.json, Reconciles that fail":                "none fails",
	"endpoint.json, Calls over their token's rate":    "the hasty caller asks the other endpoint",
	"endpoint.json, Tokens that expire within 7 days": "no token lives longer than 30 days, and these alone count",
	"fleet.json, Tokens that expire within 7 days":    "no token lives longer than 30 days, and these alone count",
}

// noDataInTheStory are the panels that have none, with the reason.
var noDataInTheStory = map[string]string{
	"fleet.json, Calls that wait for people":       "no endpoint has policies of approvals",
	"endpoint.json, Lag of the replicas":           "the database has no replicas",
	"fleet.json, Calls that wait for a connection": "it shows endpoints whose calls wait, and none does",
}

// mayBeZero are the panels that are above zero only if they were looked at in the moment of a request, or if requests met.
var mayBeZero = []string{
	"endpoint.json, Requests being answered", "endpoint.json, Memory of requests", "endpoint.json, Calls that wait for a connection", "endpoint.json, Requests that found the server busy",
}

// eachPanelHasData asks each query of the dashboards for the time of the story.
func (w *world) eachPanelHasData(from, to time.Time) {
	w.t.Helper()
	fill := strings.NewReplacer("$__rate_interval", "10s", "$namespace", "shop", "$endpoint", "books")
	for file, d := range readMetricDashboards(w.t) {
		for _, p := range d.Panels {
			where, empty := file+", "+p.Title, false
			for _, target := range p.Targets {
				if target.Datasource != asked {
					continue // it asks no Prometheus
				}
				expression := strings.TrimSuffix(fill.Replace(target.Expr), " or vector(0)")
				some, other := false, false
				for _, s := range w.over(expression, from, to) {
					for _, sample := range s.Values {
						text, _ := sample[1].(string)
						value, err := strconv.ParseFloat(text, 64)
						some, other = some || err == nil, other || err == nil && value != 0
					}
				}
				_, zero := zeroInTheStory[where]
				_, none := noDataInTheStory[where]
				switch {
				case none && !some:
				case none && other:
					w.t.Errorf("%s has data: take it out of noDataInTheStory", where)
				case !some:
					w.t.Errorf("%s has no data: %s", where, expression)
				case !other && !zero && !slices.Contains(mayBeZero, where):
					w.t.Errorf("%s is always 0: %s; have the story feed it, or say in zeroInTheStory why not", where, expression)
				case other && zero:
					w.t.Errorf("%s is not always 0: take it out of zeroInTheStory", where)
				}
				empty = empty || !some
			}
			if !empty {
				tally.panels++
			}
		}
	}
}
