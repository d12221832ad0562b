package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// release is one release of the operator, built.
type release struct {
	// tag is the images' tag, in place of the tag in config/default.
	tag string
	// config is the release's folder config, programs the folder of its manager and server.
	config, programs string
}

// thisRelease builds the repository in its present state.
func thisRelease(ctx context.Context, root, dir string) (*release, error) {
	r := &release{tag: "this", config: filepath.Join(root, "config"), programs: filepath.Join(dir, "this")}
	return r, r.build(ctx, root)
}

// build builds the programs.
func (r *release) build(ctx context.Context, root string, flags ...string) error {
	for _, program := range []string{"manager", "server"} {
		args := append([]string{"build", "-buildvcs=false", "-ldflags", "-X github.com/mcp-admin/mcp-admin-operator/contract/version.version=" + r.tag}, flags...)
		build := exec.CommandContext(ctx, "go", append(args, "-o", filepath.Join(r.programs, "mcp-admin-"+program), "./cmd/"+program)...)
		build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if problem, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/%s: %w\n%s", program, err, problem)
		}
	}
	return nil
}

func (r *release) image(program string) string { return "mcp-admin/" + program + ":" + r.tag }

// images are the programs that the local cluster runs for the release's images.
func (r *release) images() map[string]string {
	return map[string]string{
		r.image("manager"): filepath.Join(r.programs, "mcp-admin-manager"),
		r.image("server"):  filepath.Join(r.programs, "mcp-admin-server"),
	}
}

// namedImage is an image that config/default names.
var namedImage = regexp.MustCompile(`ghcr\.io/mcp-admin/(manager|server):[A-Za-z0-9._-]+`)

// install applies the release's config/default, and waits until its manager has replaced the other.
func (r *release) install(ctx context.Context, cluster *platform.Platform) error {
	manifest, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(r.config, "default"))
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
