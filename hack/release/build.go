package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const module = "github.com/mcp-admin/mcp-admin-operator"

// A program is one of the project's.
type program struct {
	// name is that of the executable and, in the registry, of its image. folder is below cmd.
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

var (
	imageTargets  = []target{{"linux", "amd64"}, {"linux", "arm64"}}
	peopleTargets = []target{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
)

// targets are those that a program is built for.
func (p program) targets(imagesOnly bool) []target {
	if p.people && !imagesOnly {
		return peopleTargets
	}
	return imageTargets
}

// executable is the name of a program's file.
func (p program) executable(t target) string {
	if t.os == "windows" {
		return p.name + ".exe"
	}
	return p.name
}

// build builds a program into folder/os_arch, and returns the file's path. The same sources give the same bytes, wherever
// they lie.
func (r *release) build(ctx context.Context, p program, t target, folder string) (string, error) {
	output := filepath.Join(folder, t.os+"_"+t.arch, p.executable(t))
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs="+strconv.FormatBool(r.clean()),
		"-ldflags", "-s -w -X "+module+"/contract/version.version="+r.version, "-o", output, "./cmd/"+p.folder)
	command.Dir = r.source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch,
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if problem, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s for %s: %w\n%s", p.name, t, err, problem)
	}
	return output, nil
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
