package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches the names of files that hold a licence, or what it asks to pass on.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|copyright)([-_.].*)?$`)

// A notice is one text, and the files of modules that hold it.
type notice struct {
	files []string
	text  string
}

// notices are the licences of modules and of what they took from others. A module without any is an error: it must not
// be passed on.
func notices(modules []dependency) ([]notice, error) {
	var all []notice
	places := map[string]int{}
	for _, m := range modules {
		texts, err := licences(m)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("module %s %s has no licence", m.path, m.version)
		}
		for _, f := range texts {
			text := strings.TrimSpace(strings.ReplaceAll(string(f.data), "\r\n", "\n"))
			place, known := places[text]
			if !known {
				place = len(all)
				places[text] = place
				all = append(all, notice{text: text})
			}
			all[place].files = append(all[place].files, fmt.Sprintf("%s %s: %s", m.path, m.version, f.path))
		}
	}
	return all, nil
}

// licences are the licence files of a module, in order of their paths, without the files of modules that only its tests
// use.
func licences(m dependency) ([]file, error) {
	var found []file
	err := filepath.WalkDir(m.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != m.dir && (m.path == standardLibrary || skipped(name, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !licenceFile.MatchString(base) || strings.HasSuffix(base, ".go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(m.dir, name)
		found = append(found, file{path: filepath.ToSlash(relative), data: data})
		return err
	})
	return found, err
}

// skipped reports whether Go does not build a folder, or it has a module of its own.
func skipped(folder, base string) bool {
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
		return true
	}
	return slices.Contains([]string{"testdata", "vendor", "node_modules"}, base) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

func (r *release) writeNotices(name string, modules []dependency) error {
	all, err := notices(modules)
	if err != nil {
		return err
	}
	return create(name, func(w io.Writer) error {
		fmt.Fprintf(w, "mcp-admin-operator %s is under the Apache License, Version 2.0 (LICENSE).\n", r.version)
		fmt.Fprintln(w, "Its programs and images hold parts of the modules below, each under the licence that follows its name.")
		for _, n := range all {
			fmt.Fprintf(w, "\n%s\n\n%s\n\n%s\n", strings.Repeat("=", 78), strings.Join(n.files, "\n"), n.text)
		}
		return nil
	})
}
