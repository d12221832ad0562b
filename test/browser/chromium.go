package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// FindChromium returns the browser's program, or "".
func FindChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// InstallChromium installs Debian's package.
func InstallChromium(ctx context.Context) error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return errors.New("there is no Chromium: put chromium in PATH, or on Debian install the package chromium")
	}
	fmt.Fprintln(os.Stderr, "Installing Chromium for the tests")
	for _, args := range [][]string{
		{"update", "--quiet=2"},
		{"install", "--yes", "--quiet=2", "--no-install-recommends", "chromium"},
	} {
		c := exec.CommandContext(ctx, "apt-get", args...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s cannot bring Chromium: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// show shows a page until ctx ends. What the browser keeps lies in a folder of its own, which is removed.
func show(ctx context.Context, program, page string) error {
	profile, err := os.MkdirTemp("", "mcp-admin-browser-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	log, err := os.Create(filepath.Join(profile, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-default-apps", "--disable-extensions", "--user-data-dir="+filepath.Join(profile, "data"), page)
	c.Stdout, c.Stderr = log, log
	// The browser is many processes; they end together.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	err = c.Run()
	if ctx.Err() != nil {
		return nil // It was ended, rather than ended itself.
	}
	said, _ := os.ReadFile(log.Name())
	return fmt.Errorf("%s ended by itself (%w):\n%s", filepath.Base(program), err, said)
}
