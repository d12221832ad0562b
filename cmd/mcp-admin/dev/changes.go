package dev

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// report is the output about a server, in sections.
type report []section

// section is a part of a report, under its title if it has one.
type section struct {
	title   string
	entries []entry
}

// entry describes one object. All rows of a section make one table, with tabs between the columns; "" is no row. The notes
// follow the table, one on each line.
type entry struct {
	name, row string
	notes     []string
}

// String is the whole report.
func (r report) String() string {
	var b strings.Builder
	for _, s := range r {
		if len(s.entries) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		if s.title != "" {
			fmt.Fprintln(&b, s.title)
		}
		table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, e := range s.entries {
			if e.row != "" {
				fmt.Fprintln(table, output.PrintableBut(e.row, "\t"))
			}
		}
		table.Flush()
		for _, e := range s.entries {
			for _, note := range e.notes {
				fmt.Fprintln(&b, output.Printable(note))
			}
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// What of a section fits on a screen beside the others.
const (
	screenRows  = 12
	screenNotes = 5
)

// screenful is the report without what makes it longer than a screen.
func (r report) screenful() report {
	var short report
	for _, s := range r {
		rows, notes, hidden := 0, 0, 0
		kept := section{title: s.title}
		for _, e := range s.entries {
			if rows += min(len(e.row), 1); rows > screenRows {
				hidden++
				continue
			}
			room := max(0, screenNotes-notes)
			notes += len(e.notes)
			if len(e.notes) > room {
				e.notes = e.notes[:room]
			}
			kept.entries = append(kept.entries, e)
		}
		if hidden > 0 {
			kept.entries = append(kept.entries, entry{row: fmt.Sprintf("  … and %d more; -v shows all", hidden)})
		}
		if notes > screenNotes {
			kept.entries = append(kept.entries, entry{notes: []string{fmt.Sprintf("  … and %d more notes; -v shows all", notes-screenNotes)}})
		}
		short = append(short, kept)
	}
	return short
}

// titled is the section of a title alone.
func (r report) titled(title string) report {
	return slices.DeleteFunc(slices.Clone(r), func(s section) bool { return s.title != title })
}

// since returns what is new or different in a report, and what is gone.
func (r report) since(before report) report {
	var changed report
	for i, s := range r {
		if s.title != before[i].title {
			changed = append(changed, s)
			continue
		}
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
