package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// notInstalled is the error of an engine whose programs are not there. Tests look for its words.
func notInstalled(name string) error {
	return fmt.Errorf(`%s is not installed: run "make more-databases" on Debian, or put its programs into PATH`, name)
}

// installAll installs whatever is not there. Without the engines that every suite runs on, it fails; any other that cannot
// be had is named, and done without.
func installAll(which scope, only string) error {
	for _, k := range kinds {
		if only != "" && k.name != only || only == "" && k.variable == "" && !which.has(k) {
			continue
		}
		if k.variable != "" && os.Getenv(k.variable) != "" {
			continue // the tests use that server
		}
		e := k.open(project.Root())
		if e.find() != "" {
			continue
		}
		fmt.Fprintln(os.Stderr, "installing", k.title, "for the tests …")
		err := e.install()
		if err == nil && e.find() == "" {
			err = errors.New("the packages were installed, but the programs are not where they should be")
		}
		switch {
		case err != nil && k.variable != "":
			return fmt.Errorf("%s cannot be installed: %w", k.title, err)
		case err != nil:
			warn("%s cannot be installed, and is not tested: %v", k.title, err)
		}
	}
	return nil
}

// warn prints a line that nobody overlooks.
func warn(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "\n!!! "+format+"\n\n", args...)
}

// findProgram returns the folder of a program: the one in PATH, else the last that the patterns find.
func findProgram(name string, patterns ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Dir(path)
	}
	for _, pattern := range patterns {
		if found := newest(pattern); found != "" {
			return filepath.Dir(found)
		}
	}
	return ""
}

// newest returns the last file that a pattern finds, or "".
func newest(pattern string) string {
	found, _ := filepath.Glob(pattern) // it fails for bad patterns only
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// isRoot reports whether packages can be installed on the machine itself.
func isRoot() bool { return os.Geteuid() == 0 }

// installPackages installs Debian's packages.
func installPackages(packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil || !isRoot() {
		return fmt.Errorf("only root can do that, on Debian: the packages are %s", strings.Join(packages, ", "))
	}
	err := aptGet("update", "--quiet=2")
	if err == nil {
		err = aptGet(append([]string{"install", "--yes", "--quiet=2", "--no-install-recommends"}, packages...)...)
	}
	return err
}

func aptGet(args ...string) error {
	c := exec.Command("apt-get", args...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return quietly(c)
}
