package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/mcp-admin/mcp-admin-operator/hack/rootfs"
)

// published is where the project's images and chart are published.
const published = "ghcr.io/mcp-admin"

// index is a program's image for all processors. files are the program's by their targets.
func (r *release) index(p program, files map[target]string) (v1.ImageIndex, error) {
	base, err := r.layer(rootFiles())
	if err != nil {
		return nil, err
	}
	var images []mutate.IndexAddendum
	for _, t := range r.platforms {
		image, err := r.image(p, t, base, files[t])
		if err != nil {
			return nil, fmt.Errorf("the image of %s for %s: %w", p.name, t, err)
		}
		images = append(images, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: t.os, Architecture: t.arch},
		}})
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...)
	return mutate.Annotations(index, r.labels(p)).(v1.ImageIndex), nil
}

// image is a program's image for one target: the root's files, and the program alone.
func (r *release) image(p program, t target, base v1.Layer, executable string) (v1.Image, error) {
	data, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	layer, err := r.layer([]file{{path: p.name, data: data, executable: true}})
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.created}
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: base, History: v1.History{Created: created, CreatedBy: "hack/rootfs"}},
		mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "go build ./cmd/" + p.folder}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, created
	config.Config = v1.Config{
		User: rootfs.User, Entrypoint: []string{"/" + p.name}, WorkingDir: "/", Labels: r.labels(p),
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, err
	}
	return mutate.Annotations(image, r.labels(p)).(v1.Image), nil
}

// labels say what an image is, by the names that the OCI gives.
func (r *release) labels(p program) map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":       p.name,
		"org.opencontainers.image.description": p.description,
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.created":     r.created.Format(time.RFC3339),
		"org.opencontainers.image.source":      "https://" + module,
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
	if r.revision != "" {
		labels["org.opencontainers.image.revision"] = r.revision
	}
	return labels
}

func rootFiles() []file {
	var files []file
	for _, f := range rootfs.Files() {
		files = append(files, file{path: f.Path, data: f.Data})
	}
	return files
}

func (r *release) layer(files []file) (v1.Layer, error) {
	var text bytes.Buffer
	if err := writeTar(&text, files, r.created); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}
