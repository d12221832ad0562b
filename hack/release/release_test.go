package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

func TestAVersionIsValidForImagesAndCharts(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.2.3": true, "v0.1.0-gabc1234": true, "v0.1.0-12-gabc1234-dirty": true, "v1.0.0-rc.1": true,
		"1.2.3": false, "v1.2": false, "v1.2.3+build": false, "": false, "latest": false,
	} {
		if got := versionForm.MatchString(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
	if _, err := newRelease(t.Context(), "../..", "1.2.3"); err == nil || !strings.Contains(err.Error(), "VERSION") {
		t.Errorf("a wrong version: %v", err)
	}
}

func TestImagesAreForSomePlatforms(t *testing.T) {
	for list, want := range map[string]int{"": 2, "linux/arm64": 1, "linux/amd64,linux/arm64": 2, "linux/amd64,linux/amd64": 0, "amd64": 0, "windows/amd64": 0} {
		if got, err := parsePlatforms(list); len(got) != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	r, _, _ := sample(t)
	r.platforms = imageTargets[:1]
	if _, err := r.write(t.Context(), t.TempDir(), everything); err == nil || !strings.Contains(err.Error(), "-platforms") {
		t.Errorf("a release for one platform: %v", err)
	}
	if _, err := r.write(t.Context(), t.TempDir(), "charts"); err == nil || !strings.Contains(err.Error(), "write images, chart or duckdb") {
		t.Errorf("an unknown part: %v", err)
	}
}

// A release is of a commit: its clone has the version's tag, and nothing that git does not know.
func TestAReleaseIsOfACommit(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n", "beside": "x"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := output(t.Context(), root, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if _, err := newRelease(t.Context(), root, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("without git: %v", err)
	}
	git("init", "--quiet")
	git("add", "go.mod")
	git("commit", "--quiet", "-m", "x")
	r, err := newRelease(t.Context(), root, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.takeSource(t.Context(), filepath.Join(t.TempDir(), "source")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"go.mod": true, "beside": false} {
		if _, err := os.Stat(filepath.Join(r.source, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if tags, err := output(t.Context(), r.source, "git", "tag", "--points-at", r.revision); err != nil || tags != "v1.2.3" {
		t.Errorf("the clone's tags are %q: %v", tags, err)
	}

	git("rm", "--quiet", "--cached", "go.mod")
	if _, err := newRelease(t.Context(), root, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "not committed") {
		t.Errorf("a checkout with changes: %v", err)
	}
	changed, err := newRelease(t.Context(), root, "v1.2.3-dirty")
	if err != nil || changed.clean() || changed.revision != r.revision+"-dirty" {
		t.Errorf("a checkout with changes that says so: %+v, %v", changed, err)
	}
}

// The manifests of a release name its version and images, and nothing of the checkout's.
func TestAReleaseIsStamped(t *testing.T) {
	r, _, _ := sample(t)
	copyOf := filepath.Join(t.TempDir(), "stamped")
	if err := r.stampedCopy(t.Context(), copyOf); err != nil {
		t.Fatal(err)
	}
	digest := v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("b", 64)}
	if err := r.writeManifest(copyOf, map[string]v1.Hash{"manager": digest, "server": digest}); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(r.dist, "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`ghcr\.io/mcp-admin/\S+`).FindAllString(string(manifest), -1)
	slices.Sort(images)
	want := "ghcr.io/mcp-admin/manager@" + digest.String() + " ghcr.io/mcp-admin/server@" + digest.String()
	if got := strings.Join(images, " "); got != want {
		t.Errorf("install.yaml names %s, want %s", got, want)
	}
	if !strings.HasPrefix(string(manifest), "# mcp-admin-operator v1.2.3.") || strings.Count(string(manifest), "\nkind: CustomResourceDefinition\n") != 4 {
		t.Errorf("install.yaml begins with %.200s", manifest)
	}

	if err := r.writeChart(copyOf); err != nil {
		t.Fatal(err)
	}
	chart, err := os.ReadFile(filepath.Join(copyOf, "charts", chartName, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\nversion: 1.2.3\n", "\nappVersion: v1.2.3\n", "image: ghcr.io/mcp-admin/manager:v1.2.3\n", "image: ghcr.io/mcp-admin/server:v1.2.3\n"} {
		if !strings.Contains(string(chart), line) {
			t.Errorf("Chart.yaml lacks %q", line)
		}
	}
}

// The chart's OCI layout is the same as "helm push" would have sent.
func TestTheChartsLayoutIsHelms(t *testing.T) {
	r, _, _ := sample(t)
	if err := r.writeChart("../.."); err != nil {
		t.Fatal(err)
	}
	folder := unpack(t, filepath.Join(r.dist, chartName+"-1.2.3.oci.tar"))
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	list, err := top.IndexManifest()
	if err != nil || len(list.Manifests) != 1 || list.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("%v: %+v", err, list)
	}
	text, err := os.ReadFile(filepath.Join(folder, blob(list.Manifests[0].Digest)))
	if err != nil {
		t.Fatal(err)
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(r.dist, chartName+"-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(folder, blob(manifest.Layers[0].Digest)))
	if err != nil || string(content) != string(packed) || manifest.Layers[0].MediaType != chartLayer || manifest.Config.MediaType != chartConfig {
		t.Errorf("%v: %+v", err, manifest)
	}
	var metadata struct{ Name, AppVersion string }
	config, err := os.ReadFile(filepath.Join(folder, blob(manifest.Config.Digest)))
	if err != nil || json.Unmarshal(config, &metadata) != nil || metadata.Name != chartName {
		t.Errorf("the configuration is %s: %v", config, err)
	}
}

// Every module that is linked into this test has a licence to pass on, and is in the bill of materials. The test links
// more than any program.
func TestEveryModuleIsInTheNoticesAndTheSBOM(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, p, _ := sample(t)
	modules, err := r.modules(t.Context(), []string{self})
	if err != nil || len(modules) < 10 {
		t.Fatalf("%d modules: %v", len(modules), err)
	}
	for name, write := range map[string]func(string) error{
		"NOTICES.txt": func(name string) error { return r.writeNotices(name, modules) },
		"sbom.json":   func(name string) error { return r.writeSBOM(name, p, modules) },
	} {
		path := filepath.Join(r.dist, name)
		if err := write(path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range modules {
			if !strings.Contains(string(text), m.path) || !strings.Contains(string(text), m.version) {
				t.Errorf("%s lacks %s %s", name, m.path, m.version)
			}
		}
	}
	if _, err := notices([]dependency{{path: "example.com/x", version: "v1.0.0", dir: t.TempDir()}}); err == nil {
		t.Error("a module without a licence is passed on")
	}
}

func TestPackagesHoldTheProgramAndItsLicences(t *testing.T) {
	r, _, executables := sample(t)
	if err := create(filepath.Join(r.dist, "NOTICES.txt"), func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }); err != nil {
		t.Fatal(err)
	}
	p := programs[2]
	executables[target{"windows", "arm64"}] = executables[imageTargets[0]]
	if err := r.writePackages(p, executables); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mcp-admin_v1.2.3_linux_amd64.tar.gz", "mcp-admin_v1.2.3_linux_arm64.tar.gz", "mcp-admin_v1.2.3_windows_arm64.zip"} {
		if info, err := os.Stat(filepath.Join(r.dist, want)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", want, err)
		}
	}
	number, err := r.writeSums()
	if err != nil || number != 4 {
		t.Errorf("%d files have a checksum, want 4: %v", number, err)
	}
}
