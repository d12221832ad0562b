package packaging

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestWorkflowsHaveNoLint(t *testing.T) {
	paths := slices.Collect(maps.Keys(workflows(t)))
	if out, failure := run(tool(t, "actionlint"), append([]string{"-no-color", "-shellcheck=", "-pyflakes="}, paths...)...); failure != "" {
		t.Errorf("%s%s", out, failure)
	}
}

// A tag is whatever its owner makes of it; a commit stays what it was. The comment behind it names its version.
func TestWorkflowsPinTheirActions(t *testing.T) {
	pinned := regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+\s`)
	for path, text := range workflows(t) {
		for _, use := range regexp.MustCompile(`uses: .*\n`).FindAllString(text, -1) {
			if !pinned.MatchString(use) {
				t.Errorf("%s: %q names no commit and its version", filepath.Base(path), use)
			}
		}
	}
}

// What a workflow names of the project is there: targets of make, scripts, and files whose hashes are keys of caches.
func TestWorkflowsNameWhatIsThere(t *testing.T) {
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, text := range workflows(t) {
		for _, target := range regexp.MustCompile(`\bmake (?:-C \S+ )?([a-z-]+)(?:$|[ \n])`).FindAllStringSubmatch(commands(t, text), -1) {
			seen++
			if !strings.Contains(string(makefile), "\n"+target[1]+":") {
				t.Errorf("%s: make has no target %q", filepath.Base(path), target[1])
			}
		}
		for _, pattern := range regexp.MustCompile(`(?:\bhack/|go-version-file: )[\w.*/-]+`).FindAllString(text, -1) {
			seen++
			if found, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(pattern, "go-version-file: "))); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", filepath.Base(path), pattern)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d names were found", seen)
	}
}

// workflows are the texts of the workflows by their paths.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d workflows: %v", len(paths), err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// commands are run by the steps of a workflow.
func commands(t *testing.T, text string) string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			all.WriteString(step.Run + "\n")
		}
	}
	return all.String()
}
