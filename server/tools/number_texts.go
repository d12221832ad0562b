package tools

import (
	"regexp"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// The bounds of what describe_ reads to find texts that hold numbers.
const (
	numberTextRows   = 20
	numberTextLength = 32
)

const numberTextNote = `Text that holds numbers: it compares and sorts as text ("10" before "9"), and is computed with as {"number": field}.`

// numberText is a number as people write it. With zeros in front it is a code, which is a text rightly.
var numberText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// noValueText matches the texts that people write into such a column if there is no number.
var noValueText = regexp.MustCompile(`(?i)^\s*(null|none|nan|n/?a|-|\?)?\s*$`)

// numberTexts finds the fields, of some, that hold numbers as texts, by a few rows. It reads nothing if finding these could take
// long: in a view, or under a row policy, which may hold for few rows of many. It finds none if the rows cannot be read.
func numberTexts(c *call.Call, fields []*catalog.Field) (numbers []*catalog.Field) {
	if len(fields) == 0 || !c.Scope.Model().IsTable() || c.Scope.Limited() {
		return nil
	}
	plan := &database.Select{From: c.Scope.Source(), Limit: numberTextRows, Form: database.RowArrays}
	for _, f := range fields {
		plan.Output = append(plan.Output, database.Output{Name: f.Name, Columns: []*database.Column{f.Column}, Slice: &database.Slice{Length: numberTextLength}})
	}
	rows, _, err := call.ReadAll[[]*string](c.Ctx, c.DB, plan)
	if err != nil {
		return nil
	}
	for i, f := range fields {
		if holdNumbers(rows, i) {
			numbers = append(numbers, f)
		}
	}
	return numbers
}

// freeTexts are the fields whose texts nothing but the rows says more about.
func freeTexts(scope access.Scope) []*catalog.Field {
	return slices.DeleteFunc(slices.Clone(scope.Fields()), func(f *catalog.Field) bool {
		return f.Column.Kind != database.Text || f.Reading != nil || f.Masked || f.PrimaryKey || len(f.Choices) > 0 || read.Refers(scope.Model(), f.Column)
	})
}

// holdNumbers reports whether each text in a column of rows is a number, and there is more than one.
func holdNumbers(rows [][]*string, column int) bool {
	numbers := 0
	for _, row := range rows {
		switch text := row[column]; {
		case text == nil, noValueText.MatchString(*text):
		case !numberText.MatchString(*text):
			return false
		default:
			numbers++
		}
	}
	return numbers > 1
}
