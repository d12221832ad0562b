package read

import (
	"strings"
	"testing"
)

func TestWhatAMeasureMayBeCalled(t *testing.T) {
	for name, want := range map[string]bool{
		"n": true, "_": true, "mean_2": true, "größe": true, "合計": true, "x²": true, "x٣": true,
		strings.Repeat("é", 64): true, strings.Repeat("a", 65): false,
		"": false, "2n": false, "²": false, "a b": false, "a-b": false, "a.b": false, `a"b`: false, "a\n": false, "e\u0301": false, "a\xff": false,
	} {
		if got := isMeasureName(name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}
