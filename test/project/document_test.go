package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

func TestFill(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	path := filepath.Join(folder, "page.md")
	for name, text := range map[string]string{"go.mod": "", "page.md": "before<a>old<b>after"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := project.Fill("page.md", "<a>", "<b>", "new"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "before<a>new<b>after" {
		t.Errorf("the page is %q", got)
	}
	if err := project.Fill("page.md", "<b>", "<a>", "new"); err == nil {
		t.Error("marks in another order are taken")
	}
}
