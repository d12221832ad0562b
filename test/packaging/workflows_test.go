package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestWorkflowsHaveNoLint(t *testing.T) {
	paths, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d workflows: %v", len(paths), err)
	}
	if out, failure := run(tool(t, "actionlint"), append([]string{"-no-color", "-shellcheck=", "-pyflakes="}, paths...)...); failure != "" {
		t.Errorf("%s%s", out, failure)
	}
}

// An action without a version is whatever its owner makes of it.
func TestWorkflowsPinTheirActions(t *testing.T) {
	paths, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`uses: \S+@(v\d+|[0-9a-f]{40})\s`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range regexp.MustCompile(`uses: .*\n`).FindAllString(string(text), -1) {
			if !pinned.MatchString(use) {
				t.Errorf("%s: %q names no version", filepath.Base(path), use)
			}
		}
	}
}
