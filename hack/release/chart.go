package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

const (
	chartName   = "mcp-admin-operator"
	chartConfig = types.MediaType("application/vnd.cncf.helm.config.v1+json")
	chartLayer  = types.MediaType("application/vnd.cncf.helm.chart.content.v1.tar+gzip")
)

// writeChart writes the chart of a stamped copy of the project twice: as Helm packages it, and as an OCI layout of what
// "helm push" sends to a registry.
func (r *release) writeChart(copyOf string) error {
	files, err := readFolder(filepath.Join(copyOf, "charts", chartName), chartName)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := writeTarGz(&packed, files, r.created); err != nil {
		return err
	}
	name := filepath.Join(r.dist, chartName+"-"+r.number())
	if err := create(name+".tgz", func(w io.Writer) error { _, err := w.Write(packed.Bytes()); return err }); err != nil {
		return err
	}
	metadata, err := chartMetadata(files)
	if err != nil {
		return err
	}
	return r.writeChartLayout(name+".oci.tar", metadata, packed.Bytes())
}

// chartMetadata is Chart.yaml as JSON, which is the chart's configuration in a registry.
func chartMetadata(files []file) ([]byte, error) {
	for _, f := range files {
		if f.path == chartName+"/Chart.yaml" {
			return yaml.YAMLToJSON(f.data)
		}
	}
	return nil, fmt.Errorf("the chart has no Chart.yaml")
}

func (r *release) writeChartLayout(name string, metadata, packed []byte) error {
	folder, err := os.MkdirTemp("", "chart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	config, err := writeBlob(path, chartConfig, metadata)
	if err != nil {
		return err
	}
	content, err := writeBlob(path, chartLayer, packed)
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{content},
		Annotations: map[string]string{
			"org.opencontainers.image.title":   chartName,
			"org.opencontainers.image.version": r.number(),
			"org.opencontainers.image.created": r.created.Format(time.RFC3339),
			"org.opencontainers.image.source":  "https://" + module,
		},
	})
	if err != nil {
		return err
	}
	described, err := writeBlob(path, types.OCIManifestSchema1, manifest)
	if err != nil {
		return err
	}
	described.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.number()}
	if err := path.AppendDescriptor(described); err != nil {
		return err
	}
	return r.writeLayout(name, folder)
}

func writeBlob(path layout.Path, kind types.MediaType, data []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(data))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Digest: digest, Size: size}, path.WriteBlob(digest, io.NopCloser(bytes.NewReader(data)))
}
