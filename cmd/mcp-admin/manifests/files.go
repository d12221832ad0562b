// Package manifests reads what a person names with -f: the files of a folder, the objects in them, and what an API server
// would say of each, with its line. All commands that take manifests read them here, so that what one refuses all refuse.
package manifests

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are the file itself, or the files below a folder that are named like manifests. Folders whose names begin
// with a dot are skipped.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != path && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && Is(file):
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no .yaml, .yml or .json file", path)
	}
	return files, err
}

// Is reports whether a file is named like a manifest.
func Is(file string) bool {
	switch filepath.Ext(file) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
