package action

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestChoicesOfAParameterAreComparedAsValues(t *testing.T) {
	d := &contract.Parameter{Name: "rate", Type: contract.TypeDecimal, Choices: []contract.Choice{{Value: "1.50"}}}
	for raw, fits := range map[string]bool{`"1.5"`: true, `1.500`: true, `"15e-1"`: true, `"1.51"`: false} {
		if _, err := readParameter(d, json.RawMessage(raw)); (err == nil) != fits {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
