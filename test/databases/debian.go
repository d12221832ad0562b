package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unpacked is a package of Debian with all libraries that it needs, unpacked into a folder: nothing of it is installed, and
// nobody need be root. It is of the machine's own release, or of the newest one (sid), whose programs run with the loader in
// that folder.
type unpacked struct {
	cache, debian string
	sid           bool
	// also are packages that it works with, and does not depend on.
	also []string
	// folder is the name of the folder; the package's if it is empty.
	folder string
}

// in returns the programs of a package in the project's cache.
func in(project, debian string, sid bool) unpacked {
	return unpacked{cache: filepath.Join(project, "bin", "databases"), debian: debian, sid: sid}
}

func (u unpacked) root() string { return filepath.Join(u.cache, cmp.Or(u.folder, u.debian)) }

// find returns the folder of the program, or "".
func (u unpacked) find(program string) string {
	for _, folder := range []string{"usr/sbin", "usr/bin", "usr/lib/postgresql/*/bin"} {
		if found := newest(filepath.Join(u.root(), folder, program)); found != "" {
			return filepath.Dir(found)
		}
	}
	return ""
}

// holds reports whether programs of a folder were unpacked.
func (u unpacked) holds(binaries string) bool {
	return u.cache != "" && strings.HasPrefix(binaries, u.root())
}

// loader starts a program of the folder.
func (u unpacked) loader() []string {
	if !u.sid {
		return nil
	}
	found := newest(filepath.Join(u.root(), "usr/lib/*-linux-gnu*/ld-linux-*"))
	return []string{found, "--library-path", filepath.Dir(found)}
}

// unwrapped is the end of the name of a program that a script starts.
const unwrapped = ".elf"

// wrap puts a script in the place of each program: programs that start one another know nothing of the loader that they need.
func (u unpacked) wrap(programs ...string) error {
	for _, program := range programs {
		folder := u.find(program)
		if folder == "" {
			return fmt.Errorf("the package %s brought no %s", u.debian, program)
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

// environment lets the programs, and the programs that they start, find their libraries.
func (u unpacked) environment(binaries string) []string {
	if u.sid || !u.holds(binaries) {
		return nil
	}
	folders, _ := filepath.Glob(filepath.Join(u.root(), "usr/lib/*-linux-gnu*"))     // it fails for bad patterns only
	private, _ := filepath.Glob(filepath.Join(u.root(), "usr/lib/*-linux-gnu*/*.d")) // of some libraries
	return []string{"LD_LIBRARY_PATH=" + strings.Join(append(folders, private...), ":")}
}

// install fetches the package and its libraries. Names of packages have releases in them, so they are asked for each time.
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
	known, err := apt(u.cache, "apt-cache", append([]string{"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
		"--no-breaks", "--no-replaces", "--no-enhances", u.debian}, u.also...)...).Output()
	if err != nil {
		return fmt.Errorf("there is no package %s: %w", u.debian, err)
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

// programs are the packages that a package needs beside libraries.
var programs = regexp.MustCompile(`^postgresql(-client)?-\d+$`)

// wanted returns the package itself, and among the packages that apt-cache lists the libraries and the programs. The
// machine has its own C library, which no other can take the place of.
func (u unpacked) wanted(listed string) []string {
	var names []string
	for name := range strings.Lines(listed) {
		name = strings.TrimRight(name, "\n")
		library := (strings.HasPrefix(name, "lib") || strings.HasPrefix(name, "zlib")) && !strings.Contains(name, "perl")
		if !u.sid && (name == "libc6" || strings.HasPrefix(name, "libllvm")) {
			continue
		}
		if (name == u.debian || slices.Contains(u.also, name) || library || programs.MatchString(name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// configure writes a configuration of apt that is apart from the machine's, and returns its path.
func (u unpacked) configure() (string, error) {
	apt := filepath.Join(u.cache, "apt")
	sources := ""
	if u.sid {
		from, err := mirror()
		if err != nil {
			return "", err
		}
		apt += "-sid"
		sources = strings.ReplaceAll(sidSources, "MIRROR", from)
	}
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, folder), 0o755); err != nil { //nolint:gosec // G301: apt's own user reads there
			return "", err
		}
	}
	conf := filepath.Join(apt, "apt.conf")
	files := map[string]string{"status": "", "apt.conf": strings.ReplaceAll(aptConf, "APT/", apt+"/")}
	if u.sid {
		files["sid.sources"] = sources
		files["apt.conf"] += strings.ReplaceAll(sidConf, "APT/", apt+"/")
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(apt, name), []byte(text), 0o644); err != nil { //nolint:gosec // G306: nothing is secret in it
			return "", err
		}
	}
	return conf, nil
}

const (
	aptConf = `Dir::State::lists "APT/lists";
Dir::State::status "APT/status";
Dir::Cache "APT/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
`
	sidConf = `Dir::Etc::sourcelist "APT/sid.sources";
Dir::Etc::sourceparts "/nonexistent";
`
	sidSources = `Types: deb
URIs: MIRROR
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`
)

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
