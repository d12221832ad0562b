package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// writeManifest writes install.yaml: what config/default of a copy of the project gives, with the images by their digests.
func (r *release) writeManifest(copyOf string, digests map[string]v1.Hash) error {
	type image struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
	}
	var images []image
	for _, p := range programs {
		if digest, ok := digests[p.image]; ok {
			images = append(images, image{Name: published + "/" + p.image, Digest: digest.String()})
		}
	}
	overlay, err := yaml.Marshal(map[string]any{
		"resources": []string{"config/default"}, "images": images, "configurations": []string{"config/default/server_image.yaml"},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(copyOf, "kustomization.yaml"), overlay, 0o600); err != nil {
		return err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), copyOf)
	if err != nil {
		return fmt.Errorf("config/default: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return err
	}
	return create(filepath.Join(r.dist, "install.yaml"), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# mcp-admin-operator %s. To install or upgrade: kubectl apply --server-side -f install.yaml\n%s", r.version, text)
		return err
	})
}

// stampedCopy is a copy of what is installed, with the release's version in it.
func (r *release) stampedCopy(ctx context.Context, folder string) error {
	for _, part := range []string{"charts", "config"} {
		if err := os.CopyFS(filepath.Join(folder, part), os.DirFS(filepath.Join(r.source, part))); err != nil {
			return err
		}
	}
	_, err := output(ctx, r.source, "hack/stamp.sh", r.version, folder)
	return err
}
