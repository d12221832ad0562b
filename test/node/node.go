// Package node runs npm's programs for the tests that need programs of others: the conformance suite and the public
// clients. It finds a Node.js that is new enough for them, and installs what a folder's package-lock.json names. Only
// commands under test import it; they are run from the project's root.
package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// oldest is the first version that all of them run on: Inspector's demand, the highest.
var oldest = [2]int{22, 19}

// own is the folder whose packages are a Node.js for machines that have an older one.
const own = "test/node"

// Find returns the absolute path of a Node.js that is new enough: the machine's, else the one of test/node, which is
// installed when it is not there.
func Find(ctx context.Context) (string, error) {
	if found, err := exec.LookPath("node"); err == nil && isNew(ctx, found) {
		return filepath.Abs(found)
	}
	if err := Install(ctx, own); err != nil {
		return "", err
	}
	candidates, err := filepath.Glob(filepath.Join(own, "node_modules", "node-*", "bin", "node"))
	if err != nil {
		return "", err
	}
	for _, candidate := range candidates {
		if isNew(ctx, candidate) {
			return filepath.Abs(candidate)
		}
	}
	return "", fmt.Errorf("no Node.js %d.%d or newer: this machine has none, and %s has none for it", oldest[0], oldest[1], own)
}

func isNew(ctx context.Context, program string) bool {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	return err == nil && newEnough(strings.TrimSpace(string(out)))
}

// newEnough judges what node --version prints, such as v22.19.0.
func newEnough(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	have, err := strconv.Atoi(major)
	if err != nil || have != oldest[0] {
		return err == nil && have > oldest[0]
	}
	have, err = strconv.Atoi(minor)
	return err == nil && have >= oldest[1]
}

// Install makes folder/node_modules hold exactly what folder/package-lock.json names. It asks the registry only if the
// lock has changed since the last installation. Packages' install scripts are not run. Suites run side by side: one
// installs a folder's packages, and the others wait.
func Install(ctx context.Context, folder string) error {
	file, err := os.Open(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", file.Name(), err)
	}
	lock, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(lock)
	wanted := []byte(hex.EncodeToString(sum[:]))
	stamp := filepath.Join(folder, "node_modules", ".installed")
	if installed, err := os.ReadFile(stamp); err == nil && bytes.Equal(installed, wanted) {
		return nil
	}
	fmt.Println("installing the npm packages of", folder, "…")
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = folder
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", folder, err, out)
	}
	return os.WriteFile(stamp, wanted, 0o600)
}
