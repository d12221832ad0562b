package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/mcp-admin/mcp-admin-operator/hack/rootfs"
)

// sample is a release whose programs are some bytes.
func sample(t *testing.T) (*release, program, map[target]string) {
	t.Helper()
	r := &release{
		source: "../..", dist: t.TempDir(), version: "v1.2.3", platforms: imageTargets, revision: strings.Repeat("a", 40),
		created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	executables := map[target]string{}
	for _, target := range imageTargets {
		executables[target] = filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(executables[target], []byte("a program for "+target.String()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r, programs[0], executables
}

func pack(t *testing.T) (archive string, digest v1.Hash) {
	t.Helper()
	r, p, executables := sample(t)
	index, err := r.index(p, executables)
	if err != nil {
		t.Fatal(err)
	}
	archive = filepath.Join(r.dist, "image.tar")
	if err := r.writeArchive(archive, "ghcr.io/mcp-admin/manager", index); err != nil {
		t.Fatal(err)
	}
	if digest, err = index.Digest(); err != nil {
		t.Fatal(err)
	}
	return archive, digest
}

func TestAnArchiveHasTheSameBytesTwice(t *testing.T) {
	one, digest := pack(t)
	two, again := pack(t)
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if digest != again || !bytes.Equal(a, b) {
		t.Errorf("%s and %s differ", digest, again)
	}
}

// unpack unpacks an archive as a folder.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	folder := t.TempDir()
	for _, f := range read(t, archive) {
		path := filepath.Join(folder, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func read(t *testing.T, archive string) []file {
	t.Helper()
	opened, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	return entries(t, opened)
}

// entries are the files of a tar.
func entries(t *testing.T, from io.Reader) []file {
	t.Helper()
	var files []file
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" || header.ModTime.Year() != 2026 {
			t.Errorf("%s tells of the machine that packed it: %+v", header.Name, header)
		}
		if header.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file{path: header.Name, data: data, executable: header.Mode == 0o755})
		}
	}
}

func TestAnArchiveIsAnOCILayout(t *testing.T) {
	archive, digest := pack(t)
	top, err := layout.ImageIndexFromPath(unpack(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	list, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Manifests) != 1 || list.Manifests[0].Digest != digest || list.Manifests[0].Annotations["io.containerd.image.name"] != "ghcr.io/mcp-admin/manager:v1.2.3" {
		t.Fatalf("the layout lists %+v", list.Manifests)
	}
	index, err := top.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	images, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, target := range imageTargets {
		descriptor := images.Manifests[i]
		if descriptor.Platform.String() != target.String() {
			t.Errorf("image %d is for %s, want %s", i, descriptor.Platform, target)
		}
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, target)
	}
}

func checkImage(t *testing.T, image v1.Image, target target) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != rootfs.User || !slices.Equal(config.Config.Entrypoint, []string{"/mcp-admin-manager"}) || config.Architecture != target.arch || config.OS != "linux" {
		t.Errorf("the configuration is %+v", config)
	}
	for label, want := range map[string]string{
		"version": "v1.2.3", "revision": strings.Repeat("a", 40), "created": "2026-01-02T03:04:05Z",
		"source": "https://" + module, "licenses": "Apache-2.0", "title": "mcp-admin-manager",
	} {
		if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("the label %s is %q, want %q", label, got, want)
		}
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range entries(t, content) {
			paths = append(paths, f.path)
			if f.executable != (f.path == "mcp-admin-manager") {
				t.Errorf("%s is executable: %v", f.path, f.executable)
			}
		}
	}
	if want := []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "mcp-admin-manager"}; !slices.Equal(paths, want) {
		t.Errorf("the image holds %v, want %v", paths, want)
	}
}

// A Docker that reads no layouts finds an image for each processor.
func TestDockerLoadsAnArchive(t *testing.T) {
	archive, _ := pack(t)
	for tag, processor := range map[string]string{"v1.2.3": "amd64", "v1.2.3-arm64": "arm64"} {
		reference, err := name.NewTag("ghcr.io/mcp-admin/manager:" + tag)
		if err != nil {
			t.Fatal(err)
		}
		image, err := tarball.ImageFromPath(archive, &reference)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != processor {
			t.Errorf("%s is for %s, want %s: %v", tag, config.Architecture, processor, err)
		}
	}
}
