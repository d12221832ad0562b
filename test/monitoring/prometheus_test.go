package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// patience is when a wait for something that should come ends: it only keeps a test from hanging.
const patience = 10 * time.Minute

// target is a process whose metrics are read, with the labels that prometheus-operator gives it.
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// scraper is a Prometheus that reads targets every second, and works the rules out as often.
type scraper struct {
	t   *testing.T
	url string
}

// startPrometheus starts one with the rules of config/monitoring, which asks find for its targets every second.
func startPrometheus(t *testing.T, find func() ([]target, error)) *scraper {
	t.Helper()
	program := prometheusProgram(t, "prometheus")
	discovery := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		targets, err := find()
		if err != nil { // it keeps the targets that it has
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(targets)
	}))
	t.Cleanup(discovery.Close)
	spec, _ := readRules(t)
	folder := plainRules(t, spec)
	type object = map[string]any
	config, err := yaml.Marshal(object{
		"global":     object{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{"rules.yaml"},
		"scrape_configs": []object{{
			"job_name": "pods", "http_sd_configs": []object{{"url": discovery.URL, "refresh_interval": "1s"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "prometheus.yaml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	address := harness.FreeAddress(t)
	c := exec.Command(program, "--config.file="+filepath.Join(folder, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address, "--log.level=warn")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Prometheus wrote:\n%s", text)
		}
	})
	p := &scraper{t, "http://" + address}
	p.until("Prometheus answers", func() bool {
		answer, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return p
}

// until waits until something holds.
func (p *scraper) until(what string, holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s: it does not come", what)
		}
	}
}

// get asks the HTTP API for what is at a path, as v.
func (p *scraper) get(path string, parameters url.Values, v any) error {
	answer, err := http.Get(p.url + "/api/v1/" + path + "?" + parameters.Encode())
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	return json.Unmarshal(text, &struct{ Data any }{v})
}

// series is a series of an answer.
type series struct {
	Metric map[string]string
	// Value is the present sample, Values are those of a range: time and value, as JSON has them.
	Value  [2]any
	Values [][2]any
}

// ask asks an expression now.
func (p *scraper) ask(expression string) []series {
	p.t.Helper()
	return p.result("query", expression, url.Values{"query": {expression}})
}

// over asks an expression for each second from a time until another.
func (p *scraper) over(expression string, from, to time.Time) []series {
	p.t.Helper()
	return p.result("query_range", expression, url.Values{"query": {expression}, "start": {stamp(from)}, "end": {stamp(to)}, "step": {"1s"}})
}

func (p *scraper) result(path, expression string, parameters url.Values) []series {
	p.t.Helper()
	var data struct{ Result []series }
	if err := p.get(path, parameters, &data); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return data.Result
}

func stamp(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

// holds waits until an expression has a series.
func (p *scraper) holds(expression string) {
	p.t.Helper()
	p.until(expression, func() bool { return len(p.ask(expression)) > 0 })
}

// ends waits until an expression has none.
func (p *scraper) ends(expression string) {
	p.t.Helper()
	p.until("the end of "+expression, func() bool { return len(p.ask(expression)) == 0 })
}

// tally is what the suite's last line tells.
var tally struct {
	spans                               atomic.Int64
	series, rules, fired, panels, wrong int
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("MCP_TEST_MONITORING") != "" {
		fmt.Printf("monitoring: %d spans, %d series, %d rules tested, %d alerts fired and ended, %d panels with data, %d wrong\n",
			tally.spans.Load(), tally.series, tally.rules, tally.fired, tally.panels, tally.wrong)
	}
	os.Exit(code)
}
