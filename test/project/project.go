// Package project finds the project's folder, builds its programs, and fills its documents, for tests and for the programs that run them.
package project

import (
	"os"
	"path/filepath"
)

// Root returns the project's folder: the nearest one with a go.mod, from the working folder upwards. It returns the
// working folder if there is none.
func Root() string {
	folder, err := os.Getwd()
	if err != nil {
		return "."
	}
	for at := folder; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
	}
	return folder
}
