package main

import (
	"encoding/json"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// archiveName is the name of the file with a program's image.
func (r *release) archiveName(p program) string { return p.image + "-" + r.version + ".oci.tar" }

// writeArchive writes an index as an archive that containerd, Podman, Skopeo and Docker read: an OCI layout, which lists
// the index under its name, and beside it the list of Docker's own format, for a Docker that does not read layouts. That
// one has no index; there the images of other processors than the first have the processor in their tag.
func (r *release) writeArchive(name, reference string, index v1.ImageIndex) error {
	folder, err := os.MkdirTemp("", "oci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(r.names(reference))); err != nil {
		return err
	}
	docker, err := dockerManifest(index, reference+":"+r.version)
	if err != nil {
		return err
	}
	if err := path.WriteFile("manifest.json", docker, 0o644); err != nil {
		return err
	}
	return r.writeLayout(name, folder)
}

// names are the annotations that name a layout's content.
func (r *release) names(reference string) map[string]string {
	return map[string]string{
		"io.containerd.image.name":          reference + ":" + r.version,
		"org.opencontainers.image.ref.name": r.version,
	}
}

func (r *release) writeLayout(name, folder string) error {
	files, err := readFolder(folder, "")
	if err != nil {
		return err
	}
	return create(name, func(w io.Writer) error { return writeTar(w, files, r.created) })
}

// dockerManifest is the file manifest.json of Docker's format for the images of an index.
func dockerManifest(index v1.ImageIndex, name string) ([]byte, error) {
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var manifest tarball.Manifest
	for i, descriptor := range list.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			return nil, err
		}
		parts, err := image.Manifest()
		if err != nil {
			return nil, err
		}
		tag := name
		if i > 0 {
			tag += "-" + descriptor.Platform.Architecture
		}
		entry := tarball.Descriptor{Config: blob(parts.Config.Digest), RepoTags: []string{tag}}
		for _, layer := range parts.Layers {
			entry.Layers = append(entry.Layers, blob(layer.Digest))
		}
		manifest = append(manifest, entry)
	}
	return json.Marshal(manifest)
}

// blob is the path of a blob in a layout.
func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }
