package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A checkout's manifests and chart name the newest version of CHANGELOG.md.
func TestManifestsNameTheNewestVersion(t *testing.T) {
	newest := strings.TrimSpace(output(t, "hack/version.sh", "newest"))
	images := regexp.MustCompile(`ghcr\.io/mcp-admin/(?:manager|server|mcp-admin)\S*`)
	for _, objects := range [][]object{renderKustomization(t, root+"/config/default"), renderKustomization(t, root+"/config/namespaced"), renderChart(t)} {
		container := managerContainer(t, objects)
		for program, image := range map[string]string{"manager": container["image"].(string), "server": environment(container)["MCP_ADMIN_SERVER_IMAGE"]} {
			if want := "ghcr.io/mcp-admin/" + program + ":" + newest; image != want {
				t.Errorf("the image is %s, want %s; run \"make generate\"", image, want)
			}
		}
	}
	text, err := os.ReadFile(chart + "/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nversion: "+strings.TrimPrefix(newest, "v")+"\n") || !strings.Contains(string(text), "\nappVersion: "+newest+"\n") {
		t.Errorf("Chart.yaml names other versions than %s; run \"make generate\"", newest)
	}
	for _, image := range images.FindAllString(string(text), -1) {
		if !strings.HasSuffix(image, ":"+newest) {
			t.Errorf("Chart.yaml names %s, want %s", image, newest)
		}
	}
}

// What is installed from a checkout names no version that nobody can pull.
func TestNothingNamesADevelopmentVersion(t *testing.T) {
	wrong := regexp.MustCompile(`\(devel\)|:dev\b|newTag: dev\b|:latest\b`)
	for _, folder := range []string{"charts", "config"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if found := wrong.Find(text); found != nil {
				t.Errorf("%s has %q", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The version of a checkout is the variable's, else git's, else the newest of the changelog with a suffix.
func TestACheckoutNamesItself(t *testing.T) {
	folder := t.TempDir()
	script, err := os.ReadFile(root + "/hack/version.sh")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "hack", "version.sh"), string(script))
	write(t, filepath.Join(folder, "CHANGELOG.md"), "# Changelog\n\n## [1.3.0] - unreleased\n\n## [1.2.0] - 2026-01-01\n")
	version := func(setup string) string {
		t.Helper()
		out, failure := run("bash", "-c", "cd '"+folder+"' && unset VERSION && "+setup+"bash hack/version.sh")
		if failure != "" {
			t.Fatal(failure)
		}
		return strings.TrimSpace(string(out))
	}
	commit := "git -c user.name=x -c user.email=x@example.com commit --quiet --allow-empty -m x && "
	for _, row := range []struct{ what, setup, want string }{
		{"without git", "", `^v1\.3\.0-unknown$`},
		{"given", "VERSION=v9.9.9 ", `^v9\.9\.9$`},
		{"without a tag", "git init --quiet && git add . && " + commit, `^v1\.3\.0-g[0-9a-f]{7,}$`},
		{"with a change", "echo >> CHANGELOG.md && ", `^v1\.3\.0-g[0-9a-f]{7,}-dirty$`},
		{"with a tag", "git add . && " + commit + "git tag v1.3.0 && ", `^v1\.3\.0$`},
		{"after a tag", commit, `^v1\.3\.0-1-g[0-9a-f]{7,}$`},
		{"in a folder of another repository", "mkdir -p inner/hack && cp hack/version.sh inner/hack && cp CHANGELOG.md inner && cd inner && ", `^v1\.3\.0-unknown$`},
	} {
		if got := version(row.setup); !regexp.MustCompile(row.want).MatchString(got) {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
}

// What packs images and writes releases is in no program that runs in a cluster.
func TestProgramsLinkNothingOfTheReleases(t *testing.T) {
	for _, pkg := range strings.Fields(output(t, "go", "list", "-deps", "./cmd/...")) {
		for _, tooling := range []string{"github.com/google/go-containerregistry", "github.com/CycloneDX", "golang.org/x/crypto/x509roots"} {
			if strings.HasPrefix(pkg, tooling) {
				t.Errorf("a program links %s", pkg)
			}
		}
	}
}
