package nodeagent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const dataLink = "..data"

// writeAtomically makes a folder hold the files, as the kubelet does: they are written to a new folder
// inside, the link ..data is moved to it in one step, and the names at the top are links through
// ..data. A reader sees all of the old files or all of the new ones.
func writeAtomically(dir string, content files) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	fresh := filepath.Join(dir, fmt.Sprintf("..%d", time.Now().UnixNano()))
	if err := writeFiles(fresh, content); err != nil {
		return err
	}
	old, _ := os.Readlink(filepath.Join(dir, dataLink))
	next := filepath.Join(dir, dataLink+"_tmp")
	_ = os.Remove(next)
	if err := os.Symlink(filepath.Base(fresh), next); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(dir, dataLink)); err != nil {
		return err
	}
	if err := linkTop(dir, content); err != nil {
		return err
	}
	if old != "" {
		return os.RemoveAll(filepath.Join(dir, filepath.Base(old)))
	}
	return nil
}

func writeFiles(dir string, content files) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for path, f := range content {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, f.data, 0o600); err != nil {
			return err
		}
		if err := os.Chmod(full, os.FileMode(f.mode).Perm()); err != nil { // not reduced by the umask
			return err
		}
	}
	return nil
}

// linkTop links each first path component through ..data, and removes the links whose files are gone.
func linkTop(dir string, content files) error {
	wanted := map[string]bool{}
	for path := range content {
		top, _, _ := strings.Cut(path, string(filepath.Separator))
		wanted[top] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.HasPrefix(name, ".."):
		case wanted[name]:
			delete(wanted, name)
		default:
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name := range wanted {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
