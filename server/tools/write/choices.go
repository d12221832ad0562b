package write

import (
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// IsChoice reports whether a column's value is among the choices: as a value, not as a text, so that 1.5 is 1.50. If the
// column itself takes texts of other case for equal, so does IsChoice.
func IsChoice(c *database.Column, choices []contract.Choice, value database.Value) bool {
	return slices.ContainsFunc(choices, func(choice contract.Choice) bool {
		allowed, err := lookup.ParseText(c, choice.Value)
		return err == nil && (sameValue(c, allowed, value) || c.LooseCollation && sameFolded(allowed, value))
	})
}

func sameFolded(a, b database.Value) bool {
	one, ok := a.(string)
	other, also := b.(string)
	return ok && also && strings.EqualFold(one, other)
}

// sameValue reports whether two values of a column are one. Decimals are texts, and several mean the same number.
func sameValue(c *database.Column, a, b database.Value) bool {
	if c.Kind != database.Decimal || a == b {
		return reflect.DeepEqual(a, b)
	}
	one, ok := new(big.Rat).SetString(a.(string))
	other, also := new(big.Rat).SetString(b.(string))
	return ok && also && one.Cmp(other) == 0
}

// ChoiceNames are the choices' values, for a message.
func ChoiceNames(choices []contract.Choice) string {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Value
	}
	return strings.Join(names, ", ")
}
