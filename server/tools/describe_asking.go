package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// askingForms tell what list and aggregate take that their schemas have no room for.
type askingForms struct {
	Fields   string `json:"fields,omitempty"`
	Measures string `json:"measures,omitempty"`
	Segments string `json:"segments,omitempty"`
	Filters  string `json:"filters"`
	Top      string `json:"top"`
	// Search tells how search works if it finds words by an index.
	Search string `json:"search,omitempty"`
	// SimilarTo tells by what similar rows are found.
	SimilarTo string `json:"similar_to,omitempty"`
}

// askingOf tells what list and aggregate take, with a relation of the model; nil if the token has neither.
func askingOf(d *description) *askingForms {
	lists, computes := slices.Contains(d.Operations, "list"), slices.Contains(d.Operations, "aggregate")
	if !lists && !computes {
		return nil
	}
	forms := &askingForms{
		Filters: "values may be {_now: -30d}, {_field: other}, {mul: [a, b]}, {_measure: {avg: field, filters: {…}}}, of in {_values: {model: m, field: path, filters: {…}}}; in filters of a _measure or of related rows {_outer: field} is the row outside: price__gt: {_measure: {avg: price, filters: {genre_id: {_outer: genre_id}}}}",
		Top:     "an argument of list and aggregate: {per: [name], n: 1}: the first n by order_by of each; ties: true keeps equal ones, without per of all; order_by [?] is random",
	}
	if lists {
		forms.Fields = "also {as: t, mul: [a, b]}, add, sub, div, round: [a, digits], bucket: [a, width] (the multiple below), days (hours, seconds): [from, to or {_now: 0d}]; filters, order_by and group_by (t__month, text__prefix_1) take t"
		if i := slices.IndexFunc(d.Relationships, func(r relationInfo) bool { return r.Kind == kindToMany }); i >= 0 {
			name := d.Relationships[i].Name
			forms.Fields += fmt.Sprintf("; %s__count, %[1]s__sum__field (avg, min, max), {as: t, count: %[1]s, filters: {…}}", name)
		}
	}
	if computes {
		forms.Measures = "of a field or of {mul: [a, b]}, …: also median, {percentile: [field, 0.9]}, stddev, texts (distinct ones, joined); of other measures ratio, difference, add, mul, div: [m, n or number], round: [m, digits], share (of 1), mean (of all groups), rank (1 is the greatest), previous, change ((m - previous) / previous), running and {moving: m, last: 3} (an average): the last four by order_by over the groups there are, perhaps per: [group]; the argument fill: true adds the empty groups of date__month, …; a sum of no rows is null; having takes m__gt, m__isnull, {_field: n}, _any, _not as filters do"
	}
	return forms
}

// note tells how to send measures and segments by name.
func (f *askingForms) note(d *description) {
	if len(d.Measures) > 0 {
		f.Measures += fmt.Sprintf("; [%s] or {n: %[1]s}: measures of this description by name", d.Measures[0].Name)
	}
	if len(d.Segments) > 0 {
		f.Segments = fmt.Sprintf("segments: [%s] beside filters, or {_segment: %[1]s} in any conditions", d.Segments[0].Name)
	}
}

// searchForm tells how search finds rows by the model's full-text index; "" if it looks for pieces of texts. limited is set if a row
// policy decides which rows the token sees.
func searchForm(m *catalog.Model, limited bool) string {
	index := m.TextIndex
	switch {
	case index == nil:
		return ""
	case index.RanksByAll && limited:
		return searchGrammar + ", ordered as any list"
	}
	return searchGrammar + ", the best first unless order_by is sent; go on with offset"
}

const searchGrammar = `search finds whole words, not pieces: all words, "a phrase", -without, either or; words that the database's index leaves out are looked for as pieces or left out`

// similarForm tells what similar_to of list takes; "" if the model has no vectors.
func similarForm(d *description, m *catalog.Model) string {
	if len(m.Vectors) == 0 || !slices.Contains(d.Operations, "list") {
		return ""
	}
	fields := make([]string, len(m.Vectors))
	for i, f := range m.Vectors {
		fields[i] = fmt.Sprintf("%s (%d numbers, by %s)", f.Name, f.Column.Vector.Dimensions, f.Column.Vector.Distance)
	}
	named := ""
	if len(fields) > 1 {
		named = ", with field: name"
	}
	return `of list: {id: a row's} or {vector: [numbers]}` + named + "; the nearest first of the rows that have " + strings.Join(fields, ", ") + "; instead of order_by; filters and offset as usual"
}
