package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/mcp-admin/mcp-admin-operator"

// A program is one of the project's.
type program struct {
	// name is the executable's and, in the registry, its image's. folder is below cmd.
	name, image, folder string
	description         string
	// people says that it is released for the machines of people too.
	people bool
}

var programs = []program{
	{name: "mcp-admin-manager", image: "manager", folder: "manager", description: "The controllers of mcp-admin-operator"},
	{name: "mcp-admin-server", image: "server", folder: "server", description: "The MCP server of one endpoint of mcp-admin-operator"},
	{name: "mcp-admin", image: "mcp-admin", folder: "mcp-admin", description: "The command line of mcp-admin-operator", people: true},
}

// A target is an operating system and a processor, as Go names them.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// People's targets include the images'.
var (
	imageTargets  = []target{{"linux", "amd64"}, {"linux", "arm64"}}
	peopleTargets = []target{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
)

// targets are the targets that a program is built for.
func (r *release) targets(p program, only part) []target {
	if p.people && only == everything {
		return peopleTargets
	}
	return r.platforms
}

// parsePlatforms reads a list of targets of images, such as linux/amd64,linux/arm64. Nothing is all.
func parsePlatforms(list string) ([]target, error) {
	if list == "" {
		return imageTargets, nil
	}
	var found []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(imageTargets, func(t target) bool { return t.String() == name })
		if i < 0 || slices.Contains(found, imageTargets[i]) {
			return nil, fmt.Errorf("-platforms: %q is none, or is given twice: there are %v", name, imageTargets)
		}
		found = append(found, imageTargets[i])
	}
	return found, nil
}

// executable is the name of a program's file.
func (p program) executable(t target) string { return p.name + t.extension() }

func (t target) extension() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// executables are the files of the programs, by the programs' names and by their targets.
type executables map[string]map[target]string

// buildAll builds every program for all of its targets, and has those for this machine say their version.
func (r *release) buildAll(ctx context.Context, work string, only part) (executables, error) {
	all := executables{}
	for _, t := range peopleTargets {
		for _, p := range programs {
			if !slices.Contains(r.targets(p, only), t) {
				continue
			}
			if all[p.name] == nil {
				all[p.name] = map[target]string{}
			}
			all[p.name][t] = filepath.Join(work, t.os+"_"+t.arch, p.folder+t.extension())
		}
		if err := r.build(ctx, t, all); err != nil {
			return nil, err
		}
	}
	return all, r.askVersions(ctx, programs, all)
}

// build builds the programs of one target at once: what they share is compiled once, and one is linked while others are
// compiled. The same sources give the same bytes, wherever they lie.
func (r *release) build(ctx context.Context, t target, files executables) error {
	folder := ""
	args := []string{"build", "-trimpath", "-buildvcs=" + strconv.FormatBool(r.clean()),
		"-ldflags", "-s -w -X " + module + "/contract/version.version=" + r.version}
	var packages, names []string
	for _, p := range programs {
		if file, ok := files[p.name][t]; ok {
			folder = filepath.Dir(file)
			packages, names = append(packages, "./cmd/"+p.folder), append(names, p.name)
		}
	}
	if len(packages) == 0 {
		return nil
	}
	fmt.Printf("building %s for %s …\n", strings.Join(names, ", "), t)
	command := exec.CommandContext(ctx, "go", slices.Concat(args, []string{"-o", folder + string(filepath.Separator)}, packages)...)
	command.Dir = r.source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch,
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if problem, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building for %s: %w\n%s", t, err, problem)
	}
	return nil
}

// askVersions starts the programs that are for this machine: they must start, and say which version they are.
func (r *release) askVersions(ctx context.Context, programs []program, files executables) error {
	for _, p := range programs {
		file, ok := files[p.name][target{runtime.GOOS, runtime.GOARCH}]
		if !ok {
			continue
		}
		said, err := output(ctx, r.root, file, "--version")
		if err != nil {
			return err
		}
		if !strings.Contains(said+" ", " "+r.version+" ") {
			return fmt.Errorf("%s --version says %q, without %s", p.name, said, r.version)
		}
	}
	return nil
}

// output runs a program in a folder and returns what it prints, without spaces around it.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = folder
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
