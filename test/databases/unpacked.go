package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/debian"
)

// unpacked are the programs of a package of Debian, unpacked with all libraries that they need. Those of the newest release (sid)
// run with the loader in its folder.
type unpacked struct{ debian.Package }

// in returns the programs of a package in the project's cache.
func in(project, name string, sid bool) unpacked {
	return unpacked{debian.Package{Cache: filepath.Join(project, "bin", "databases"), Name: name, Sid: sid}}
}

func (u unpacked) install() error { return u.Install() }

// find returns the folder of the program, or "".
func (u unpacked) find(program string) string {
	for _, folder := range []string{"usr/sbin", "usr/bin", "usr/lib/postgresql/*/bin"} {
		if found := newest(filepath.Join(u.Root(), folder, program)); found != "" {
			return filepath.Dir(found)
		}
	}
	return ""
}

// holds reports whether programs of a folder were unpacked.
func (u unpacked) holds(binaries string) bool {
	return u.Cache != "" && strings.HasPrefix(binaries, u.Root())
}

// loader starts a program of the folder.
func (u unpacked) loader() []string {
	if !u.Sid {
		return nil
	}
	found := newest(filepath.Join(u.Root(), "usr/lib/*-linux-gnu*/ld-linux-*"))
	return []string{found, "--library-path", filepath.Dir(found)}
}

// unwrapped is the end of the name of a program that a script starts.
const unwrapped = ".elf"

// wrap puts a script in the place of each program: programs that start one another know nothing of the loader that they need.
func (u unpacked) wrap(programs ...string) error {
	for _, program := range programs {
		folder := u.find(program)
		if folder == "" {
			return fmt.Errorf("the package %s brought no %s", u.Name, program)
		}
		path := filepath.Join(folder, program)
		if err := os.Rename(path, path+unwrapped); err != nil {
			return err
		}
		script := "#!/bin/sh\nexec " + strings.Join(u.loader(), " ") + " --argv0 " + path + " " + path + unwrapped + " \"$@\"\n"
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil { //nolint:gosec // G306: it is a program
			return err
		}
	}
	return nil
}

// libraryPath begins the variable with the folders of libraries.
const libraryPath = "LD_LIBRARY_PATH="

// environment lets the programs, and the programs that they start, find their libraries.
func (u unpacked) environment(binaries string) []string {
	if u.Sid || !u.holds(binaries) {
		return nil
	}
	folders, _ := filepath.Glob(filepath.Join(u.Root(), "usr/lib/*-linux-gnu*"))     // it fails for bad patterns only
	private, _ := filepath.Glob(filepath.Join(u.Root(), "usr/lib/*-linux-gnu*/*.d")) // of some libraries
	return []string{libraryPath + strings.Join(append(folders, private...), ":")}
}
