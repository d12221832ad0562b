package node

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
)

// The images that the node itself needs.
const (
	pauseImage   = "mcp-admin.test/pause:1"
	coreDNSImage = "mcp-admin.test/coredns:1"
)

func (n *Node) packOwnImages() ([]string, error) {
	var archives []string
	for program, image := range map[string]string{"pause": pauseImage, "coredns": coreDNSImage} {
		archive := n.path("images/" + program + ".tar")
		if err := Pack(image, filepath.Join(n.o.Programs, program), archive); err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

// Pack makes an archive of an image that holds one static program, which runs as a user without rights. It is for the tests'
// own programs.
func Pack(image, program, archive string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	base := filepath.Base(program)
	layer, err := pack(file{base, 0o755, content})
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/" + base}, "User": "65532:65532", "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config": digest(config) + ".json", "RepoTags": []string{image}, "Layers": []string{digest(layer) + ".tar"},
	}})
	if err != nil {
		return err
	}
	whole, err := pack(file{digest(config) + ".json", 0o644, config}, file{digest(layer) + ".tar", 0o644, layer}, file{"manifest.json", 0o644, manifest})
	if err != nil {
		return err
	}
	return os.WriteFile(archive, whole, 0o600)
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func pack(files ...file) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buffer.Bytes(), err
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
