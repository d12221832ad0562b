// Package debian unpacks packages of Debian into a folder, for the programs and files that tests use: nothing of them is
// installed, and nobody need be root. It needs Debian's apt-get and dpkg-deb.
package debian

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
	"sync"
)

// Package is a package of Debian, of the machine's own release.
type Package struct {
	// Cache is the folder in which packages are unpacked; what apt knows is kept there, too.
	Cache, Name string
	// Folder is the name of the package's folder in the cache; the package's own name if it is empty.
	Folder string
	// Alone leaves out the libraries that the package needs.
	Alone bool
	// Also are packages that it works with, and does not depend on.
	Also []string
	// Python also takes the packages of Python that it needs, and Python itself.
	Python bool
	// Sid takes the newest release instead (sid). Its programs need the loader and the C library that lie in the folder.
	Sid bool
}

// Root is the folder with the package's files. It is there once Install has succeeded.
func (p Package) Root() string { return filepath.Join(p.Cache, cmp.Or(p.Folder, p.Name)) }

var (
	// one unpacks at a time.
	one sync.Mutex
	// updated are the configurations of apt whose lists this process has fetched.
	updated = map[string]bool{}
)

// Install unpacks the package, and its libraries unless it is Alone, if its folder is not there. Names of libraries have releases in them, so
// they are asked for each time.
func (p Package) Install() error {
	one.Lock()
	defer one.Unlock()
	if _, err := os.Stat(p.Root()); err == nil {
		return nil
	}
	conf, err := p.configure()
	if err != nil {
		return err
	}
	apt := func(folder, program string, args ...string) *exec.Cmd {
		c := exec.Command(program, args...)
		c.Dir, c.Env = folder, append(os.Environ(), "APT_CONFIG="+conf)
		return c
	}
	if !updated[conf] {
		if err := quietly(apt(p.Cache, "apt-get", "update", "--quiet=2")); err != nil {
			return err
		}
		updated[conf] = true
	}
	names := append([]string{p.Name}, p.Also...)
	if !p.Alone {
		known, err := apt(p.Cache, "apt-cache", append([]string{"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
			"--no-breaks", "--no-replaces", "--no-enhances"}, names...)...).Output()
		if err != nil {
			return fmt.Errorf("there is no package %s: %w", p.Name, err)
		}
		names = p.wanted(string(known))
	}
	fetched, err := os.MkdirTemp(p.Cache, "fetched-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fetched)
	if err := quietly(apt(fetched, "apt-get", append([]string{"download", "--quiet=2"}, names...)...)); err != nil {
		return err
	}
	files, _ := filepath.Glob(filepath.Join(fetched, "*.deb")) // it fails for bad patterns only
	part := filepath.Join(fetched, "root")                     // it moves once it is whole
	for _, file := range files {
		if err := quietly(exec.Command("dpkg-deb", "-x", file, part)); err != nil {
			return err
		}
	}
	return os.Rename(part, p.Root())
}

// quietly runs a program whose output matters only if it fails.
func quietly(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	return nil
}

// programs are the packages that a package needs beside libraries.
var (
	programs = regexp.MustCompile(`^postgresql(-client)?-\d+$`)
	python   = regexp.MustCompile(`^python3(\.\d+)?(-.+)?$`)
)

// wanted returns the package itself, and among the packages that apt-cache lists the libraries and the programs. The
// machine has its own C library, which no other can take the place of.
func (p Package) wanted(listed string) []string {
	var names []string
	for name := range strings.Lines(listed) {
		name = strings.TrimRight(name, "\n")
		library := (strings.HasPrefix(name, "lib") || strings.HasPrefix(name, "zlib")) && !strings.Contains(name, "perl")
		if !p.Sid && (name == "libc6" || strings.HasPrefix(name, "libllvm")) {
			continue
		}
		if (name == p.Name || slices.Contains(p.Also, name) || library || programs.MatchString(name) || p.Python && python.MatchString(name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// configure writes a configuration of apt that is apart from the machine's, and returns its path.
func (p Package) configure() (string, error) {
	apt := filepath.Join(p.Cache, "apt")
	sources := ""
	if p.Sid {
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
	if p.Sid {
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
