package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A mirror is a registry, and a repository in it.
type mirror struct {
	t          *testing.T
	repository string
	server     *httptest.Server
}

func newMirror(t *testing.T, repository string) *mirror {
	t.Helper()
	m := &mirror{t: t, repository: repository, server: httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))}
	t.Cleanup(m.server.Close)
	return m
}

func (m *mirror) send(method, path, kind string, body []byte) http.Header {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), method, m.server.URL+"/v2/"+m.repository+"/"+path, bytes.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		m.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	return response.Header
}

// sendBlobs sends every blob of an archive, and returns them by their digests.
func (m *mirror) sendBlobs(archive string) map[string][]byte {
	m.t.Helper()
	blobs, err := readFolder(filepath.Join(unpack(m.t, archive), "blobs", "sha256"), "")
	if err != nil {
		m.t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, b := range blobs {
		content["sha256:"+b.path] = b.data
		m.send(http.MethodPost, "blobs/uploads/?digest=sha256:"+b.path, "application/octet-stream", b.data)
	}
	return content
}

// A registry takes what is in the archives, under the digests that install.yaml names.
func TestARegistryTakesAnArchive(t *testing.T) {
	m := newMirror(t, "mirror/manager")
	archive, digest := pack(t)
	content := m.sendBlobs(archive)
	list, err := v1.ParseIndexManifest(bytes.NewReader(content[digest.String()]))
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range list.Manifests {
		m.send(http.MethodPut, "manifests/"+image.Digest.String(), string(image.MediaType), content[image.Digest.String()])
	}
	m.send(http.MethodPut, "manifests/v1.2.3", string(list.MediaType), content[digest.String()])
	if stored := m.send(http.MethodHead, "manifests/v1.2.3", "", nil).Get("Docker-Content-Digest"); stored != digest.String() {
		t.Errorf("the registry has %s, want %s", stored, digest)
	}
}

// Helm pulls the chart from a registry that got it from the archive.
func TestHelmPullsTheChart(t *testing.T) {
	helm, err := filepath.Abs("../../bin/helm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(helm); err != nil {
		t.Skip("helm was not built; \"make helm\" does")
	}
	r, _, _ := sample(t)
	if err := r.writeChart("../.."); err != nil {
		t.Fatal(err)
	}
	m := newMirror(t, "charts/"+chartName)
	archive := filepath.Join(r.dist, chartName+"-1.2.3.oci.tar")
	content := m.sendBlobs(archive)
	for _, f := range read(t, archive) {
		if f.path != "index.json" {
			continue
		}
		list, err := v1.ParseIndexManifest(bytes.NewReader(f.data))
		if err != nil {
			t.Fatal(err)
		}
		// The chart comes from the checkout here, which says its own version.
		m.send(http.MethodPut, "manifests/1.2.3", string(list.Manifests[0].MediaType), content[list.Manifests[0].Digest.String()])
	}
	folder := t.TempDir()
	for _, home := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(home, folder)
	}
	address := strings.TrimPrefix(m.server.URL, "http://")
	if _, err := output(t.Context(), folder, helm, "pull", "oci://"+address+"/charts/"+chartName, "--version", "1.2.3", "--plain-http"); err != nil {
		t.Fatal(err)
	}
	pulled, err := filepath.Glob(filepath.Join(folder, chartName+"-*.tgz"))
	if err != nil || len(pulled) != 1 {
		t.Fatalf("%v: %v", pulled, err)
	}
	got, err := os.ReadFile(pulled[0])
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(r.dist, chartName+"-1.2.3.tgz"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("what Helm pulled has %d bytes, the chart %d: %v", len(got), len(want), err)
	}
}
