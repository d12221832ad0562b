package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestThePicturesShowTheCommandsOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program and starts a server")
	}
	if err := run(t.Context(), "../..", true); err != nil {
		t.Error(err)
	}
}

func TestAPictureHasEachLineOnceAndEscaped(t *testing.T) {
	picture := draw([]step{{"one <a>", []string{"first & last", "permission_denied: no", strings.Repeat("-", terminalWidth+1)}}, {"two", []string{shownInstead}}})
	for _, want := range []string{"one &lt;a&gt;", "first &amp; last", `<tspan class="bad">permission_denied: no</tspan>`, "two", shownInstead} {
		if n := strings.Count(picture, want); n != 1 {
			t.Errorf("the picture has %q %d times, want once", want, n)
		}
	}
	seen := map[string]bool{}
	for _, y := range regexp.MustCompile(`<text x="\d+" y="(\d+)"`).FindAllStringSubmatch(picture, -1) {
		if seen[y[1]] {
			t.Errorf("two lines stand at y=%s", y[1])
		}
		seen[y[1]] = true
	}
	if len(seen) != 7 { // the long line has two rows
		t.Errorf("%d lines, want 7", len(seen))
	}
}
