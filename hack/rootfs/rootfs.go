// Package rootfs makes the files that the images hold beside their one program: the certificates of the public
// authorities and the user that the program runs as. Time zones are in the programs themselves (they import
// time/tzdata), so that they do not depend on an image. There is no /tmp: the programs write to no place that their pod
// does not give them. The Dockerfile and hack/release use it.
package rootfs

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// User is the user and the group of the images' programs. It is no name, so that Kubernetes sees that it is not root.
const User = "65532:65532"

// A File is one file of the images, which everybody may read.
type File struct {
	// Path has no slash at its beginning.
	Path string
	Data []byte
}

// Files are the files in order of their paths. They are the same on every machine.
func Files() []File {
	return []File{
		{"etc/group", []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{"etc/ssl/certs/ca-certificates.crt", authorities()},
	}
}

// authorities are the certificates of the public authorities in PEM, as the Go project takes them from Mozilla. A file
// cannot say that an authority is trusted up to a date alone; such ones are left out.
func authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return text.Bytes()
}

// Write writes the files below a folder.
func Write(folder string) error {
	for _, f := range Files() {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
