package dev

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Names are checked when manifests are read. The state does not rely on it.
func TestTheStateNeverReachesOutOfItsFolder(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(parent, "x", "notes", "init")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	s := openState(t, filepath.Join(parent, "state"))
	if err := os.Symlink(filepath.Join(parent, "x"), filepath.Join(s.Folder(), "tokens")); err != nil {
		t.Fatal(err)
	}
	for name, attempt := range map[string]func() error{
		"an endpoint's namespace": func() error {
			return s.WriteSQLiteInit(&v1alpha1.MCPEndpoint{
				ObjectMeta: metav1.ObjectMeta{Namespace: "../../x", Name: "notes"},
				Spec:       v1alpha1.MCPEndpointSpec{Database: v1alpha1.DatabaseSpec{SQLite: &v1alpha1.SQLiteSpec{}}},
			}, &Manifests{})
		},
		"a token's namespace": func() error {
			_, err := s.Token(types.NamespacedName{Namespace: "../../x", Name: "token"})
			return err
		},
		"a symbolic link": func() error {
			_, err := s.Token(types.NamespacedName{Namespace: "default", Name: "token"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := attempt(); err == nil {
				t.Error("no error")
			}
		})
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("the folder outside: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(parent, "x")); err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
}

func TestTheStateIsIgnoredByGit(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	openState(t, folder)
	ignored, err := os.ReadFile(filepath.Join(folder, ".gitignore"))
	if err != nil || string(ignored) != "*\n" {
		t.Errorf(".gitignore holds %q, %v", ignored, err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	openState(t, folder)
	if kept, err := os.ReadFile(filepath.Join(folder, ".gitignore")); err != nil || string(kept) != "# mine\n" {
		t.Errorf("a .gitignore of the user's became %q, %v", kept, err)
	}
}
