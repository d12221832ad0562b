package monitoring

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// findPromtool returns the promtool of PATH, or the one that was unpacked; "" if there is none.
func findPromtool(cache string) string {
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	if path := unpackedPromtool(cache); executable(path) {
		return path
	}
	return ""
}

func unpackedPromtool(cache string) string {
	return filepath.Join(cache, "prometheus/usr/bin/promtool")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// unpackPromtool fetches Debian's package prometheus and unpacks it into the cache: nothing is installed, and nobody need be
// root. apt keeps its lists in the cache too, since those of the machine may be missing, or not be ours to write.
func unpackPromtool(cache string) (string, error) {
	apt := filepath.Join(cache, "apt")
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, folder), 0o755); err != nil {
			return "", err
		}
	}
	conf := filepath.Join(apt, "apt.conf")
	for path, text := range map[string]string{filepath.Join(apt, "status"): "", conf: strings.ReplaceAll(aptConf, "APT/", apt+"/")} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	fetched, err := os.MkdirTemp(cache, "fetched-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fetched)
	for _, args := range [][]string{{"apt-get", "update", "--quiet=2"}, {"apt-get", "download", "--quiet=2", "prometheus"}} {
		if err := runIn(fetched, conf, args...); err != nil {
			return "", err
		}
	}
	files, err := filepath.Glob(filepath.Join(fetched, "*.deb"))
	if err != nil || len(files) != 1 {
		return "", errors.Join(fmt.Errorf("%d packages were fetched, want 1", len(files)), err)
	}
	part := filepath.Join(fetched, "root") // it moves once it is whole
	if err := runIn(fetched, conf, "dpkg-deb", "-x", files[0], part); err != nil {
		return "", err
	}
	if err := os.Rename(part, filepath.Join(cache, "prometheus")); err != nil {
		return "", err
	}
	if path := unpackedPromtool(cache); executable(path) {
		return path, nil
	}
	return "", errors.New("the package prometheus has no promtool")
}

const aptConf = `Dir::State::lists "APT/lists";
Dir::State::status "APT/status";
Dir::Cache "APT/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
`

func runIn(folder, conf string, args ...string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = folder, append(os.Environ(), "APT_CONFIG="+conf)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return nil
}
