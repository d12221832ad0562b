package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copied are the folders and files that the Dockerfile copies from the project.
func copied(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(root + "/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[0] == "COPY" && !strings.HasPrefix(fields[1], "--from=") {
			paths = append(paths, fields[1:len(fields)-1]...)
		}
	}
	return paths
}

func TestDockerfileCopiesWhatIsThere(t *testing.T) {
	ignore, err := os.ReadFile(root + "/.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	sent := strings.Split(string(ignore), "\n")
	for _, path := range copied(t) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
		if !slices.Contains(sent, "!"+strings.TrimSuffix(path, "/")) {
			t.Errorf(".dockerignore keeps %s from the build", path)
		}
	}
}

// Every package of the module that a program is made of is copied into the build. Package hack/release checks that the
// build lines are a release's, and that its programs are static and run.
func TestDockerfileCopiesEveryPackage(t *testing.T) {
	module := strings.TrimSpace(output(t, "go", "list", "-m"))
	for _, main := range []string{"./cmd/manager", "./cmd/server", "./cmd/mcp-admin", "./hack/rootfs/write"} {
		for _, pkg := range strings.Fields(output(t, "go", "list", "-deps", main)) {
			path, ours := strings.CutPrefix(pkg, module+"/")
			inFolder := func(folder string) bool { return strings.HasPrefix(path+"/", folder) }
			if ours && !slices.ContainsFunc(copied(t), inFolder) {
				t.Errorf("package %s, of %s, is not copied into the build", path, main)
			}
		}
	}
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	return string(out)
}
