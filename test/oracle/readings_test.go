package oracle

import (
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Some columns are kept as texts that the exposure reads as what they hold. Beside each table with such texts is one with the values
// that are meant, of which plain SQL asks.

// readsAs is what the exposure reads texts of a kind as.
var readsAs = map[kind]string{anInteger: "Integer", aDecimal: "Decimal", aDate: "Date", aMoment: "Timestamp", aTruth: "Boolean"}

// meantSuffix ends the name of a table with the values that are meant.
const meantSuffix = "_meant"

var tableNames = regexp.MustCompile(`\b(alpha|beta|gamma|delta)\b`)

// meant is a statement about the values that are meant.
func (w *world) meant(statement string) string {
	if w.writes {
		return statement
	}
	return tableNames.ReplaceAllString(statement, "${1}"+meantSuffix)
}

func (t *table) readings() (all []contract.FieldOverride) {
	for _, c := range t.columns {
		if c.read {
			all = append(all, contract.FieldOverride{Name: c.name, Reads: readsAs[c.kind]})
		}
	}
	return all
}

// keptType and kept are the type in SQL of what is kept of a column's values, and such a value.
func (w *world) keptType(c *column) string {
	if c.read {
		return w.typeOf(&column{kind: aText})
	}
	return w.typeOf(c)
}

// junk is what stands where there is no value.
var junk = []string{"n/a", "", "-", "1.2.3", "2024-02-30", "2024-13-01", "12 000", "1e3", "99999999999999999999999", "yes and no", "∞", "2024-01-01T25:00:00"}

func (w *world) kept(c *column, v value) string {
	text := &column{kind: aText}
	switch {
	case !c.read:
		return w.literal(c, v)
	case v.null && chance(w.random, 50):
		return w.literal(text, v)
	case v.null:
		return w.literal(text, value{text: pick(w.random, junk...)})
	}
	kept := v.text
	switch c.kind {
	case anInteger, aDecimal:
		if kept[0] != '-' {
			kept = pick(w.random, "", "+", "0") + kept
		}
	case aMoment:
		kept = strings.Replace(kept, " ", pick(w.random, " ", "T"), 1) + pick(w.random, "", "Z")
	case aTruth:
		kept = pick(w.random, map[string][]string{"true": {"true", "T", "Yes", "1"}, "false": {"FALSE", "f", "no", "0"}}[kept]...)
	}
	return w.literal(text, value{text: pick(w.random, "", " ") + kept + pick(w.random, "", "  ")})
}

// truths are the texts of a boolean, in lower case.
var truths = map[string]string{"t": "true", "yes": "true", "f": "false", "no": "false"}

// answered is the member's value in a row of an answer.
func (m member) answered(v any) value {
	text, isText := v.(string)
	if !m.read || !isText {
		return answered(m.kind, v)
	}
	for _, none := range junk {
		if text == none {
			return value{null: true}
		}
	}
	text = strings.TrimPrefix(strings.Trim(text, " "), "+")
	if m.kind == aTruth {
		text = strings.ToLower(text)
		if other, ok := truths[text]; ok {
			text = other
		}
	}
	return answered(m.kind, text)
}
