package report

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// report holds the files of the archive.
type report struct {
	files []file
	// left says what was left out, or could not be read.
	left []string
}

type file struct {
	name, what string
	text       []byte
}

// add adds a file, with what looks like a secret blotted out.
func (r *report) add(name, what string, text []byte) {
	r.files = append(r.files, file{name, what, blot(text)})
}

// addObject adds a value as YAML.
func (r *report) addObject(name, what string, value any) {
	text, err := yaml.Marshal(value)
	if err != nil {
		r.missing(name, err)
		return
	}
	r.add(name, what, text)
}

// missing notes what could not be read.
func (r *report) missing(what string, err error) {
	r.left = append(r.left, what+": "+string(blot([]byte(err.Error()))))
}

// contents is the first file: what the others are, and what is not there.
func (r *report) contents() []byte {
	var b strings.Builder
	b.WriteString("What this archive contains:\n")
	for _, f := range r.files {
		fmt.Fprintf(&b, "  %s: %s\n", f.name, f.what)
	}
	b.WriteString("What was left out:\n")
	for _, text := range r.left {
		fmt.Fprintf(&b, "  %s\n", text)
	}
	return []byte(b.String())
}

// pack writes the archive.
func (r *report) pack(to io.Writer, now time.Time) error {
	packed := gzip.NewWriter(to)
	archive := tar.NewWriter(packed)
	for _, f := range append([]file{{name: "CONTENTS.txt", text: r.contents()}}, r.files...) {
		header := &tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.text)), ModTime: now, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

// show prints what the archive contains.
func (r *report) show(screen *output.Screen, name string) {
	var rows [][]string
	for _, f := range r.files {
		rows = append(rows, []string{"  " + f.name, fmt.Sprintf("%d bytes", len(f.text)), f.what})
	}
	fmt.Fprintf(screen, "%s contains:\n", screen.Styled(output.Bold, name))
	screen.Table(nil, rows...)
	fmt.Fprintln(screen, "left out:")
	for _, text := range r.left {
		fmt.Fprintf(screen, "  %s\n", text)
	}
	fmt.Fprintln(screen, "Look through it before you pass it on.")
}
