package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// put merges a client's configuration into its file, and reports whether the file has changed. The file is replaced whole
// or not at all. It keeps its mode, but one with a secret in it is its owner's alone.
func put(c client, path string, s server) (changed bool, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // what a link of somebody's dotfiles leads to is replaced, not the link
	}
	held, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	merged, err := c.merge(held, c.render(s), s)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode().Perm(); c.secret {
			mode &= 0o600
		}
		if bytes.Equal(merged, held) && mode == info.Mode().Perm() {
			return false, nil
		}
	}
	return true, replace(path, merged, mode)
}

// replace writes a file beside the old one and then renames it.
func replace(path string, content []byte, mode fs.FileMode) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*") // of its owner alone
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}
