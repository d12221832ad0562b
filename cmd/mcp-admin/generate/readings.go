package generate

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// rowsLookedAt is in how many rows of each table texts are looked at.
const rowsLookedAt = 1000

// fewestValues is how many values a column must have for a guess of what they mean.
const fewestValues = 3

// Look reads the texts of some columns of a table, row by row; nil is NULL.
type Look func(table *database.Table, columns []*database.Column) ([][]*string, error)

// GuessReadings guesses what the texts of columns hold, from values. It looks at columns that anybody with the right to the model sees
// as they are, and that are neither keys nor related to others.
func (g *Guesses) GuessReadings(look Look) error {
	for _, m := range g.Models {
		columns := slices.DeleteFunc(m.shown(), func(c *database.Column) bool {
			return c.Kind != database.Text || m.isKey(c) || m.isReferenced(c) || m.leadsOn(c)
		})
		if len(columns) == 0 {
			continue
		}
		rows, err := look(m.Table, columns)
		if err != nil {
			return fmt.Errorf("the values of %s cannot be looked at: %w", m.Table, err)
		}
		for i, c := range columns {
			reads, count := readingOf(rows, i)
			if reads == "" {
				continue
			}
			f := &m.Exposure.Spec.Fields
			f.Overrides = append(f.Overrides, v1alpha1.FieldOverride{Name: c.Name, Reads: reads})
			m.because("fields.overrides."+c.Name, "all of the %d texts looked at are such", count)
		}
	}
	return nil
}

// readings are what texts may hold, the narrowest first.
var readings = []struct {
	reads v1alpha1.FieldReading
	text  *regexp.Regexp
}{
	{v1alpha1.ReadsInteger, whole(database.Integer)},
	{v1alpha1.ReadsDecimal, whole(database.Decimal)},
	{v1alpha1.ReadsDate, whole(database.Date)},
	{v1alpha1.ReadsTimestamp, whole(database.Timestamp)},
}

func whole(kind database.Kind) *regexp.Regexp {
	return regexp.MustCompile(`^ *(?:` + database.ReadPattern(kind) + `) *$`)
}

var (
	// codeText is a number that begins with a needless zero: people mean a code by it, whose zeros count.
	codeText = regexp.MustCompile(`^ *[+-]?0[0-9]`)
	// noValueText is what people write if there is no value.
	noValueText = regexp.MustCompile(`(?i)^ *(null|none|nan|n/?a|-|\?)? *$`)
)

// readingOf says what all texts of a column hold, and how many there are; "" if they are texts, or too few.
func readingOf(rows [][]*string, column int) (v1alpha1.FieldReading, int) {
	var values []string
	for _, row := range rows {
		if text := row[column]; text != nil && !noValueText.MatchString(*text) {
			values = append(values, *text)
		}
	}
	if len(values) < fewestValues || slices.ContainsFunc(values, codeText.MatchString) {
		return "", 0
	}
	for _, r := range readings {
		if !slices.ContainsFunc(values, func(text string) bool { return !r.text.MatchString(text) }) {
			return r.reads, len(values)
		}
	}
	return "", 0
}
