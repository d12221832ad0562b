package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writePackages writes an archive for each target of a program for people's machines, with the licences beside it.
func (r *release) writePackages(p program, files map[target]string) error {
	var beside []file
	for name, from := range map[string]string{"LICENSE": filepath.Join(r.source, "LICENSE"), "NOTICES.txt": filepath.Join(r.dist, "NOTICES.txt")} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		beside = append(beside, file{path: name, data: data})
	}
	for t, built := range files {
		data, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		packed := append(slices.Clone(beside), file{path: p.executable(t), data: data, executable: true})
		name := filepath.Join(r.dist, fmt.Sprintf("%s_%s_%s_%s", p.name, r.version, t.os, t.arch))
		if t.os == "windows" {
			err = create(name+".zip", func(w io.Writer) error { return writeZip(w, packed, r.created) })
		} else {
			err = create(name+".tar.gz", func(w io.Writer) error { return writeTarGz(w, packed, r.created) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeZip(w io.Writer, files []file, modified time.Time) error {
	archive := zip.NewWriter(w)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: modified}
		header.SetMode(os.FileMode(f.mode()))
		part, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeSums writes the checksums of all files, as sha256sum --check reads them.
func (r *release) writeSums() (int, error) {
	files, err := readFolder(r.dist, "")
	if err != nil {
		return 0, err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return len(files), create(filepath.Join(r.dist, "SHA256SUMS"), func(w io.Writer) error {
		for _, f := range files {
			sum := sha256.Sum256(f.data)
			if _, err := fmt.Fprintf(w, "%s  %s\n", hex.EncodeToString(sum[:]), f.path); err != nil {
				return err
			}
		}
		return nil
	})
}
