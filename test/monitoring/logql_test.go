package monitoring

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// A logQuery is a query of Loki (LogQL), as far as the dashboards use the language: a stream selector, stages, and around them for a
// metric "sum by (labels) (function (… [range]))". What else the language has is an error, so that no panel can use what nothing tests.
type logQuery struct {
	// function is "" for a query of lines.
	function string
	by       []string
	stages   []string
}

var (
	logMetric = regexp.MustCompile(`^sum(?: by \(([a-z_, ]+)\) )?\((count_over_time|sum_over_time)\((.+) \[(?:\$__range|\$__auto)\]\)\)$`)
	logStage  = regexp.MustCompile("^(?:\\|= `[^`]*`|\\| json|\\| [a-z_]+(?:=~|!~|!=|=)\"[^\"]*\"|\\| unwrap [a-z_]+|\\| line_format \"[^\"]*\")")
	logFilter = regexp.MustCompile(`^\| ([a-z_]+)(=~|!~|!=|=)"([^"]*)"$`)
)

// streamSelector is the variable for the streams, without which no query is right.
const streamSelector = "${streams:raw} "

func parseLogQL(text string) (q logQuery, err error) {
	if m := logMetric.FindStringSubmatch(text); m != nil {
		q.function, text = m[2], m[3]
		if m[1] != "" {
			q.by = strings.Split(m[1], ", ")
		}
	}
	rest, ok := strings.CutPrefix(text, streamSelector)
	if !ok {
		return q, fmt.Errorf("%q does not begin with %s", text, streamSelector)
	}
	for ; rest != ""; rest = strings.TrimPrefix(rest, " ") {
		stage := logStage.FindString(rest)
		if stage == "" {
			return q, fmt.Errorf("%q is no stage", rest)
		}
		q.stages, rest = append(q.stages, stage), rest[len(stage):]
	}
	if last := q.stages[len(q.stages)-1]; strings.HasPrefix(last, "| unwrap ") != (q.function == "sum_over_time") {
		return q, fmt.Errorf("%q ends in %q, and its function is %q", text, last, q.function)
	}
	return q, nil
}

// run returns what the query makes of a line: the labels, the line that is shown, and the value; false if it keeps none.
func (q *logQuery) run(t *testing.T, text, token string) (labels map[string]string, shown string, value float64, kept bool) {
	t.Helper()
	labels, shown, value = map[string]string{}, text, 1
	for _, stage := range q.stages {
		switch word, rest, _ := strings.Cut(strings.TrimPrefix(stage, "| "), " "); word {
		case "|=":
			if !strings.Contains(shown, strings.Trim(rest, "`")) {
				return nil, "", 0, false
			}
		case "json":
			labels = labelsOf(t, text)
		case "unwrap":
			number, err := strconv.ParseFloat(labels[rest], 64)
			if err != nil {
				return nil, "", 0, false // a line without the label has no sample
			}
			value = number
		case "line_format":
			var out strings.Builder
			form := template.Must(template.New("").Option("missingkey=zero").Parse(strings.Trim(rest, `"`)))
			if err := form.Execute(&out, labels); err != nil {
				t.Fatal(err)
			}
			shown = out.String()
		default:
			m := logFilter.FindStringSubmatch(stage)
			if !holds(labels[m[1]], m[2], strings.ReplaceAll(m[3], "$token", token)) {
				return nil, "", 0, false
			}
		}
	}
	return labels, shown, value, true
}

// holds compares a label; one that is missing is empty, and a pattern is that of the whole label.
func holds(label, operator, with string) bool {
	switch operator {
	case "=":
		return label == with
	case "!=":
		return label != with
	}
	return regexp.MustCompile("^(?:"+with+")$").MatchString(label) == (operator == "=~")
}

// labelsOf are the labels that the stage json makes of a line: its plain members. Lists are passed over.
func labelsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	labels := map[string]string{}
	for name, member := range members {
		switch member.(type) {
		case string, json.Number, bool:
			labels[name] = fmt.Sprint(member)
		case []any, nil:
		default:
			t.Fatalf("%s is an object: Loki makes more than one label of it", name)
		}
	}
	return labels
}

func TestWhatTheLanguageOfQueriesHasNotIsRefused(t *testing.T) {
	for _, text := range []string{
		`{namespace="x"} | json`, "${streams:raw} | jsn", "${streams:raw} |= `x` | json | token=\"a", `sum(rate(${streams:raw} | json [$__auto]))`,
		`sum(sum_over_time(${streams:raw} | json [$__range]))`, `sum(count_over_time(${streams:raw} | json | unwrap rows [$__range]))`, `sum(count_over_time(${streams:raw} | json))`,
	} {
		if q, err := parseLogQL(text); err == nil {
			t.Errorf("%s is taken for %+v", text, q)
		}
	}
}
