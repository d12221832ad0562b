package tools

import (
	"encoding/json"
	"testing"
)

// A model of keys alone has no line of some lists: the output schema takes a list that is missing, and none that is null.
func TestListsOfAskingWithoutALineAreLeftOut(t *testing.T) {
	text, err := json.Marshal(&askingForms{})
	if err != nil || string(text) != "{}" {
		t.Errorf("got %s, %v, want {}", text, err)
	}
}
