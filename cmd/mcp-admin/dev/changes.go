package dev

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is what is printed of a server, in sections.
type report []section

// section is a part of a report, under its title if it has one.
type section struct {
	title   string
	entries []entry
}

// entry tells of one thing. Its row stands in a table with the rows of the other entries, columns divided by tabs; ""
// is none. Its notes follow the table, one a line.
type entry struct {
	name, row string
	notes     []string
}

// String is the whole report.
func (r report) String() string {
	var b strings.Builder
	for i, s := range r {
		if i > 0 {
			b.WriteString("\n")
		}
		if s.title != "" {
			fmt.Fprintln(&b, s.title)
		}
		table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, e := range s.entries {
			if e.row != "" {
				fmt.Fprintln(table, e.row)
			}
		}
		table.Flush()
		for _, e := range s.entries {
			for _, note := range e.notes {
				fmt.Fprintln(&b, note)
			}
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// since is what is new or different in a report, and what is gone.
func (r report) since(before report) report {
	var changed report
	for i, s := range r {
		entries := slices.DeleteFunc(slices.Clone(s.entries), func(e entry) bool { return slices.ContainsFunc(before[i].entries, e.equal) })
		for _, e := range before[i].entries {
			if !slices.ContainsFunc(s.entries, func(now entry) bool { return now.name == e.name }) {
				entries = append(entries, entry{e.name, fmt.Sprintf("  %s: no longer", e.name), nil})
			}
		}
		if len(entries) > 0 {
			changed = append(changed, section{s.title, entries})
		}
	}
	return changed
}

func (e entry) equal(other entry) bool { return reflect.DeepEqual(e, other) }
