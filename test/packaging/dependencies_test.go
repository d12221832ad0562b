package packaging

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What is pinned is updated: a module or lock file that nobody asks about grows old unseen.
func TestDependabotKnowsEveryModuleAndLockFile(t *testing.T) {
	text, err := os.ReadFile(root + "/.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, update := range config.Updates {
		got[update.Ecosystem] = update.Directories
	}
	for ecosystem, file := range map[string]string{"gomod": "go.mod", "npm": "package-lock.json"} {
		want := foldersWith(t, file)
		if len(want) < 5 {
			t.Errorf("only %d folders with %s were found", len(want), file)
		}
		slices.Sort(got[ecosystem])
		if !slices.Equal(got[ecosystem], want) {
			t.Errorf("%s of .github/dependabot.yml has the directories\n%q, want\n%q", ecosystem, got[ecosystem], want)
		}
	}
}

// foldersWith are the folders of git's files with that name, as dependabot writes them.
func foldersWith(t *testing.T, name string) []string {
	t.Helper()
	var folders []string
	err := filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", ".local", "bin", "dist", "node_modules"}, entry.Name()) {
			return filepath.SkipDir
		}
		if entry.Name() == name {
			relative, err := filepath.Rel(root, filepath.Dir(file))
			folders = append(folders, path.Join("/", filepath.ToSlash(relative)))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(folders)
	return folders
}

// The container for development has the Go that go.mod asks for.
func TestTheDevcontainerHasTheGoOfTheModule(t *testing.T) {
	module, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	container, err := os.ReadFile(root + "/.devcontainer/devcontainer.json")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(module), "\ngo ")
	version, _, _ := strings.Cut(after, "\n")
	want := `features/go:1": {"version": "` + version[:strings.LastIndex(version, ".")] + `"}`
	if !strings.Contains(string(container), want) {
		t.Errorf("the devcontainer lacks %s:\n%s", want, container)
	}
}
