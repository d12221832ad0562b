package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

func TestRootIsTheNearestFolderWithAModule(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(outer, "inner")
	deep := filepath.Join(inner, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{outer, inner} {
		if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{outer: outer, inner: inner, deep: inner} {
		t.Chdir(from)
		if got := project.Root(); got != want {
			t.Errorf("from %s: got %s, want %s", from, got, want)
		}
	}
}
