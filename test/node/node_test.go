package node

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestNewEnough(t *testing.T) {
	for version, want := range map[string]bool{
		"v20.20.2": false, "v22.18.9": false, "v22.19.0": true, "v22.23.3": true, "v24.0.0": true, "v100.1.2": true,
		"": false, "v": false, "v22": false, "nightly": false,
	} {
		t.Run(version, func(t *testing.T) {
			if got := newEnough(version); got != want {
				t.Errorf("newEnough(%q) = %v, want %v", version, got, want)
			}
		})
	}
}

// npm refuses to run twice in one folder, as the real one does when it finds files that it does not expect.
const npm = `#!/bin/sh
mkdir busy || exit 1
echo run >> runs
sleep 0.1
mkdir -p node_modules
rmdir busy
`

func TestSuitesThatRunSideBySideInstallOnce(t *testing.T) {
	programs, folder := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(programs, "npm"): npm, filepath.Join(folder, "package-lock.json"): "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := Install(t.Context(), folder); err != nil {
				t.Errorf("got %v, want the packages of another or of its own", err)
			}
		})
	}
	all.Wait()
	runs, err := os.ReadFile(filepath.Join(folder, "runs"))
	if got := strings.Count(string(runs), "run"); err != nil || got != 1 {
		t.Errorf("npm ran %d times (%v), want once", got, err)
	}
}
