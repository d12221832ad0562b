package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// release is one release of the operator, built.
type release struct {
	// tag is that of the images, in place of what config/default names.
	tag string
	// source is the release's repository, programs the folder of its manager and server.
	source, programs string
}

// errAbsent says that the last release cannot be built here.
var errAbsent = errors.New("the history has no last release")

// lastRelease builds the release that the file last-release names. It is kept in bin, so that it is built once.
func lastRelease(ctx context.Context, root string) (*release, error) {
	commit, err := lastCommit(ctx, root)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "bin", "releases", commit)
	r := &release{tag: "last", source: filepath.Join(dir, "source"), programs: dir}
	if _, err := os.Stat(filepath.Join(dir, "mcp-admin-server")); err == nil {
		return r, nil
	}
	fmt.Printf("building the last release, %s …\n", commit)
	if err := os.MkdirAll(r.source, 0o700); err != nil {
		return nil, err
	}
	archive, err := output(ctx, root, "git", "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", r.source)
	unpack.Stdin = strings.NewReader(archive)
	if problem, err := unpack.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tar: %w\n%s", err, problem)
	}
	return r, r.build(ctx, commit)
}

// lastCommit is the commit that the file last-release names.
func lastCommit(ctx context.Context, root string) (string, error) {
	name, err := os.ReadFile(filepath.Join(root, "test", "upgrade", "last-release"))
	if err != nil {
		return "", err
	}
	wanted := strings.TrimSpace(string(name))
	commit, err := output(ctx, root, "git", "rev-parse", "--verify", "--quiet", wanted+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: git does not know %s; a shallow clone lacks it", errAbsent, wanted)
	}
	return strings.TrimSpace(commit), nil
}

// build builds the programs, the server last: it tells that all is there.
func (r *release) build(ctx context.Context, version string) error {
	for _, program := range []string{"manager", "server"} {
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false",
			"-ldflags", "-X github.com/mcp-admin/mcp-admin-operator/contract/version.version="+version,
			"-o", filepath.Join(r.programs, "mcp-admin-"+program), "./cmd/"+program)
		build.Dir, build.Env = r.source, append(os.Environ(), "CGO_ENABLED=0")
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

func (r *release) image(program string) string { return "mcp-admin/" + program + ":" + r.tag }

// images are what the local cluster runs for the release's images.
func (r *release) images() map[string]string {
	return map[string]string{
		r.image("manager"): filepath.Join(r.programs, "mcp-admin-manager"),
		r.image("server"):  filepath.Join(r.programs, "mcp-admin-server"),
	}
}

// namedImage is an image that a release's config/default names; the first ones had no registry.
var namedImage = regexp.MustCompile(`(?:ghcr\.io/)?mcp-admin/(manager|server):[A-Za-z0-9._-]+`)

// install applies the release's config/default, and waits until its manager has replaced the other.
func (r *release) install(ctx context.Context, cluster *platform.Platform) error {
	manifest, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(r.source, "config", "default"))
	if err != nil {
		return err
	}
	manifest = namedImage.ReplaceAllStringFunc(manifest, func(named string) string {
		return r.image(namedImage.FindStringSubmatch(named)[1])
	})
	if _, err := cluster.KubectlInput(ctx, manifest, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return err
	}
	_, err = cluster.Kubectl(ctx, "-n", "mcp-admin-system", "rollout", "status", "deployment/mcp-admin-manager", "--timeout=120s")
	return err
}
