package dev

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
)

// watch tells when the files that manifests are read from change. A file is watched by its folder, because editors
// replace files; a folder with its subfolders.
type watch struct {
	*fsnotify.Watcher
	paths []string
	state string
	// files are the files given by name, folders the folders whose manifests are read; paths are absolute.
	files, folders map[string]bool
}

// newWatch returns a watch of the paths. It never watches the state, where the server itself writes.
func newWatch(paths []string, state string) (*watch, error) {
	w := &watch{state: state}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		w.paths = append(w.paths, absolute)
	}
	var err error
	w.Watcher, err = fsnotify.NewWatcher()
	return w, err
}

// renew looks for what there is to watch now. Watching something twice does no harm.
func (w *watch) renew() error {
	w.files, w.folders = map[string]bool{}, map[string]bool{}
	var errs []error
	for _, path := range w.paths {
		errs = append(errs, w.add(path))
	}
	return errors.Join(errs...)
}

func (w *watch) add(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		w.files[path] = true // it may come back
		return errors.Join(err, w.Add(filepath.Dir(path)))
	}
	return filepath.WalkDir(path, func(folder string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case folder != path && w.skips(folder):
			return fs.SkipDir
		}
		w.folders[folder] = true
		return w.Add(folder)
	})
}

// skips reports whether a folder below a watched one is left out.
func (w *watch) skips(folder string) bool {
	return strings.HasPrefix(filepath.Base(folder), ".") || samePlace(folder, w.state)
}

// concerns reports whether an event may change what the manifests say.
func (w *watch) concerns(event fsnotify.Event) bool {
	name := filepath.Clean(event.Name)
	switch {
	case event.Op == fsnotify.Chmod:
		return false
	case w.files[name], w.folders[name]:
		return true
	case !w.folders[filepath.Dir(name)]:
		return false // beside a file that was given by name
	}
	return manifests.Is(name) || isFolder(name) && !w.skips(name)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// samePlace reports whether two paths lead to the same folder.
func samePlace(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
