package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unpublished matches what no text of a release may have: versions that nobody can pull or compare.
var unpublished = regexp.MustCompile(`\(devel\)|:(dev|latest|unknown)\b`)

// check reads all that was written as its users will, archives within archives, and returns what must not be published.
func (r *release) check(ctx context.Context) error {
	cache, err := output(ctx, r.root, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	machine := []string{cache + string(filepath.Separator), filepath.Join(r.source, "cmd") + string(filepath.Separator)}
	return filepath.WalkDir(r.dist, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return inside(entry.Name(), data, func(path string, data []byte) error {
			for _, place := range machine {
				if bytes.Contains(data, []byte(place)) {
					return fmt.Errorf("%s tells where it was built: %s", path, place)
				}
			}
			if info, err := buildinfo.Read(bytes.NewReader(data)); err == nil {
				return r.checkExecutable(path, data, info)
			}
			if found := unpublished.Find(data); found != nil {
				return fmt.Errorf("%s has %q", path, found)
			}
			return nil
		})
	})
}

// checkExecutable returns an error unless an executable is of this release, and holds no more than it needs.
func (r *release) checkExecutable(path string, data []byte, info *buildinfo.BuildInfo) error {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	want := map[string]string{"-trimpath": "true", "CGO_ENABLED": "0"}
	if r.withC {
		want["CGO_ENABLED"] = "1"
	}
	if r.clean() {
		want["vcs.revision"], want["vcs.modified"] = r.revision, "false"
		// A module below the project's has versions of its own.
		if info.Main.Path == module && info.Main.Version != r.version {
			return fmt.Errorf("%s: Go recorded the version %s, want %s", path, info.Main.Version, r.version)
		}
	}
	for key, value := range want {
		if settings[key] != value {
			return fmt.Errorf("%s was built with %s=%s, want %s", path, key, settings[key], value)
		}
	}
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil //nolint:nilerr // of another system than Linux
	}
	for _, section := range []string{".interp", ".symtab", ".debug_info", ".zdebug_info"} {
		if file.Section(section) != nil {
			return fmt.Errorf("%s is not static, or not stripped: it has the section %s", path, section)
		}
	}
	return nil
}

// inside visits a file, or, if it is an archive, the files that it holds.
func inside(path string, data []byte, visit func(path string, data []byte) error) error {
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text, err := io.ReadAll(unpacked)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return inside(path, text, visit)
	case strings.HasSuffix(path, ".zip"):
		return insideZip(path, data, visit)
	case len(data) > 262 && string(data[257:262]) == "ustar":
		return insideTar(path, data, visit)
	}
	return visit(path, data)
}

func insideTar(path string, data []byte, visit func(path string, data []byte) error) error {
	archive := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := inside(path+": "+header.Name, content, visit); err != nil {
			return err
		}
	}
}

func insideZip(path string, data []byte, visit func(path string, data []byte) error) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, entry := range archive.File {
		content, err := fs.ReadFile(archive, entry.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := inside(path+": "+entry.Name, content, visit); err != nil {
			return err
		}
	}
	return nil
}
