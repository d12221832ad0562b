package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
)

const runbooks = "https://github.com/mcp-admin/mcp-admin-operator/blob/main/docs/runbooks/"

// show prints the screen.
func (s *Status) show(screen *output.Screen) {
	state := screen.Styled(output.Good, "Ready")
	if !s.Ready {
		state = screen.Styled(output.Bad, "not Ready")
		if s.Reason != "" {
			state += " (" + s.Reason + ")"
		}
	}
	fmt.Fprintf(screen, "MCPEndpoint %s: %s\n", screen.Styled(output.Bold, s.Endpoint), state)
	rows := [][]string{{"url", cmp.Or(s.URL, "-")}, {"database", s.database(screen)}, {"models", s.modelLine()}, {"tokens", s.tokenLine()}, {"calls", s.callLine()}}
	if unmet := s.unmet(); unmet != "" {
		rows = append(rows, []string{"not true", unmet})
	}
	for _, row := range rows {
		row[0] = "  " + row[0]
	}
	screen.Table(nil, rows...)
	s.showPods(screen)
	for _, w := range s.Models.Withheld {
		if s.isProblem(w.Exposure) {
			continue // it is told with what to do
		}
		fmt.Fprintf(screen, "%s MCPModelExposure %s is withheld: %s\n", screen.Styled(output.Warning, "!"), w.Exposure, cmp.Or(w.Message, w.Reason, "the manager has not looked at it"))
	}
	for _, p := range s.Problems {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Bad, "✗"), p.Object, p.Message)
		if p.Command != "" {
			fmt.Fprintf(screen, "    %s\n", p.Command)
		}
	}
	for _, p := range s.Notes {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Warning, "!"), p.Object, p.Message)
	}
	for _, a := range s.Alerts {
		fmt.Fprintf(screen, "%s %s: %s\n    %s%s.md\n", screen.Styled(output.Warning, "!"), a.Alert, a.Message, runbooks, a.Alert)
	}
	for _, unseen := range s.Unseen {
		fmt.Fprintf(screen, "%s not looked at: %s\n", screen.Styled(output.Warning, "?"), unseen)
	}
}

// isProblem reports whether the exposure of that name is among the problems.
func (s *Status) isProblem(exposure string) bool {
	namespace, _, _ := strings.Cut(s.Endpoint, "/")
	object := "MCPModelExposure " + namespace + "/" + exposure
	for i := range s.Problems {
		if s.Problems[i].Object == object {
			return true
		}
	}
	return false
}

func (s *Status) database(screen *output.Screen) string {
	name := strings.TrimSpace(s.Database.Engine + " " + s.Database.Version)
	if s.Database.Reached {
		parts := []string{cmp.Or(name, "reached")}
		if c := s.Counted; c != nil {
			parts = slices.Concat(parts, c.Database.Told(), c.Replicas.Told())
		}
		return strings.Join(parts, "; ")
	}
	reason := cmp.Or(s.Database.Reason, "nobody has tried yet")
	if slices.Contains(condition.Refusals, reason) && slices.ContainsFunc(s.Pods, func(p Pod) bool { return p.Ready }) {
		// the pods keep the connections that they have
		return strings.TrimSpace(name + " " + screen.Styled(output.Bad, "new connections fail: "+reason) + "; calls are answered over those that are open, if there are any")
	}
	return strings.TrimSpace(name + " " + screen.Styled(output.Bad, "not reached: "+reason))
}

// unmet are the conditions that are not true. What to do is said with the problems.
func (s *Status) unmet() string {
	var all []string
	for _, c := range s.Conditions {
		if c.Status != metav1.ConditionTrue {
			all = append(all, fmt.Sprintf("%s (%s, for %s)", c.Type, c.Reason, duration.HumanDuration(s.now.Sub(c.LastTransitionTime.Time))))
		}
	}
	return strings.Join(all, ", ")
}

func (s *Status) modelLine() string {
	line := fmt.Sprintf("%d served, %d withheld", s.Models.Served, len(s.Models.Withheld))
	switch n := s.Models.Waiting; {
	case n == 1:
		line += ", 1 waits for the endpoint"
	case n > 1:
		line += fmt.Sprintf(", %d wait for the endpoint", n)
	}
	return line
}

func (s *Status) tokenLine() string {
	line := fmt.Sprintf("%d of %d in force", s.Tokens.InForce, s.Tokens.All)
	for _, part := range []struct {
		n    int
		what string
	}{
		{len(s.Tokens.NotReady), "not ready"}, {len(s.Tokens.Refused), "expired or not active"},
		{len(s.Tokens.Expiring), map[bool]string{true: "expires within 7 days", false: "expire within 7 days"}[len(s.Tokens.Expiring) == 1]},
		{len(s.Tokens.Unused), "unused for 30 days"},
	} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return line
}

// callLine tells what the pods have counted since they started.
func (s *Status) callLine() string {
	c := s.Counted
	if c == nil {
		return "unknown: no pod's metrics could be read"
	}
	line := fmt.Sprintf("%.0f since the pods started: %.0f ok", sum(c.Calls), c.Calls["ok"])
	for _, outcome := range slices.Sorted(maps.Keys(c.Calls)) {
		if outcome != "ok" {
			line += fmt.Sprintf(", %.0f %s", c.Calls[outcome], outcome)
		}
	}
	line += "; " + output.Numbered(int(sum(c.Refused)), "caller") + " refused"
	for i, reason := range slices.Sorted(maps.Keys(c.Refused)) {
		line += fmt.Sprintf("%s%.0f %s", []string{": ", ", "}[min(i, 1)], c.Refused[reason], reason)
	}
	return line
}

func (s *Status) showPods(screen *output.Screen) {
	if len(s.Pods) == 0 {
		return
	}
	var rows [][]string
	for _, p := range s.Pods {
		ready, revision, age := screen.Styled(output.Good, "yes"), "-", "-"
		if !p.Ready {
			ready = screen.Styled(output.Bad, "no")
		}
		if p.Revision != nil {
			revision = strconv.FormatInt(*p.Revision, 10)
		}
		if !p.Started.IsZero() {
			age = duration.HumanDuration(s.now.Sub(p.Started))
		}
		rows = append(rows, []string{p.Name, ready, revision, strconv.Itoa(int(p.Restarts)), age, p.Image})
	}
	screen.Table([]string{"POD", "READY", "REVISION", "RESTARTS", "AGE", "IMAGE"}, rows...)
}
