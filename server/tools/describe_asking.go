package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// askingForms tell what list and aggregate take that their schemas have no room for: a rule or an operation a line.
type askingForms struct {
	Fields   []string `json:"fields,omitempty"`
	GroupBy  []string `json:"group_by,omitempty"`
	Measures []string `json:"measures,omitempty"`
	Having   []string `json:"having,omitempty"`
	Segments string   `json:"segments,omitempty"`
	Filters  []string `json:"filters,omitempty"`
	Top      []string `json:"top,omitempty"`
	// Search tells how search works if it finds words by an index.
	Search string `json:"search,omitempty"`
	// SimilarTo tells by what similar rows are found.
	SimilarTo string `json:"similar_to,omitempty"`
}

// askingOf tells what list and aggregate take, with names of the model; nil if the token has neither.
func askingOf(models *catalog.Catalog, d *description, scope access.Scope) *askingForms {
	lists, computes := slices.Contains(d.Operations, "list"), slices.Contains(d.Operations, "aggregate")
	if !lists && !computes {
		return nil
	}
	names := exampleNamesOf(models, scope)
	forms := &askingForms{Filters: names.filters(lists, computes), Top: names.top()}
	if lists {
		forms.Fields = names.fields()
	}
	if computes {
		forms.GroupBy, forms.Measures, forms.Having = names.groups(), names.measures(), havingLines()
	}
	return forms
}

// note tells how to send measures and segments by name.
func (f *askingForms) note(d *description) {
	if len(d.Measures) > 0 {
		f.Measures = append(f.Measures, fmt.Sprintf("[%s] or {x: %[1]s}: measures of this description by name", d.Measures[0].Name))
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
