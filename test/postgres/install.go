package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// findOrInstall returns the folder of PostgreSQL's programs.
func findOrInstall() (string, error) {
	if folder := find(); folder != "" {
		return folder, nil
	}
	if err := install(); err != nil {
		return "", err
	}
	if folder := find(); folder != "" {
		return folder, nil
	}
	return "", errors.New("PostgreSQL was installed, but its programs are not in /usr/lib/postgresql")
}

// find looks in PATH, then where Debian puts them, the newest version first.
func find() string {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(initdb)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // fails for bad patterns only
	newest, folder := 0, ""
	for _, initdb := range found {
		bin := filepath.Dir(initdb)
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(bin))); err == nil && version > newest {
			newest, folder = version, bin
		}
	}
	return folder
}

// install installs Debian's package, without the cluster that it would make and start.
func install() error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return errors.New("PostgreSQL is not installed: put initdb and pg_ctl in PATH, or on Debian install the package postgresql")
	}
	fmt.Fprintln(os.Stderr, "Installing PostgreSQL for the tests")
	const noCluster = "/etc/postgresql-common/createcluster.conf"
	for _, step := range []func() error{
		func() error { return aptGet("update", "--quiet=2") },
		func() error {
			return aptGet("install", "--yes", "--quiet=2", "--no-install-recommends", "postgresql-common")
		},
		func() error { return os.WriteFile(noCluster, []byte("create_main_cluster = false\n"), 0o600) },
		func() error {
			return aptGet("install", "--yes", "--quiet=2", "--no-install-recommends", "postgresql")
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("PostgreSQL cannot be installed: %w", err)
		}
	}
	return nil
}

func aptGet(args ...string) error {
	c := exec.Command("apt-get", args...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return quietly(c)
}
