package can

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// show prints the answer for people.
func (a *answer) show(screen *output.Screen, explain bool) {
	if a.Caller != nil && !a.showCaller(screen) {
		return
	}
	groups := "no groups"
	if len(a.Groups) > 0 {
		groups = "groups " + strings.Join(a.Groups, ", ")
	}
	fmt.Fprintf(screen, "MCPToken %s of MCPEndpoint %s (%s)\n", a.Token, a.Endpoint, groups)
	if !a.InForce {
		fmt.Fprintf(screen, "%s %s\n", screen.Styled(output.Warning, "It lets nobody in now:"), a.NotInForce)
	}
	if a.Caller != nil {
		for _, name := range slices.Sorted(maps.Keys(a.Caller.Attributes)) {
			fmt.Fprintf(screen, "attribute %s: %s\n", name, output.Printable(a.Caller.Attributes[name]))
		}
	}
	fmt.Fprintln(screen)
	if len(a.Models) == 0 {
		fmt.Fprintln(screen, "The endpoint serves no model.")
	} else {
		rows := make([][]string, len(a.Models))
		for i := range a.Models {
			rows[i] = row(screen, &a.Models[i])
		}
		screen.Table([]string{"MODEL", "VIEW", "ADD", "CHANGE", "DELETE", "EXPORT", "ACTIONS", "REPORTS", "ROWS"}, rows...)
	}
	if a.Tools != nil && a.Tools.Most > 0 {
		fmt.Fprintf(screen, "\ntools/list has at most %d tools, with %s.\n", a.Tools.Most, strings.Join(a.Tools.Global, ", "))
	}
	if explain {
		for i := range a.Models {
			a.explain(screen, &a.Models[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Withheld)) {
		fmt.Fprintf(screen, "\n%s is not served: %s\n", name, a.Withheld[name])
	}
	for _, note := range a.Notes {
		fmt.Fprintf(screen, "\nnote: %s\n", note)
	}
}

// showCaller says who the caller is, and reports whether the caller is let in.
func (a *answer) showCaller(screen *output.Screen) bool {
	fmt.Fprintf(screen, "Caller %s of issuer %s\n", cmp.Or(output.Printable(a.Caller.Subject), "without a name"), a.Caller.Issuer)
	if len(a.Caller.Assumed) > 0 {
		fmt.Fprintf(screen, "Taken as good, as not given: %s\n", strings.Join(a.Caller.Assumed, ", "))
	}
	if !a.InForce {
		fmt.Fprintf(screen, "%s %s\n", screen.Styled(output.Warning, "MCPEndpoint "+a.Endpoint+" does not let the caller in:"), a.NotInForce)
	}
	return a.InForce
}

func row(screen *output.Screen, m *compile.Access) []string {
	cells := []string{m.Model}
	for _, g := range m.Verbs {
		if g.Granted {
			cells = append(cells, screen.Styled(output.Good, "yes"))
		} else {
			cells = append(cells, screen.Styled(output.Faint, "-"))
		}
	}
	return append(cells, granted(screen, m.Actions), granted(screen, m.Reports), rowsOf(m.Rows))
}

// granted names what is granted.
func granted(screen *output.Screen, grants []compile.Grant) string {
	var names []string
	for _, g := range grants {
		if g.Granted {
			names = append(names, g.Name)
		}
	}
	if len(names) == 0 {
		return screen.Styled(output.Faint, "-")
	}
	return strings.Join(names, ",")
}

// rowsOf says in a few words which rows are seen.
func rowsOf(r compile.RowsAccess) string {
	switch {
	case r.All && len(r.Policies) > 0:
		return "all (policy " + r.Policies[0] + ")"
	case r.All:
		return "all"
	case len(r.Policies) > 0:
		return "policy " + strings.Join(r.Policies, " or ")
	}
	return "none"
}

func (a *answer) explain(screen *output.Screen, m *compile.Access) {
	fmt.Fprintf(screen, "\n%s\n", screen.Styled(output.Bold, m.Model))
	for _, g := range slices.Concat(m.Verbs, m.Actions, m.Reports) {
		by := strings.Join(g.By, ", ")
		switch {
		case g.Granted:
			fmt.Fprintf(screen, "  %s: yes, by %s\n", g.Name, by)
		case by != "":
			fmt.Fprintf(screen, "  %s: no, though granted by %s: %s\n", g.Name, by, g.Missing)
		default:
			fmt.Fprintf(screen, "  %s: no: %s\n", g.Name, g.Missing)
		}
	}
	fmt.Fprintf(screen, "  rows: %s", rowsOf(m.Rows))
	if m.Rows.Why != "" {
		fmt.Fprintf(screen, ": %s", m.Rows.Why)
	}
	fmt.Fprintln(screen)
}
