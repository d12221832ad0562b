package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// A file is one file of an archive.
type file struct {
	path       string
	data       []byte
	executable bool
}

func (f file) mode() int64 {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// readFolder reads all files below a folder; in the archive they lie below prefix.
func readFolder(folder, prefix string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files = append(files, file{path: path.Join(prefix, filepath.ToSlash(relative)), data: data})
		return err
	})
	return files, err
}

// writeTar writes files and the folders that they lie in. What it writes depends on nothing but its arguments.
func writeTar(w io.Writer, files []file, modified time.Time) error {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
	archive := tar.NewWriter(w)
	made := map[string]bool{".": true}
	for _, f := range sorted {
		if err := writeFolders(archive, path.Dir(f.path), made, modified); err != nil {
			return err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.path, Size: int64(len(f.data)), Mode: f.mode(), ModTime: modified, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeFolders writes a folder and those above it, unless they are made.
func writeFolders(archive *tar.Writer, folder string, made map[string]bool, modified time.Time) error {
	if made[folder] {
		return nil
	}
	made[folder] = true
	if err := writeFolders(archive, path.Dir(folder), made, modified); err != nil {
		return err
	}
	return archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: modified, Format: tar.FormatUSTAR,
	})
}

// writeTarGz is writeTar, compressed.
func writeTarGz(w io.Writer, files []file, modified time.Time) error {
	compressed := gzip.NewWriter(w)
	if err := writeTar(compressed, files, modified); err != nil {
		return err
	}
	return compressed.Close()
}

// create writes a new file, and the folders that it lies in.
func create(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
