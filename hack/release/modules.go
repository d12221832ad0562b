package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A dependency is a module that is linked into a program, or whose data is in its image.
type dependency struct {
	path, version string
	// sum is the module's checksum as go.sum has it; "" for the standard library.
	sum string
	// dir is where its files lie.
	dir string
	// licence is an expression of SPDX.
	licence string
}

// standardLibrary stands for Go's own packages, as if they were a module.
const standardLibrary = "std"

// authoritiesModule is linked into nothing; its certificates are in the images.
const authoritiesModule = "golang.org/x/crypto/x509roots/fallback"

// modules returns the modules that are linked into executables, or whose data is in their images, with their folders and
// licences.
func (r *release) modules(ctx context.Context, files []string) ([]dependency, error) {
	found, err := linked(files)
	if err != nil {
		return nil, err
	}
	if found, err = r.locate(ctx, found); err != nil {
		return nil, err
	}
	for i, m := range found {
		if found[i].licence, err = licence(m); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// linked are the modules of executables, Go's standard library among them, in order of their paths.
func linked(files []string) ([]dependency, error) {
	found := map[string]dependency{}
	for _, executable := range files {
		info, err := buildinfo.ReadFile(executable)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", executable, err)
		}
		found[standardLibrary] = dependency{path: standardLibrary, version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			found[m.Path] = dependency{path: m.Path, version: m.Version, sum: m.Sum}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b dependency) int { return cmp.Compare(a.path, b.path) }), nil
}

// locate finds the folders of the modules, and what is in the images without being linked.
func (r *release) locate(ctx context.Context, modules []dependency) ([]dependency, error) {
	var paths []string
	for _, m := range modules {
		if m.path != standardLibrary {
			paths = append(paths, m.path)
		}
	}
	paths = append(paths, authoritiesModule)
	// "go mod download" has Go fetch what the module cache lacks.
	if _, err := output(ctx, r.source, "go", append([]string{"mod", "download"}, paths...)...); err != nil {
		return nil, err
	}
	listed, err := output(ctx, r.source, "go", append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}, paths...)...)
	if err != nil {
		return nil, err
	}
	goroot, err := output(ctx, r.source, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	located := slices.Clone(modules)
	folders := map[string]string{standardLibrary: goroot}
	for line := range strings.Lines(listed) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		folders[fields[0]] = fields[2]
		if fields[0] == authoritiesModule {
			located = append(located, dependency{path: fields[0], version: fields[1]})
		}
	}
	for i := range located {
		located[i].dir = folders[located[i].path]
		if located[i].dir == "" {
			return nil, fmt.Errorf("module %s is not in the module cache", located[i].path)
		}
	}
	return located, nil
}
