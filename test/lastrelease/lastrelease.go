// Package lastrelease builds the release before this one, for tests that go from it to this one.
package lastrelease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Release is a release of the operator, built.
type Release struct {
	// Source is the release's repository, Programs the folder of its manager and server.
	Source, Programs string
}

// ErrAbsent says that the last release cannot be built here.
var ErrAbsent = errors.New("the history has no last release")

// Find builds the release that the file test/upgrade/last-release names. It is kept in bin, so that it is built once.
func Find(ctx context.Context, root string) (*Release, error) {
	commit, err := Commit(ctx, root)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "bin", "releases", commit)
	r := &Release{Source: filepath.Join(dir, "source"), Programs: dir}
	if _, err := os.Stat(filepath.Join(dir, "mcp-admin-server")); err == nil {
		return r, nil
	}
	fmt.Printf("building the last release, %s …\n", commit)
	if err := os.MkdirAll(r.Source, 0o700); err != nil {
		return nil, err
	}
	archive, err := output(ctx, root, "git", "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", r.Source)
	unpack.Stdin = strings.NewReader(archive)
	if problem, err := unpack.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tar: %w\n%s", err, problem)
	}
	return r, r.Build(ctx, commit)
}

// Commit is the commit that the file last-release names.
func Commit(ctx context.Context, root string) (string, error) {
	name, err := os.ReadFile(filepath.Join(root, "test", "upgrade", "last-release"))
	if err != nil {
		return "", err
	}
	wanted := strings.TrimSpace(string(name))
	commit, err := output(ctx, root, "git", "rev-parse", "--verify", "--quiet", wanted+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: git does not know %s; a shallow clone lacks it", ErrAbsent, wanted)
	}
	return strings.TrimSpace(commit), nil
}

// Build builds the programs, the server last: it tells that all is there.
func (r *Release) Build(ctx context.Context, version string) error {
	for _, program := range []string{"manager", "server"} {
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false",
			"-ldflags", "-X github.com/mcp-admin/mcp-admin-operator/contract/version.version="+version,
			"-o", filepath.Join(r.Programs, "mcp-admin-"+program), "./cmd/"+program)
		build.Dir, build.Env = r.Source, append(os.Environ(), "CGO_ENABLED=0")
		if problem, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/%s: %w\n%s", program, err, problem)
		}
	}
	return nil
}

func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	var out bytes.Buffer
	command.Stdout = &out
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return out.String(), nil
}
