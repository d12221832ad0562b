package main

import (
	"context"
	"path/filepath"
	"regexp"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
	"github.com/mcp-admin/mcp-admin-operator/test/lastrelease"
)

// release is one release of the operator, built.
type release struct {
	*lastrelease.Release
	// tag is that of the images, in place of what config/default names.
	tag string
}

func (r *release) image(program string) string { return "mcp-admin/" + program + ":" + r.tag }

// images are what the local cluster runs for the release's images.
func (r *release) images() map[string]string {
	return map[string]string{
		r.image("manager"): filepath.Join(r.Programs, "mcp-admin-manager"),
		r.image("server"):  filepath.Join(r.Programs, "mcp-admin-server"),
	}
}

// namedImage is an image that a release's config/default names; the first ones had no registry.
var namedImage = regexp.MustCompile(`(?:ghcr\.io/)?mcp-admin/(manager|server):[A-Za-z0-9._-]+`)

// install applies the release's config/default, and waits until its manager has replaced the other.
func (r *release) install(ctx context.Context, cluster *platform.Platform) error {
	manifest, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(r.Source, "config", "default"))
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
