package dev

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
)

// watch tells when the files that manifests are read from change. A file is watched by its folder, because editors
// replace files; a folder with its subfolders. If the system has no watches left, the files are to be looked at.
type watch struct {
	watcher *fsnotify.Watcher
	paths   []string
	state   string
	// polls reports whether something could not be watched since the last renew; seen is the last result of look.
	polls bool
	seen  string
	// files are the files given by name, folders the folders whose manifests are read; paths are absolute.
	files, folders map[string]bool
}

// newWatch returns a watch of the paths. It never watches the state, where the server itself writes.
func newWatch(paths []string, state string, open func() (*fsnotify.Watcher, error)) (*watch, error) {
	w := &watch{state: state}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		w.paths = append(w.paths, absolute)
	}
	if open == nil {
		open = fsnotify.NewWatcher
	}
	if watcher, err := open(); err == nil { // else the files are looked at
		w.watcher = watcher
	}
	return w, nil
}

// Close ends the watch.
func (w *watch) Close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

// unwatch goes over to looking at the files. What changed since the last renew is found by the next look, which is compared
// with that one.
func (w *watch) unwatch() {
	w.Close()
	w.watcher, w.polls = nil, true
}

// events has the changed files; it never has any if nothing is watched.
func (w *watch) events() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

// errors tells that events were lost.
func (w *watch) errors() <-chan error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Errors
}

// renew looks for what there is to watch now. Watching something twice does no harm.
func (w *watch) renew() {
	w.files, w.folders, w.polls = map[string]bool{}, map[string]bool{}, w.watcher == nil
	for _, path := range w.paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			w.files[path] = true // it may come back
			w.add(filepath.Dir(path))
			continue
		}
		w.walk(path, func(name string, isFolder bool) {
			if isFolder {
				w.folders[name] = true
				w.add(name)
			}
		})
	}
	w.seen = w.look()
}

// add watches a folder. Files that cannot be watched have to be looked at.
func (w *watch) add(folder string) {
	if w.watcher == nil || w.watcher.Add(folder) != nil {
		w.polls = true
	}
}

// walk visits a folder and all below it that may hold manifests. What cannot be read, whoever reads the manifests reports.
func (w *watch) walk(root string, visit func(name string, isFolder bool)) {
	_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // the others are visited all the same
		case entry.IsDir() && name != root && w.skips(name):
			return fs.SkipDir
		}
		visit(name, entry.IsDir())
		return nil
	})
}

// changed reports whether the files are others than when they were looked at last.
func (w *watch) changed() bool {
	before := w.seen
	w.seen = w.look()
	return w.seen != before
}

// look says what the files are now: their names, sizes and times.
func (w *watch) look() string {
	if !w.polls {
		return ""
	}
	var found strings.Builder
	note := func(name string) {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(&found, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, path := range w.paths {
		if !isFolder(path) {
			note(path)
			continue
		}
		w.walk(path, func(name string, isFolder bool) {
			if !isFolder && manifests.Is(name) {
				note(name)
			}
		})
	}
	return found.String()
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
