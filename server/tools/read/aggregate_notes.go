package read

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// notes are remarks about what a caller could misread in an answer; having are the members that the call's having uses.
func (g *groupReader) notes(a *aggregateArguments, having []string) []string {
	var notes []string
	for _, name := range having {
		if g.mayBeOfNoRows(name, 0) && !strings.Contains(string(a.having), name+"__isnull") {
			notes = append(notes, fmt.Sprintf(`%s is null for groups in which no row meets its filters, and null meets no condition: {"_any": [{…}, {"%[1]s__isnull": true}]} in having lets them through`, name))
			break
		}
	}
	if i := slices.IndexFunc(g.derived, (*derivedMeasure).skipsGaps); i >= 0 && !a.fill && g.hasTime() {
		notes = append(notes, fmt.Sprintf("%s goes by the groups that have rows; fill: true adds the empty ones", g.derived[i].name))
	}
	if g.hasGaps {
		notes = append(notes, "fill added groups between the first and the last that have rows")
	}
	for i := range g.grouping.Measures {
		if note := g.repeats(i); note != "" {
			notes = append(notes, note)
			break
		}
	}
	return notes
}

// skipsGaps reports whether the measure looks at a number of groups before.
func (d *derivedMeasure) skipsGaps() bool { return derivedForms[d.function].back != "" }

// hasTime reports whether fill could add groups.
func (g *groupReader) hasTime() bool {
	_, err := g.timeKey()
	return err == nil
}

// mayBeOfNoRows reports whether a measure is null in groups that have rows, as none of them meets its filters.
func (g *groupReader) mayBeOfNoRows(name string, steps int) bool {
	if d := g.find(name); d != nil {
		return steps <= maxMeasures && !d.looksBack() && slices.ContainsFunc(d.of, func(of string) bool { return g.mayBeOfNoRows(of, steps+1) })
	}
	m := g.measure(name)
	if m == nil {
		return false
	}
	if m.Func == database.Ratio {
		return g.mayBeOfNoRows(g.ofRows[m.Dividend], steps+1) || g.mayBeOfNoRows(g.ofRows[m.Divisor], steps+1)
	}
	return m.Where != nil && !countsRows(m.Func)
}

// repeats says of a sum or an average of a related row's value that it counts for each row which leads to it; "" if it does not.
func (g *groupReader) repeats(i int) string {
	m := g.grouping.Measures[i]
	if m.Func != database.Sum && m.Func != database.Avg || m.Ref.Join == nil || m.Ref.Column.Expression != nil {
		return ""
	}
	at := slices.Index(g.rows.joins, m.Ref.Join)
	if at < 0 || isUnique(g.rows.Scope.Model().Table, m.Ref.Join) {
		return ""
	}
	return fmt.Sprintf("%s takes a value of %s once for each %s; to take it once for each %[2]s, ask aggregate of %[2]s", g.ofRows[i], g.rows.scopes[at].Model().Name, g.rows.Scope.Model().Name)
}

// isUnique reports whether a join leads from each row to a row of its own.
func isUnique(table *database.Table, join *database.Join) bool {
	for _, key := range append([][]*database.Column{table.PrimaryKey}, table.Unique...) {
		if join.Through == nil && slices.Equal(key, join.Ours) {
			return true
		}
	}
	return false
}
