package main

import (
	"bytes"
	"debug/buildinfo"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// What is in an archive within an archive is read like everything else.
func TestFilesThatMustNotBePublishedAreFound(t *testing.T) {
	cache, err := output(t.Context(), ".", "go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ what, text, wrong string }{
		{"nothing wrong", "image: ghcr.io/mcp-admin/manager:v1.2.3", ""},
		{"a version that nobody can pull", "image: ghcr.io/mcp-admin/manager:dev\n", `":dev"`},
		{"Go's word for no version", "appVersion: (devel)", `"(devel)"`},
		{"a folder of this machine", "panic at " + cache + "/x.go", "tells where it was built"},
		{"a program that was not built for a release", string(program), ""},
	} {
		for _, zipped := range []bool{true, false} {
			r, _, _ := sample(t)
			var inner bytes.Buffer
			if err := writeTarGz(&inner, []file{{path: "inner", data: []byte(row.text)}}, r.created); err != nil {
				t.Fatal(err)
			}
			files := []file{{path: "beside", data: []byte("x")}, {path: "inner.tgz", data: inner.Bytes()}}
			name, pack := "a.tar", func(w io.Writer) error { return writeTar(w, files, r.created) }
			if zipped {
				name, pack = "a.zip", func(w io.Writer) error { return writeZip(w, files, r.created) }
			}
			if err := create(filepath.Join(r.dist, name), pack); err != nil {
				t.Fatal(err)
			}
			err := r.check(t.Context())
			if row.text == string(program) { // what is wrong with it depends on how the test was built
				if err == nil {
					t.Errorf("%s: nothing was found", row.what)
				}
			} else if (err != nil) != (row.wrong != "") || err != nil && (!strings.Contains(err.Error(), row.wrong) || !strings.Contains(err.Error(), name+": inner.tgz: inner ")) {
				t.Errorf("%s: %v", row.what, err)
			}
		}
	}
}

func TestAnExecutableIsOfTheRelease(t *testing.T) {
	r, _, _ := sample(t)
	info := func(version string, settings ...string) *buildinfo.BuildInfo {
		built := &buildinfo.BuildInfo{Main: debug.Module{Path: module, Version: version}}
		for _, setting := range settings {
			key, value, _ := strings.Cut(setting, ":")
			built.Settings = append(built.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		return built
	}
	const trimmed, static, clean = "-trimpath:true", "CGO_ENABLED:0", "vcs.modified:false"
	revision := "vcs.revision:" + r.revision
	for _, row := range []struct {
		what  string
		info  *buildinfo.BuildInfo
		wrong string
	}{
		{"as it must be", info("v1.2.3", trimmed, static, clean, revision), ""},
		{"of another version", info("v1.2.2", trimmed, static, clean, revision), "v1.2.2, want v1.2.3"},
		{"of no version", info("(devel)", trimmed, static, clean, revision), "(devel), want v1.2.3"},
		{"of another commit", info("v1.2.3", trimmed, static, clean, "vcs.revision:b"), "vcs.revision=b"},
		{"with changes", info("v1.2.3", trimmed, static, "vcs.modified:true", revision), "vcs.modified=true"},
		{"with paths of the machine", info("v1.2.3", static, clean, revision), "-trimpath="},
		{"with C libraries", info("v1.2.3", trimmed, "CGO_ENABLED:1", clean, revision), "CGO_ENABLED=1"},
	} {
		err := r.checkExecutable("program", []byte("no ELF"), row.info)
		if (err != nil) != (row.wrong != "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: %v", row.what, err)
		}
	}
}
