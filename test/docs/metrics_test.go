package docs

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

var (
	// metricName is the name of a metric of ours; a table of the database has a shorter one.
	metricName = regexp.MustCompile(`^mcp_admin_[a-z]+(_[a-z]+)+$`)
	// metricRow is a row of the page that begins with metrics.
	metricRow = regexp.MustCompile("(?m)^\\| (`mcp_admin_[^|]*) \\|")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

func TestThePageOfOperationsHasEachMetricAndNoOther(t *testing.T) {
	inCode := map[string]string{}
	for _, file := range productFiles(t) {
		for _, text := range textsOf(t, file) {
			if metricName.MatchString(text) {
				inCode[text] = file
			}
		}
	}
	onPage := map[string]bool{}
	for _, row := range metricRow.FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			onPage[name[1]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inCode)) {
		if !onPage[name] {
			t.Errorf("docs/operations.md has no row for %s of %s", name, inCode[name])
		}
	}
	for name := range onPage {
		if inCode[name] == "" {
			t.Errorf("docs/operations.md has a row for %s, which no program has", name)
		}
	}
	if len(inCode) < 20 {
		t.Errorf("only %d metrics were found in the code, want 20 at least", len(inCode))
	}
}
