package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// findProgram returns the folder of a program: that in PATH, else the last that the patterns find.
func findProgram(name string, patterns ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Dir(path)
	}
	for _, pattern := range patterns {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // it fails for bad patterns only
			return filepath.Dir(slices.Max(found))
		}
	}
	return ""
}

// install installs Debian's packages; programs are those that would make it needless.
func install(name, programs string, packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("%s is not installed: put %s in PATH, or on Debian install %v", name, programs, packages)
	}
	fmt.Fprintln(os.Stderr, "Installing", name, "for the tests")
	err := aptGet("update", "--quiet=2")
	if err == nil {
		err = aptGet(append([]string{"install", "--yes", "--quiet=2", "--no-install-recommends"}, packages...)...)
	}
	if err != nil {
		return errors.Join(errors.New(name+" cannot be installed"), err)
	}
	return nil
}

func aptGet(args ...string) error {
	c := exec.Command("apt-get", args...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return quietly(c)
}
