package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pgVector is PostgreSQL with the extension vector, which Debian has in its newest suite alone.
type pgVector struct{ postgres }

func newPGVector(project string) pgVector {
	return pgVector{postgres{unpacked: in(project, "postgresql-18-pgvector", true), project: project}}
}

// find needs the programs and what starts them.
func (v pgVector) find() string {
	if folder := v.unpacked.find("postgres" + unwrapped); folder != "" {
		return folder
	}
	return ""
}

// unwrapped is the end of the name of a program that a script starts.
const unwrapped = ".elf"

// install also puts a script in the place of each program: these programs start one another, and know nothing of the loader that
// they need.
func (v pgVector) install() error {
	if err := v.unpacked.install(); err != nil {
		return err
	}
	folder := v.unpacked.find("initdb")
	if folder == "" {
		return fmt.Errorf("the package %s brought no PostgreSQL", v.debian)
	}
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		path := filepath.Join(folder, program)
		if err := os.Rename(path, path+unwrapped); err != nil {
			return err
		}
		script := "#!/bin/sh\nexec " + strings.Join(v.unpacked.loader(), " ") + " --argv0 " + path + " " + path + unwrapped + " \"$@\"\n"
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil { //nolint:gosec // G306: it is a program
			return err
		}
	}
	return nil
}

// loader is nil: the scripts know it.
func (pgVector) loader() []string { return nil }

func (pgVector) environment(string) []string { return nil }
