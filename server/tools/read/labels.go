package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// What autocomplete_ calls rows: their display field. Rows that share it, and those that have none, are called by more: another
// text of theirs, and what the rows are called that they refer to.

// The bounds of those further names.
const (
	mostRelatedNames = 2
	mostOfName       = 80
)

// rowNames reads what rows are called.
type rowNames struct {
	scope access.Scope
	// further is how many further names a row has; related are the places of those that are of other rows.
	further int
	related []place
	output  []database.Output
}

// namesOfRows adds to a set what its rows are called by.
func namesOfRows(rows *RowSet) (*rowNames, error) {
	n := &rowNames{scope: rows.Scope}
	n.output = []database.Output{KeyOutput(n.scope.Model(), call.IDName)}
	if d := n.scope.Model().Display; d != nil {
		n.output = append(n.output, database.Output{Name: "text", Columns: []*database.Column{d.Column}})
	}
	if own := ownText(n.scope); own != nil {
		n.add(rows.base(), own)
	}
	for _, r := range n.scope.Relations() {
		_, target, ok := n.scope.Follow(r.Name)
		if d := r.Target.Display; ok && !r.Many && d != nil && !d.Secret && d.Column.Kind == database.Text && len(n.related) < mostRelatedNames {
			at, err := rows.follow(rows.base(), r, target)
			if err != nil {
				return nil, err
			}
			n.add(at, d)
			n.related = append(n.related, at)
		}
	}
	return n, nil
}

func (n *rowNames) add(at place, f *catalog.Field) {
	n.output = append(n.output, database.Output{Name: furtherName(n.further), Join: at.join, Columns: []*database.Column{f.Column},
		Slice: &database.Slice{Length: mostOfName + 1}})
	n.further++
}

func furtherName(i int) string { return fmt.Sprintf("further %d", i) }

// ownText is the first text of a row's own that could tell it apart: neither its display field nor a part of a key; nil if it
// has none.
func ownText(scope access.Scope) *catalog.Field {
	for _, f := range scope.Fields() {
		if f != scope.Model().Display && f.Column.Kind == database.Text && !f.Masked && !f.Secret && !f.PrimaryKey && !Refers(scope.Model(), f.Column) {
			return f
		}
	}
	return nil
}

// Refers reports whether a column is part of a foreign key, or of a key that others refer to.
func Refers(m *catalog.Model, c *database.Column) bool {
	return slices.ContainsFunc(m.Relations, func(r *catalog.Relation) bool { return slices.Contains(r.Ours, c) })
}

// matches are the conditions that a text stands in what the rows are called.
func (n *rowNames) matches(text string) []database.Condition {
	contains := func(c *database.Column) database.Condition {
		return database.Match{Column: c, Op: database.TextContains, Text: text, FoldCase: true}
	}
	if d := n.scope.Model().Display; d != nil {
		if !d.Column.Kind.Textual() {
			return nil
		}
		return []database.Condition{contains(d.Column)}
	}
	var any []database.Condition
	for _, at := range n.related {
		any = append(any, at.condition(contains(at.scope.Model().Display.Column)))
	}
	return any
}

// suggest returns the rows with what they are called.
func (n *rowNames) suggest(read []map[string]json.RawMessage) []suggestion {
	found := make([]suggestion, len(read))
	shared := map[string][]map[string]json.RawMessage{}
	for i, row := range read {
		found[i] = suggestion{row[call.IDName], call.LabelOf(row[call.IDName], row["text"])}
		shared[found[i].Text] = append(shared[found[i].Text], row)
	}
	for i, row := range read {
		same, named := shared[found[i].Text], len(row["text"]) > 0 && !call.IsNull(row["text"])
		var further []string
		for k := range n.further {
			text, differs := nameIn(row, k), slices.ContainsFunc(same, func(other map[string]json.RawMessage) bool { return nameIn(other, k) != nameIn(row, k) })
			if text != "" && (!named || differs) {
				further = append(further, text)
			}
		}
		if len(further) > 0 {
			found[i].Text += " (" + strings.Join(further, ", ") + ")"
		}
	}
	return found
}

// nameIn is a further name of a row; "" if it has none.
func nameIn(row map[string]json.RawMessage, i int) string {
	raw := row[furtherName(i)]
	if len(raw) == 0 || call.IsNull(raw) {
		return ""
	}
	text := call.PlainText(raw)
	if utf8.RuneCountInString(text) > mostOfName {
		return string([]rune(text)[:mostOfName]) + "…"
	}
	return text
}
