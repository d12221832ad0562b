package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// unpacked is a package of Debian's newest suite (sid) with all libraries that it needs, unpacked into a folder. Nothing of
// it is installed, and the machine may be of an older release: its programs run with the loader in that folder.
type unpacked struct{ cache, debian string }

// in returns the programs of a package in the project's cache.
func in(project, debian string) unpacked {
	return unpacked{filepath.Join(project, "bin", "databases"), debian}
}

func (u unpacked) root() string { return filepath.Join(u.cache, u.debian) }

// find returns the folder of the program, or "".
func (u unpacked) find(program string) string {
	if _, err := os.Stat(filepath.Join(u.root(), "usr/sbin", program)); err != nil {
		return ""
	}
	return filepath.Join(u.root(), "usr/sbin")
}

// loader is what a program of the folder is started with.
func (u unpacked) loader() []string {
	found := newest(filepath.Join(u.root(), "usr/lib/*-linux-gnu*/ld-linux-*"))
	return []string{found, "--library-path", filepath.Dir(found)}
}

// install fetches the package and its libraries. Sid moves, so their names are asked for each time.
func (u unpacked) install() error {
	conf, err := u.configure()
	if err != nil {
		return err
	}
	apt := func(folder, program string, args ...string) *exec.Cmd {
		c := exec.Command(program, args...)
		c.Dir, c.Env = folder, append(os.Environ(), "APT_CONFIG="+conf)
		return c
	}
	if err := quietly(apt(u.cache, "apt-get", "update", "--quiet=2")); err != nil {
		return err
	}
	known, err := apt(u.cache, "apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
		"--no-breaks", "--no-replaces", "--no-enhances", u.debian).Output()
	if err != nil {
		return fmt.Errorf("sid has no package %s: %w", u.debian, err)
	}
	fetched, err := os.MkdirTemp(u.cache, "fetched-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fetched)
	if err := quietly(apt(fetched, "apt-get", append([]string{"download", "--quiet=2"}, u.wanted(string(known))...)...)); err != nil {
		return err
	}
	files, _ := filepath.Glob(filepath.Join(fetched, "*.deb")) // it fails for bad patterns only
	part := filepath.Join(fetched, "root")                     // it moves once it is whole
	for _, file := range files {
		if err := quietly(exec.Command("dpkg-deb", "-x", file, part)); err != nil {
			return err
		}
	}
	return os.Rename(part, u.root())
}

// wanted returns the package itself and the libraries among the packages that apt-cache lists.
func (u unpacked) wanted(listed string) []string {
	var names []string
	for name := range strings.Lines(listed) {
		name = strings.TrimRight(name, "\n")
		library := strings.HasPrefix(name, "lib") || strings.HasPrefix(name, "zlib")
		if (name == u.debian || library && !strings.Contains(name, "perl")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// configure writes a configuration of apt that is apart from the machine's, and returns its path.
func (u unpacked) configure() (string, error) {
	from, err := mirror()
	if err != nil {
		return "", err
	}
	apt := filepath.Join(u.cache, "apt")
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, folder), 0o755); err != nil { //nolint:gosec // G301: apt's own user reads there
			return "", err
		}
	}
	conf := filepath.Join(apt, "apt.conf")
	for name, text := range map[string]string{
		"status": "",
		"sid.sources": strings.ReplaceAll(`Types: deb
URIs: MIRROR
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`, "MIRROR", from),
		"apt.conf": strings.ReplaceAll(`Dir::Etc::sourcelist "APT/sid.sources";
Dir::Etc::sourceparts "/nonexistent";
Dir::State::lists "APT/lists";
Dir::State::status "APT/status";
Dir::Cache "APT/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
`, "APT", apt),
	} {
		if err := os.WriteFile(filepath.Join(apt, name), []byte(text), 0o644); err != nil { //nolint:gosec // G306: nothing is secret in it
			return "", err
		}
	}
	return conf, nil
}

// mirror returns from where this machine gets Debian's packages: other releases lie there too.
func mirror() (string, error) {
	sites, err := exec.Command("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("apt-get does not tell where packages come from: %w", err)
	}
	for site := range strings.Lines(string(sites)) {
		if site = strings.TrimSpace(site); strings.HasSuffix(strings.TrimSuffix(site, "/"), "/debian") {
			return site, nil
		}
	}
	return "", errors.New("this machine's apt has no source of Debian's own packages")
}
